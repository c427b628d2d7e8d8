"""The audit log: who did what to which resource, when, each line chained to the one before it.

The lines of one tenant make one chain. A line's hash is SHA-256 over the RFC 8785 form of everything that it says, its
place and the hash of the line before it, so whoever changes, removes, inserts or moves a line must write every later
one anew, and with it the last hash, which somebody may have kept elsewhere. The form never changes: exports rest on it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, ClassVar

from pydantic import ConfigDict

from workflows.domain.intent import digest

BEGINNING = "0" * 64
"""What the first line of a chain follows."""


@dataclass(frozen=True)
class AuditLine:
    """One line. `actor` is a person, an agent or a process; `written_by` the database role that wrote it.

    `detail` is a JSON object of codes, ids and numbers as the database writes it, kept as text so that every character
    counts. `place` and the hashes are None until the line is sealed.
    """

    # Where one is read from outside, what it says is what is hashed: nothing more, and nothing converted.
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    tenant: str
    event_id: int
    at: datetime
    actor: str
    what: str
    operation_id: str | None = None
    tool: str | None = None
    resource: str | None = None
    detail: str = "{}"
    written_by: str | None = None
    place: int | None = None
    previous_hash: str | None = None
    hash: str | None = None

    def sealed(self, place: int, previous_hash: str) -> "AuditLine":
        """The same line at its place in the chain."""
        placed = replace(self, place=place, previous_hash=previous_hash)
        return replace(placed, hash=placed.true_hash())

    def true_hash(self) -> str:
        """The hash that this line must have where it stands."""
        return digest({name: value for name, value in self.as_json().items() if name != "hash"})

    def as_json(self) -> dict[str, Any]:
        """The line as an object of strings and integers."""
        return {**asdict(self), "at": self.at.astimezone(UTC).isoformat(timespec="microseconds")}


class Fault(StrEnum):
    """What is wrong with a chain, in words that follow the place where it is."""

    CHANGED = "is not as it was sealed"
    MISSING = "is missing"
    UNLINKED = "does not follow the line before it"
    CUT = "and those after it have been removed"
    REPLACED = "is not the one that the head names"
    ADDED = "and those after it were added behind the head"
    HEADLESS = "and those after it have no head: audit_heads has no row for this tenant"


@dataclass(frozen=True)
class Break:
    """The first place of a chain that does not hold."""

    place: int
    fault: Fault

    def __str__(self) -> str:
        return f"line {self.place} {self.fault}"


@dataclass(frozen=True)
class Head:
    """The last line of a chain: its place and hash; place 0 of an empty one."""

    place: int = 0
    hash: str = BEGINNING


@dataclass(frozen=True)
class Checked:
    """One tenant's chain as it was found: how many lines were looked at, from which place on, and up to which head."""

    tenant: str
    lines: int
    first: int
    head: Head
    broken: Break | None = None


class ChainCheck:
    """Follows one chain line by line, holding no more than the last one.

    A whole chain begins at its beginning and passes through the `head` that is known of it. Of a part (`whole` False)
    the first line may follow anything.
    """

    def __init__(self, tenant: str, head: Head | None = None, *, whole: bool = True) -> None:
        self._tenant, self._known = tenant, head or Head()
        self._last: Head | None = Head() if whole else None
        self._lines, self._first = 0, 0
        self._broken: Break | None = None

    def take(self, line: AuditLine) -> None:
        """Look at the next line; after the first break nothing more is judged."""
        place = line.place or 0
        expected = self._last or (Head() if place <= 1 else Head(place - 1, line.previous_hash or ""))
        if self._broken is None:
            self._broken = self._judged(line, expected)
        self._last = Head(place, line.hash or "")
        self._lines, self._first = self._lines + 1, self._first or place

    def _judged(self, line: AuditLine, expected: Head) -> Break | None:
        place = line.place or 0
        if place > expected.place + 1:
            return Break(expected.place + 1, Fault.MISSING)
        if place != expected.place + 1 or line.previous_hash != expected.hash:
            return Break(place, Fault.UNLINKED)
        if line.hash != line.true_hash():
            return Break(place, Fault.CHANGED)
        if place == self._known.place and line.hash != self._known.hash:
            return Break(place, Fault.REPLACED)
        return None

    def found(self, end: Head | None = None) -> Checked:
        """What it came to: the known head must have been reached, and nothing may stand behind the `end`."""
        last = self._last or Head()
        broken = self._broken
        if broken is None and last.place < self._known.place:
            broken = Break(last.place + 1, Fault.CUT)
        if broken is None and end is not None and last.place > end.place:
            broken = Break(end.place + 1, Fault.ADDED if end.place else Fault.HEADLESS)
        return Checked(self._tenant, self._lines, self._first, last, broken)


def chained(lines: Iterable[AuditLine], heads: Mapping[str, Head]) -> tuple[list[AuditLine], dict[str, Head]]:
    """Seal lines in their order behind the heads of their tenants; returns them and where each chain then ends."""
    ends, sealed = dict(heads), []
    for line in lines:
        head = ends.get(line.tenant, Head())
        sealed.append(line.sealed(head.place + 1, head.hash))
        ends[line.tenant] = Head(head.place + 1, sealed[-1].hash or "")
    return sealed, ends
