"""How much one conversation may ask for: so many calls, and no call again and again that tells nothing new."""

from datetime import timedelta
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.intake.ports import Judged, Turn
from adapters.postgres import rows
from adapters.postgres.rows import NOW
from adapters.postgres.tables import calls, operations

MEMORY = timedelta(hours=1)
"""Answers that are older say nothing about a loop."""

TIMES_OF_DAY = frozenset({"observed_at"})
"""Members of a result that differ even when nothing has changed."""


async def overspent(connection: AsyncConnection, turn: Turn, call: Judged) -> str | None:
    """The code under which a new call is refused, None when it is within the conversation's budget."""
    if turn.budget is None or await _is_known(connection, turn, call):
        return None
    if await _calls(connection, turn) >= turn.budget.calls:
        return "call_budget_spent"
    if await _tells_nothing_new(connection, turn, call, turn.budget.same_answers):
        return "repeated_state"
    return None


async def _is_known(connection: AsyncConnection, turn: Turn, call: Judged) -> bool:
    """A second delivery asks for nothing new."""
    mine = (
        (calls.c.lineage == turn.lineage)
        & (calls.c.request_id == turn.request_id)
        & (calls.c.call_id == call.proposal.call_id)
    )
    return (await connection.execute(select(calls.c.call_id).where(mine).limit(1))).one_or_none() is not None


async def _calls(connection: AsyncConnection, turn: Turn) -> int:
    counted = select(func.count()).select_from(calls).where(calls.c.lineage == turn.lineage)
    number: int = (await connection.execute(counted)).scalar_one()
    return number


async def _tells_nothing_new(connection: AsyncConnection, turn: Turn, call: Judged, times: int) -> bool:
    """Whether the newest answers to this very call, so many of them, were all the same."""
    same = (
        (calls.c.lineage == turn.lineage)
        & (calls.c.proposal_hash == call.fingerprint)
        & (calls.c.created_at > NOW - MEMORY)
        & operations.c.ended_at.is_not(None)
    )
    told = select(operations.c.operation_id, operations.c.state, operations.c.code, operations.c.result)
    statement = told.join_from(calls, operations).where(same).order_by(calls.c.created_at.desc()).limit(times)
    answers = [_answer(row) for row in await connection.execute(statement)]
    return len(answers) == times and all(answer == answers[0] for answer in answers)


def _answer(row: Any) -> Any:
    result = None if row.result is None else rows.from_text(row.result)
    if isinstance(result, dict):
        result = {name: value for name, value in result.items() if name not in TIMES_OF_DAY}
    return row.state, row.code, result
