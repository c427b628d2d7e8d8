"""Lines of the audit log, from rows to the core's values."""

from typing import Any

from sqlalchemy import Row, Text, cast, select

from adapters.postgres.tables import events
from workflows.domain.audit import AuditLine

LINES = select(
    events.c.tenant,
    events.c.event_id,
    events.c.at,
    events.c.actor,
    events.c.what,
    events.c.operation_id,
    events.c.tool,
    events.c.resource,
    # As text, every character of it: a number that goes through a float may come back as another one.
    cast(events.c.detail, Text).label("detail"),
    events.c.written_by,
    events.c.place,
    events.c.previous_hash,
    events.c.hash,
)
"""Every line with all that it says."""


def line_of(row: Row[Any]) -> AuditLine:
    """A line from a row of `LINES`."""
    return AuditLine(**row._mapping)
