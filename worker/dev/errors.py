"""What can go wrong with the embedded stack. Each message is one sentence that a person can act on.

StackError
├── Unusable              what was asked cannot be done here          exit code 2
│   ├── StateFolderInUse
│   ├── StateFolderUnwritable
│   ├── PortTaken
│   ├── PortForbidden
│   ├── NoSuchPort
│   ├── MissingBinary
│   ├── BrokenData
│   ├── CannotLeaveRoot
│   └── NothingStarted
├── ChildFailed           a process of the stack did not hold         exit code 1
└── UnknownChild          a name that the stack does not know         (a mistake in a test)
"""

from collections.abc import Sequence
from pathlib import Path

LAST_PORT = 65_535


class StackError(Exception):
    """Any refusal or failure of the embedded stack."""

    exit_code = 1


class Unusable(StackError):
    """What was asked cannot be done here, and trying again will not help."""

    exit_code = 2


class StateFolderInUse(Unusable):
    """Two supervisors on one folder would start two servers on the same data."""

    def __init__(self, folder: Path, holder: str) -> None:
        super().__init__(
            f"Another stack is running on {folder} (process {holder}); stop it, or choose another folder with --state."
        )


class StateFolderUnwritable(Unusable):
    """The folder for data, passwords and logs cannot be made or written."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(f"The state folder {folder} cannot be used ({reason}); choose another one with --state.")


class PortTaken(Unusable):
    """A port was asked for by number, so another one would not do."""

    def __init__(self, port: int, option: str) -> None:
        super().__init__(
            f"Port {port} is in use by another program; give {option} another number, or leave it out and one is found."
        )


class PortForbidden(Unusable):
    """The system keeps this port for others than whoever starts the stack."""

    def __init__(self, port: int, option: str) -> None:
        super().__init__(
            f"Port {port} is not permitted to this user (below 1024 it takes root); give {option} a higher number."
        )


class NoSuchPort(Unusable):
    """The number that was given is no port's."""

    def __init__(self, port: int, option: str) -> None:
        super().__init__(f"There is no port {port}; give {option} a number from 1 to {LAST_PORT}.")


class MissingBinary(Unusable):
    """A server that comes with the development packages is not there."""

    def __init__(self, what: str, where: str) -> None:
        super().__init__(f"{what} is not installed ({where} is missing); `make setup` gets it.")


class BrokenData(Unusable):
    """A server refuses the data that it finds in the state folder."""

    def __init__(self, what: str, data: Path, reason: str, log: Path | None = None) -> None:
        where = f" (log: {log})" if log else ""
        super().__init__(
            f"{what} cannot use its data in {data}: {reason}{where}; move that away to start with none, or restore it."
        )


class CannotLeaveRoot(Unusable):
    """PostgreSQL refuses to run as root, and this root has been denied the means to run it as somebody else."""

    def __init__(self, user: str) -> None:
        super().__init__(
            f"PostgreSQL does not run as root, and this root may not start it as {user}; run the stack as another user."
        )


class NothingStarted(Unusable):
    """A token was asked for, and there is no issuer whose token it would be."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"No stack was started in {folder} yet; start one there first, or name its folder with --state."
        )


class ChildFailed(StackError):
    """A process of the stack ended by itself, or never became ready."""

    def __init__(self, what: str, happened: str, log: Path, last_lines: Sequence[str] = ()) -> None:
        self.last_lines = tuple(last_lines)
        said = "".join(f"\n    {line}" for line in last_lines)
        super().__init__(f"{what} {happened}; its log is {log}{', which ends with:' if last_lines else '.'}{said}")


class UnknownChild(StackError):
    """No child has that name, or it does not run now."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"There is no {name!r} in this stack; there are {', '.join(known) or 'none'}.")
