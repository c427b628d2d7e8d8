"""The stored operations, as the steps need them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres import rows
from adapters.postgres.announcing import announce
from adapters.postgres.approvals import void_open
from adapters.postgres.claims import close, require_no_effect
from adapters.postgres.engine import Database
from adapters.postgres.spendings import release
from adapters.postgres.standing import EXECUTOR, STANDING, locked, named, require_found, step
from adapters.postgres.tables import operations
from workflows.domain.approval import Clearance
from workflows.domain.errors import CallRefused
from workflows.domain.gate import Verdict, first_refusal
from workflows.domain.lifecycle import ENDS, NEXT, State
from workflows.domain.notice import NoticeType
from workflows.domain.operation import Operation, Settlement
from workflows.domain.turn_order import Forerunner


class PostgresOperations:
    """Fits `activities.ports.Operations`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, operation_id: str) -> Operation:
        """Return the operation; raises `CallRefused("not_found")`."""
        return rows.operation_from(require_found(await self._database.rows(STANDING, named(operation_id))))

    async def states(self, operation_ids: Sequence[str]) -> Sequence[State]:
        """Return where each of them stands, in their order; raises `CallRefused("not_found")`."""
        named = operations.c.operation_id.in_(operation_ids)
        wanted = select(operations.c.operation_id, operations.c.state).where(named)
        found = {row.operation_id: State(row.state) for row in await self._database.rows(wanted)}
        if not found.keys() >= set(operation_ids):
            raise CallRefused("not_found")
        return [found[each] for each in operation_ids]

    async def forerunners(self, operation: Operation) -> Sequence[Forerunner]:
        """Return the operations of its turn that come before it."""
        age = func.extract("epoch", rows.NOW - operations.c.created_at).label("age")
        wanted = select(operations.c.state, operations.c.writes, age)
        found = await self._database.rows(wanted.where(operations.c.operation_id.in_(operation.after)))
        return [Forerunner(State(row.state), row.writes, float(row.age)) for row in found]

    async def record(self, operation: Operation, verdicts: Sequence[Verdict], clearance: Clearance | None) -> None:
        """Keep the verdicts, where the first refusal points, and the clearance when there is one."""
        refusal = first_refusal(verdicts)
        async with self._database.transaction() as connection:
            await _keep(connection, operation.principal.tenant, operation.operation_id, verdicts)
            if clearance is not None:
                await _tell_clearance(connection, operation, clearance)
            await rows.later(
                connection,
                update(operations)
                .where(operations.c.operation_id == operation.operation_id)
                .values(
                    clearance=_clearance(clearance),
                    cleared_at=func.now() if clearance else None,
                    details=rows.details_to(refusal.details if refusal else ()),
                ),
            )

    async def move(self, operation_id: str, state: State, why: str = "") -> State:
        """Step to `state` if the lifecycle allows it, and tell the timeline `why`; returns where it then stands."""
        async with self._database.transaction() as connection:
            row = await locked(connection, operation_id)
            current = State(row.state)
            if state not in NEXT[current]:
                return current
            await step(connection, row.tenant, operation_id, current, state, why)
            if state is State.MANUAL_REVIEW:
                await announce(connection, NoticeType.MANUAL_REVIEW, operation_id)
            return state

    async def settle(self, operation_id: str, ending: Settlement) -> Settlement:
        """Write the terminal result once, with its event in the outbox."""
        async with self._database.transaction() as connection:
            row = await locked(connection, operation_id)
            current = State(row.state)
            if current in ENDS:
                return _ending(row)
            await _write_ending(connection, row.tenant, operation_id, current, ending)
            return ending


async def _keep(connection: AsyncConnection, tenant: str, operation_id: str, verdicts: Sequence[Verdict]) -> None:
    given = {"tenant": tenant, "operation_id": operation_id}
    kept = [{**given, "layer": verdict.layer.value, "code": verdict.code} for verdict in verdicts]
    if kept:
        await rows.later(connection, rows.KEEP_VERDICTS, kept)
    # That a person must be asked is told when they are.
    refusal = first_refusal(verdict for verdict in verdicts if verdict.code != "approval_required")
    if refusal is not None:
        detail = {"layer": refusal.layer.value, "code": refusal.code}
        await rows.tell(connection, tenant, operation_id, EXECUTOR, "gate.refused", **detail)


async def _tell_clearance(connection: AsyncConnection, operation: Operation, clearance: Clearance) -> None:
    binding, asked = clearance.binding, clearance.approval_id
    detail = {"policy": binding.policy_version, "resource_version": binding.resource_version}
    named = {"approval": asked} if asked else {}
    tenant = operation.principal.tenant
    await rows.tell(connection, tenant, operation.operation_id, EXECUTOR, "gate.cleared", **detail, **named)


async def _write_ending(
    connection: AsyncConnection, tenant: str, operation_id: str, current: State, ending: Settlement
) -> None:
    if ending.state is not State.SUCCEEDED:
        await require_no_effect(connection, operation_id)
        await release(connection, operation_id)
    if ending.closes or ending.state is not State.SUCCEEDED:
        # Whoever holds a claim can do nothing more with it.
        await close(connection, operation_id, ending.undone or ending.code)
    await void_open(connection, operation_id)
    await _keep(connection, tenant, operation_id, ending.verdicts)
    await step(
        connection,
        tenant,
        operation_id,
        current,
        ending.state,
        code=ending.code,
        result=None if ending.data is None else rows.as_text(ending.data),
        reference=ending.reference,
        ended_at=func.now(),
        # What the gate has pointed at stays, unless the ending itself says where.
        details=rows.details_to(ending.details) if ending.details else operations.c.details,
    )
    await announce(connection, NoticeType.ENDED, operation_id)


def _ending(row: Any) -> Settlement:
    data = None if row.result is None else rows.from_text(row.result)
    return Settlement(State(row.state), row.code, rows.details_from(row.details), data, row.reference)


def _clearance(clearance: Clearance | None) -> dict[str, Any] | None:
    if clearance is None:
        return None
    binding = clearance.binding
    return {
        "intent_hash": binding.intent_hash,
        "resource_version": binding.resource_version,
        "policy_version": binding.policy_version,
        "approval_id": clearance.approval_id,
    }
