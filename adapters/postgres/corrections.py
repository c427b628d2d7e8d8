"""How often a model has failed to correct one kind of call, so that it is told to stop guessing and ask.

Only refusals of form are counted, since the last call of the same tool that was accepted in the same conversation. A
call that is right is never held up by those before it.
"""

from datetime import timedelta

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.intake.ports import Judged, Turn
from adapters.postgres.rows import NOW
from adapters.postgres.tables import calls
from workflows.domain.gate import Verdict

CORRECTABLE = frozenset({"invalid_arguments_json", "invalid_arguments", "unknown_tool", "tool_changed"})
"""Refusals after which a model may try again with something else."""

MOST_CORRECTIONS = 3

MEMORY = timedelta(hours=1)
"""Failures that are older belong to another attempt."""


async def within_budget(connection: AsyncConnection, turn: Turn, call: Judged, refusal: Verdict) -> Verdict:
    """The refusal itself, or the word to stop when the budget of this tool in this conversation is spent."""
    if refusal.code not in CORRECTABLE or await _failures(connection, turn, call) <= MOST_CORRECTIONS:
        return refusal
    return Verdict(refusal.layer, "correction_budget_spent")


async def _failures(connection: AsyncConnection, turn: Turn, call: Judged) -> int:
    """Failures in a row up to now, the first proposal among them."""
    same = (calls.c.lineage == turn.lineage) & (calls.c.tool == call.tool) & (calls.c.created_at > NOW - MEMORY)
    accepted = select(func.max(calls.c.created_at)).where(same, calls.c.operation_id.is_not(None)).scalar_subquery()
    since = func.coalesce(accepted, NOW - MEMORY)
    counted = select(func.count()).where(same, calls.c.refusal.is_not(None), calls.c.created_at > since)
    number: int = (await connection.execute(counted)).scalar_one()
    return number + 1
