"""`python -m worker audit`: checks the audit log and writes it out.

verify follows every chain from its beginning to its head and names the first line that does not hold. Keep the heads
that it prints elsewhere, and ask for them later with --head: a log that was cut back, or written anew as a whole, does
not have them any more. With --file it checks an export, and needs no database.

export writes one JSON object a line, each with its place, its hash and that of the line before it.
"""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from adapters.postgres.audit_chain import PostgresAuditChain
from adapters.postgres.engine import UNANSWERED, Database
from worker import audit_export
from worker.audit_export import UnreadableLine
from worker.audit_verdict import LogVerdict, chain_told, looked_over
from worker.settings import Settings, read
from worker.telling import BROKEN, CANNOT_LOOK, SOUND
from workflows.domain.errors import InvalidConfiguration, StoreUnavailable

T = TypeVar("T")

UNREADABLE_FILE = "The file that --file names cannot be read."
EMPTY_FILE = "The file that --file names has no line of the audit log that is asked about."


def add_to(actions: Any) -> None:
    """Add the command and its own actions to a command line."""
    told = {"description": __doc__, "formatter_class": argparse.RawDescriptionHelpFormatter}
    command = actions.add_parser("audit", help="check or export the audit log", **told)
    acts = command.add_subparsers(metavar="verify|export", required=True)
    _add_verify(acts.add_parser("verify", help="whether every chain holds: exit code 0, 1, or 2 when it cannot look"))
    _add_export(acts.add_parser("export", help="write the log to standard output as JSON Lines"))


def _add_verify(command: argparse.ArgumentParser) -> None:
    command.add_argument("--tenant", help="the log of this tenant alone")
    command.add_argument("--head", action="append", default=[], help="a hash that must be there; may be repeated")
    command.add_argument("--file", type=Path, help="an export to check instead of the database")
    command.set_defaults(run=lambda asked: _end_with(_verify(asked)))


def _add_export(command: argparse.ArgumentParser) -> None:
    command.add_argument("--tenant", help="the log of this tenant alone")
    command.add_argument("--since", type=moment, help="a day or a time, such as 2026-03-01; UTC unless it says")
    command.set_defaults(run=lambda asked: _end_with(_export(asked)))


def moment(given: str) -> datetime:
    """A day or a time as ISO 8601 writes it; raises `ValueError`."""
    read = datetime.fromisoformat(given)
    return read if read.tzinfo else read.replace(tzinfo=UTC)


async def _verify(asked: argparse.Namespace) -> int:
    if asked.file is not None:
        verdict = _of_file(asked.file, asked.tenant, asked.head)
    else:
        verdict = await _with(lambda database: looked_over(database, asked.tenant, asked.head))
    print("\n".join(verdict.lines()))
    return verdict.exit_code


def _of_file(file: Path, tenant: str | None, heads: list[str]) -> LogVerdict:
    missing = set(heads)
    try:
        with file.open(encoding="utf-8") as lines:
            chains = audit_export.checked(lines, missing.discard)
    except (OSError, UnicodeDecodeError):
        raise InvalidConfiguration(UNREADABLE_FILE) from None
    wanted = tuple(chain for chain in chains if tenant in (None, chain.tenant))
    if not wanted:
        # An export that was cut down to nothing holds in itself, and proves nothing.
        raise InvalidConfiguration(EMPTY_FILE)
    return LogVerdict(wanted, missing=tuple(sorted(missing)))


async def _export(asked: argparse.Namespace) -> int:
    async def export(database: Database) -> int:
        chain, broken = PostgresAuditChain(database), False
        for tenant in [asked.tenant] if asked.tenant is not None else await chain.tenants():
            written = await audit_export.exported(chain, tenant, asked.since, sys.stdout.write, _say)
            _say(chain_told(written))
            broken = broken or written.broken is not None
        return BROKEN if broken else SOUND

    return await _with(export)


async def _with(act: Callable[[Database], Awaitable[T]]) -> T:
    dsn = read(Settings).postgres_dsn.get_secret_value()
    database = Database(dsn, application_name="onceward-audit", pool_size=1)
    try:
        await database.require()
        return await act(database)
    except StoreUnavailable:
        raise InvalidConfiguration(UNANSWERED) from None
    finally:
        await database.close()


def _end_with(act: Coroutine[Any, Any, int]) -> NoReturn:
    try:
        sys.exit(asyncio.run(act))
    except InvalidConfiguration as error:
        _say(str(error))
        sys.exit(CANNOT_LOOK)
    except UnreadableLine as error:
        print(f"audit verify: BROKEN: line {error.number} of the file is no line of an export")
        sys.exit(BROKEN)


def _say(words: str) -> None:
    print(words, file=sys.stderr)
