"""Where operations stand, for doors that wait and callers who ask."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, select

from adapters.intake.ports import Standing
from adapters.postgres import rows
from adapters.postgres.engine import Database
from adapters.postgres.standing import OPEN_BEFORE
from adapters.postgres.tables import operations
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal

# What has gone on past a read that nobody carries may have happened by now.
BEHIND = OPEN_BEFORE.where(operations.c.state == State.PROPOSED.value).exists().label("behind")
"""Beside an operation's row: whether it has not begun, and a call of its turn that comes before it is still open."""

_STANDINGS = select(operations, BEHIND).where(
    operations.c.operation_id.in_(bindparam("named", expanding=True)),
    operations.c.tenant == bindparam("of_tenant"),
    operations.c.subject == bindparam("of_subject"),
)


class PostgresProgress:
    """Fits `adapters.intake.ports.Progress`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def standings(self, principal: Principal, operation_ids: Sequence[str]) -> dict[str, Standing]:
        """Return where these operations stand; those of another tenant or user look absent."""
        if not operation_ids:
            return {}
        asked = {"named": list(operation_ids), "of_tenant": principal.tenant, "of_subject": principal.subject}
        return {row.operation_id: _standing(row) for row in await self._database.rows(_STANDINGS, asked)}


def _standing(row: Any) -> Standing:
    return Standing(
        operation_id=row.operation_id,
        tool=row.tool,
        state=State(row.state),
        code=row.code,
        details=rows.details_from(row.details),
        data=None if row.result is None else rows.from_text(row.result),
        reference=row.reference,
        behind=row.behind,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
