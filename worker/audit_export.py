"""The audit log as JSON Lines: written for whoever keeps it elsewhere, and checked there without a database."""

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Final

from pydantic import TypeAdapter, ValidationError

from adapters import strict_json
from adapters.postgres.audit_chain import PostgresAuditChain
from workflows.domain.audit import AuditLine, ChainCheck, Checked

TOLD_EVERY = 50_000
"""Lines after which an export says how far it is."""

LINE: Final = TypeAdapter(AuditLine)

Write = Callable[[str], object]


class UnreadableLine(Exception):
    """A line of a file is none of an export; `number` counts from 1."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def written(line: AuditLine) -> str:
    """One line of an export."""
    return json.dumps(line.as_json(), ensure_ascii=False, separators=(",", ":"))


async def exported(
    chain: PostgresAuditChain, tenant: str, since: datetime | None, write: Write, tell: Write
) -> Checked:
    """Write the tenant's sealed lines in their order and check them on the way; all, or from a time on.

    What was told late stands late: from the first line of that time on, everything that follows it is written.
    """
    first = 1 if since is None else await chain.first_place(tenant, since)
    check, number = ChainCheck(tenant, await chain.head(tenant), whole=first == 1), 0
    async for part in chain.parts(tenant, first):
        for line in part:
            check.take(line)
            write(f"{written(line)}\n")
        number += len(part)
        if number % TOLD_EVERY == 0:
            tell(f"{number} lines …")
    # One without a line since then is not cut: there was nothing to write.
    return check.found() if number or first == 1 else Checked(tenant, 0, 0, await chain.head(tenant))


def checked(lines: Iterable[str], hashes: Callable[[str], object]) -> list[Checked]:
    """Check the chains of an export, each from its first line on; `hashes` is shown the hash of every line.

    Raises:
        UnreadableLine: a line is no line of an export.
    """
    checks: dict[str, ChainCheck] = {}
    for line in _read(lines):
        # A part of a chain is checked as one; whether it begins at the beginning is told.
        check = checks.setdefault(line.tenant, ChainCheck(line.tenant, whole=False))
        check.take(line)
        hashes(line.hash or "")
    return [check.found() for _, check in sorted(checks.items())]


def _read(lines: Iterable[str]) -> Iterator[AuditLine]:
    for number, text in enumerate(lines, 1):
        try:
            # First for what readers of JSON differ on, such as a key that stands there twice.
            strict_json.parse(text)
            yield LINE.validate_json(text)
        except (strict_json.StrictJsonError, ValidationError):
            raise UnreadableLine(number) from None
