"""The claims: who may make the effect now.

The operation's row is locked first and the claim's after it, in every transaction, so that two workers queue instead
of deadlocking. Each statement that changes a claim names the owner and generation that it believes in; the count of
rows is the verdict.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Update, and_, bindparam, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres import rows
from adapters.postgres.engine import Database
from adapters.postgres.rows import NOW
from adapters.postgres.standing import EXECUTOR, hold_words, locked, step
from adapters.postgres.tables import approvals, cancellations, claims, handler_calls, resolutions
from adapters.postgres.tables import operations as operations_table
from workflows.domain.approval import CLEARANCE_SECONDS, ApprovalState
from workflows.domain.claim import Claim, Evidence
from workflows.domain.effect import ABANDONED, Dispatch, Effect, Outcome
from workflows.domain.errors import (
    AlreadyEnded,
    ApprovalMissing,
    Canceled,
    ClaimHeld,
    ClearanceMissing,
    EffectUncertain,
    LookFirst,
    StaleGeneration,
)
from workflows.domain.intent import idempotency_key
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.reconciliation import Uncertainty
from workflows.domain.resolution import Finding


class PostgresClaims:
    """Fits `activities.ports.Claims`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def acquire(self, operation_id: str, owner: str, lease_seconds: float, item: str = "") -> Claim:
        """Take the right to the effect in one transaction; see the port for what it raises."""
        async with self._database.transaction() as connection:
            operation = await locked(connection, operation_id)
            if State(operation.state) in ENDS:
                raise AlreadyEnded
            held = await _standing(connection, operation_id, item)
            if held.generation is not None:
                _require_open(held)
            if operation.cancel_wanted:
                raise Canceled
            await _use_clearance(connection, operation, held.since_cleared)
            if held.generation is None:
                await _first_claim(connection, operation, item, owner, lease_seconds)
            else:
                await _take_over(connection, held, owner, lease_seconds)
            await _start(connection, operation)
            return await _acquired(connection, operation, held, item, owner)

    async def begin_send(self, claim: Claim, attempt_seconds: float) -> None:
        """Note that a send begins now; raises `StaleGeneration`."""
        values = {
            "sends": claims.c.sends + 1,
            "first_sent_at": func.coalesce(claims.c.first_sent_at, NOW),
            # The last moment at which this attempt can leave; its end, once it is known, takes this one's place.
            "last_sent_at": _from_now(attempt_seconds),
            "uncertain": True,
        }
        stopped = select(cancellations).where(cancellations.c.operation_id == claim.operation_id).exists()
        may_leave = (claims.c.lease_until > NOW) & claims.c.uncertain.is_(False) & ~stopped
        await self._as_holder(claim, may_leave, values)

    async def renew(self, claim: Claim, lease_seconds: float) -> None:
        """Prolong a live lease; a lapsed one is lost even if nobody has taken over yet."""
        await self._as_holder(claim, claims.c.lease_until > NOW, {"lease_until": _from_now(lease_seconds)})

    async def conclude(self, claim: Claim, effect: Effect) -> None:
        """Record what the send came to; raises `StaleGeneration`."""
        async with self._database.transaction() as connection:
            operation = await locked(connection, claim.operation_id)
            believed = and_(_held_by(claim), claims.c.intent_hash == operation.intent_hash)
            await _change(connection, believed, _recorded(effect))
            await _tell_effect(connection, operation, claim.item, effect, claim.generation)

    async def evidence(self, operation_id: str, item: str = "") -> Evidence | None:
        """Return what is on record, None when nothing was ever claimed."""
        found = await self._database.rows(_ONE_OF, _named(operation_id, item))
        return _evidence(found[0]) if found else None

    async def items(self, operation_id: str) -> Mapping[str, Evidence]:
        """Return what is on record of each item that was ever claimed."""
        found = await self._database.rows(_ALL_OF, {"named": operation_id})
        return {row.item: _evidence(row) for row in found}

    async def refuse(self, operation_id: str, item: str, code: str) -> None:
        """Conclude an item as refused before it is sent (again); see the port."""
        async with self._database.transaction() as connection:
            operation = await locked(connection, operation_id)
            if await _claim(connection, operation_id, item) is None:
                await _first_claim(connection, operation, item, "refusal", 0.0)
            row = await _claim(connection, operation_id, item)
            values = {**_recorded(Effect.rejected(code)), "generation": row.generation + 1, "owner": "refusal"}
            free = claims.c.uncertain.is_(False) & (claims.c.lease_until <= NOW)
            await _change(connection, _same(operation_id, item, row.generation) & free, values)

    async def prove_absent(self, operation_id: str, seen_generation: int, item: str = "") -> None:
        """Record that the uncertain send has not happened; see the port."""
        async with self._database.transaction() as connection:
            await locked(connection, operation_id)
            await hold_words(connection, operation_id)
            values = {"uncertain": False, "generation": seen_generation + 1, "owner": "evidence"}
            against = _said_otherwise(operation_id, item, seen_generation)
            lapsed = _same(operation_id, item, seen_generation) & (claims.c.lease_until <= NOW) & ~against
            await _change(connection, lapsed, values)

    async def conclude_by_evidence(
        self, operation_id: str, seen_generation: int, effect: Effect, item: str = "", *, found: bool = True
    ) -> None:
        """Record an outcome, over any owner, one generation up; see the port."""
        async with self._database.transaction() as connection:
            operation = await locked(connection, operation_id)
            row = await _claim(connection, operation_id, item)
            if row is None or row.outcome is not None:
                return
            if row.generation != seen_generation and not (found and effect.outcome is Outcome.APPLIED):
                raise StaleGeneration
            values = {**_recorded(effect), "generation": row.generation + 1, "owner": "evidence"}
            await _change(connection, _same(operation_id, item, row.generation), values)
            await _tell_effect(connection, operation, item, effect, row.generation + 1)

    async def abandon(self, operation_id: str, seen_generation: int, item: str = "") -> None:
        """Close an uncertain claim without an outcome, on an operator's word; see the port."""
        async with self._database.transaction() as connection:
            operation = await locked(connection, operation_id)
            values = {
                "outcome": Outcome.UNKNOWN.value,
                "code": ABANDONED,
                "data": rows.as_text({}),
                "concluded_at": NOW,
                "generation": seen_generation + 1,
                "owner": "operator",
            }
            still = _same(operation_id, item, seen_generation) & claims.c.uncertain & (claims.c.lease_until <= NOW)
            await _change(connection, still, values)
            given_up = Effect(Outcome.UNKNOWN, code=ABANDONED)
            await _tell_effect(connection, operation, item, given_up, seen_generation + 1)

    async def _as_holder(self, claim: Claim, condition: ColumnElement[bool], values: dict[str, Any]) -> None:
        _require_changed(await self._database.changed(_changing(and_(_held_by(claim), condition), values)))


def _require_open(held: Any) -> None:
    if held.outcome is not None:
        raise AlreadyEnded
    if held.lease_is_live:
        raise ClaimHeld
    if held.uncertain:
        raise LookFirst


async def _use_clearance(connection: AsyncConnection, operation: Any, since_cleared: Any) -> None:
    clearance = _fresh_clearance(operation, since_cleared)
    if clearance["approval_id"] is not None:
        await _consume(connection, operation, clearance)


async def _first_claim(
    connection: AsyncConnection, operation: Any, item: str, owner: str, lease_seconds: float
) -> None:
    await rows.later(
        connection,
        claims.insert().values(
            operation_id=operation.operation_id,
            item=item,
            intent_hash=operation.intent_hash,
            idempotency_key=_key(operation, item),
            owner=owner,
            generation=1,
            lease_until=_from_now(lease_seconds),
        ),
    )


def _key(operation: Any, item: str) -> str:
    return idempotency_key(operation.tenant, operation.tool, operation.operation_id, item)


def _fresh_clearance(operation: Any, seconds: Any) -> dict[str, Any]:
    clearance: dict[str, Any] | None = operation.clearance
    if clearance is None or seconds is None or seconds > CLEARANCE_SECONDS:
        raise ClearanceMissing
    if clearance["intent_hash"] != operation.intent_hash:
        raise ApprovalMissing
    return clearance


async def _consume(connection: AsyncConnection, operation: Any, clearance: dict[str, Any]) -> None:
    """Use the grant up; it must still be exactly the one that the gate saw. This operation may have used it before."""
    exactly = (
        (approvals.c.approval_id == clearance["approval_id"])
        & (approvals.c.operation_id == operation.operation_id)
        & (approvals.c.intent_hash == clearance["intent_hash"])
        & (approvals.c.resource_version == clearance["resource_version"])
        & (approvals.c.policy_version == clearance["policy_version"])
        & (approvals.c.expires_at > NOW)
    )
    usable = approvals.c.state.in_([ApprovalState.GRANTED.value, ApprovalState.CONSUMED.value])
    before = (
        await connection.execute(select(approvals.c.state).where(exactly, usable).with_for_update())
    ).one_or_none()
    if before is None:
        raise ApprovalMissing
    if before.state == ApprovalState.GRANTED.value:
        await _mark_consumed(connection, operation, clearance["approval_id"])


async def _mark_consumed(connection: AsyncConnection, operation: Any, approval_id: str) -> None:
    values = {"state": ApprovalState.CONSUMED.value, "consumed_generation": 1}
    await rows.later(connection, update(approvals).where(approvals.c.approval_id == approval_id).values(**values))
    await rows.tell(
        connection, operation.tenant, operation.operation_id, EXECUTOR, "approval.consumed", approval=approval_id
    )


async def _take_over(connection: AsyncConnection, held: Any, owner: str, lease_seconds: float) -> None:
    values = {"owner": owner, "generation": held.generation + 1, "lease_until": _from_now(lease_seconds)}
    lapsed = and_(_same(held.operation_id, held.item, held.generation), claims.c.lease_until <= NOW)
    taken = await connection.execute(update(claims).where(lapsed).values(**values))
    if taken.rowcount != 1:
        raise ClaimHeld


async def _start(connection: AsyncConnection, operation: Any) -> None:
    current = State(operation.state)
    if current is not State.STARTED:
        await step(connection, operation.tenant, operation.operation_id, current, State.STARTED)


async def _acquired(connection: AsyncConnection, operation: Any, held: Any, item: str, owner: str) -> Claim:
    generation = (held.generation or 0) + 1
    if not item:
        # The claims themselves tell of a batch: thousands of lines would tell a reader nothing.
        await rows.tell(
            connection, operation.tenant, operation.operation_id, EXECUTOR, "claim.acquired", generation=generation
        )
    dispatch = Dispatch(operation.operation_id, operation.tenant, _key(operation, item), generation, item)
    return Claim(operation.operation_id, owner, generation, dispatch, held.sends or 0, _sent(held))


_PROMISED = (
    select(handler_calls.c.task_id)
    .where(handler_calls.c.operation_id == claims.c.operation_id, handler_calls.c.generation == claims.c.generation)
    .where(claims.c.item == "")
    .order_by(handler_calls.c.entry.desc())
    .limit(1)
    .scalar_subquery()
    .label("task_id")
)
"""The task as which the answer of a claim's send was promised; the sends of a batch are told apart by nothing."""

_AGES = (
    func.extract("epoch", NOW - claims.c.first_sent_at).label("since_first_send"),
    func.extract("epoch", NOW - claims.c.last_sent_at).label("since_last_send"),
    (claims.c.lease_until > NOW).label("lease_is_live"),
)

_CLAIMS = select(claims, operations_table.c.tenant, _PROMISED, *_AGES).join_from(claims, operations_table)

_SINCE_CLEARED = func.extract("epoch", NOW - operations_table.c.cleared_at).label("since_cleared")


_ITS_ITEM = and_(claims.c.operation_id == operations_table.c.operation_id, claims.c.item == bindparam("named_item"))

_STANDING = (
    select(claims, _SINCE_CLEARED, *_AGES)
    .select_from(operations_table.outerjoin(claims, _ITS_ITEM))
    .where(operations_table.c.operation_id == bindparam("named"))
)

_ALL_OF = _CLAIMS.where(claims.c.operation_id == bindparam("named"))
_ONE_OF = _ALL_OF.where(claims.c.item == bindparam("named_item"))


def _named(operation_id: str, item: str) -> dict[str, str]:
    return {"named": operation_id, "named_item": item}


async def _standing(connection: AsyncConnection, operation_id: str, item: str) -> Any:
    """The item's claim, its columns None when there is none, and the clearance's age, now that the lock is held."""
    return (await connection.execute(_STANDING, _named(operation_id, item))).one()


async def _claim(connection: AsyncConnection, operation_id: str, item: str) -> Any:
    return (await connection.execute(_ONE_OF, _named(operation_id, item))).one_or_none()


async def _change(connection: AsyncConnection, believed: ColumnElement[bool], values: dict[str, Any]) -> None:
    _require_changed((await connection.execute(_changing(believed, values))).rowcount)


def _changing(believed: ColumnElement[bool], values: dict[str, Any]) -> Update:
    return update(claims).where(believed, claims.c.outcome.is_(None)).values(**values)


def _require_changed(number: int) -> None:
    if number != 1:
        raise StaleGeneration


async def _tell_effect(connection: AsyncConnection, operation: Any, item: str, effect: Effect, generation: int) -> None:
    current = State(operation.state)
    if effect.outcome is Outcome.UNKNOWN and current is State.STARTED:
        await step(connection, operation.tenant, operation.operation_id, current, State.UNCONFIRMED)
    if item:
        return
    detail = {"generation": generation, "code": effect.code, "reference": effect.reference}
    what = f"effect.{effect.outcome.value}"
    await rows.tell(connection, operation.tenant, operation.operation_id, EXECUTOR, what, **detail)


def _recorded(effect: Effect) -> dict[str, Any]:
    values: dict[str, Any] = {"lease_until": NOW, "code": effect.code}
    if effect.reference is not None:
        values["reference"] = effect.reference
    if effect.outcome is Outcome.UNKNOWN:
        return {**values, "last_sent_at": NOW}
    values["uncertain"] = False
    if effect.retryable:
        return values
    return {**values, "outcome": effect.outcome.value, "data": rows.as_text(effect.data), "concluded_at": NOW}


def _evidence(row: Any) -> Evidence:
    return Evidence(
        generation=row.generation,
        sends=row.sends,
        sent=_sent(row),
        lease_is_live=row.lease_is_live,
        uncertain=row.uncertain,
        effect=_effect(row),
        dispatch=Dispatch(
            row.operation_id, row.tenant, row.idempotency_key, row.generation, row.item, row.task_id or ""
        ),
    )


def _sent(row: Any) -> Uncertainty:
    return Uncertainty(_seconds(row.since_first_send), _seconds(row.since_last_send))


def _effect(row: Any) -> Effect | None:
    if row.outcome is None:
        return None
    return Effect(Outcome(row.outcome), row.reference, rows.from_text(row.data), row.code)


def _seconds(value: Any) -> float | None:
    return None if value is None else float(value)


def _from_now(seconds: float) -> ColumnElement[Any]:
    return NOW + timedelta(seconds=seconds)


def _same(operation_id: str, item: str, generation: int) -> ColumnElement[bool]:
    return and_(claims.c.operation_id == operation_id, claims.c.item == item, claims.c.generation == generation)


def _said_otherwise(operation_id: str, item: str, generation: int) -> ColumnElement[bool]:
    """Whether an operator has said of this very send that it happened, or that nothing more is to be sent."""
    return (
        select(resolutions.c.resolution_id)
        .where(
            resolutions.c.operation_id == operation_id,
            resolutions.c.item == item,
            resolutions.c.generation == generation,
            resolutions.c.finding != Finding.DID_NOT_HAPPEN.value,
        )
        .exists()
    )


def _held_by(claim: Claim) -> ColumnElement[bool]:
    return and_(_same(claim.operation_id, claim.item, claim.generation), claims.c.owner == claim.owner)


async def require_no_effect(connection: AsyncConnection, operation_id: str) -> None:
    """Return if nothing of the operation is on record as done, in the caller's transaction.

    Raises:
        EffectUncertain: something is; whoever wants to end it with a refusal has not seen that yet.
    """
    done = (claims.c.operation_id == operation_id) & (claims.c.outcome == Outcome.APPLIED.value)
    if (await connection.execute(select(claims.c.item).where(done).limit(1))).one_or_none():
        raise EffectUncertain


async def close(connection: AsyncConnection, operation_id: str, code: str | None) -> None:
    """Close an operation's open claims with a refusal, in the caller's transaction: their holders can send no more.

    Raises:
        EffectUncertain: something was sent that may have happened.
    """
    mine = and_(claims.c.operation_id == operation_id, claims.c.outcome.is_(None))
    if (await connection.execute(select(claims.c.item).where(mine, claims.c.uncertain).limit(1))).one_or_none():
        raise EffectUncertain
    nothing = Effect.rejected(code or "internal_error")
    values = {**_recorded(nothing), "generation": claims.c.generation + 1, "owner": "refusal"}
    await connection.execute(update(claims).where(mine).values(**values))
