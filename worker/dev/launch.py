"""Become another program that does not outlive the one that started it.

Run as ``python -I -S launch.py PARENT_PID SIGNAL COMMAND...`` by the supervisor. On Linux the kernel sends SIGNAL to
this process when its parent dies, even by SIGKILL. Elsewhere the next start finds the leftovers by their recorded pid.
A program of its own, because code between fork and exec in a process with threads may deadlock.
"""

import ctypes
import os
import sys
from collections.abc import Sequence

PR_SET_PDEATHSIG = 1


def launched(command: Sequence[str], signal: int) -> list[str]:
    """The command wrapped so that it gets the signal when the process that calls this is gone."""
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), str(int(signal)), *command]


def die_with(parent: int, signal: int) -> None:
    """Have the kernel send the signal when the parent dies."""
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0)
    # The parent may have died before the kernel was told.
    if os.getppid() != parent:
        raise SystemExit("the supervisor is gone")


def main() -> None:
    """Never returns: this process goes on as the command."""
    parent, signal, *command = sys.argv[1:]
    die_with(int(parent), int(signal))
    try:
        os.execvp(command[0], command)  # noqa: S606 - to become the command is the purpose
    except OSError as refusal:
        raise SystemExit(f"{command[0]} cannot be run: {refusal.strerror}") from None


if __name__ == "__main__":
    main()
