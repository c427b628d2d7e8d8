"""What a search of the audit log has found, as a file: JSON Lines for programs, CSV for tables.

A search leaves lines out, so such a file is for reading. What proves that nothing is missing is the export.
"""

import io
import json
from collections.abc import AsyncIterator, Callable, Iterable
from csv import writer as csv_writer
from dataclasses import replace
from typing import Any, Final

from adapters.http.back_office.audit_ports import AuditLog, AuditQuery
from workflows.domain.audit import AuditLine
from workflows.domain.principal import Principal

AT_ONCE = 500
"""Lines read at once; a file of any length takes no more memory than these."""

COLUMNS: Final = (
    "at",
    "actor",
    "what",
    "operation_id",
    "tool",
    "resource",
    "detail",
    "written_by",
    "event_id",
    "place",
    "previous_hash",
    "hash",
)

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""With these a spreadsheet takes a cell for something to carry out."""

Write = Callable[[Iterable[AuditLine]], str]


async def file_of(log: AuditLog, viewer: Principal, query: AuditQuery, write: Write) -> AsyncIterator[str]:
    """The pieces of the file, the newest line first."""
    before = query.before
    while True:
        found = await log.search(viewer, replace(query, before=before), AT_ONCE)
        yield write(found.lines)
        if not found.following:
            return
        before = found.following


def as_json_lines(lines: Iterable[AuditLine]) -> str:
    """One JSON object a line."""
    return "".join(f"{json.dumps(line.as_json(), ensure_ascii=False)}\n" for line in lines)


def as_csv(lines: Iterable[AuditLine]) -> str:
    """One row a line, as RFC 4180 writes it; the header comes before the first."""
    return _rows([_cell(line.as_json()[name]) for name in COLUMNS] for line in lines)


def header() -> str:
    """The names of the columns."""
    return _rows([list(COLUMNS)])


def _rows(rows: Iterable[list[str]]) -> str:
    with io.StringIO(newline="") as written:
        csv_writer(written).writerows(rows)
        return written.getvalue()


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA) else text
