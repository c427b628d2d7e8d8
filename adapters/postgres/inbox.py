"""The inbox: each proposal is registered once, with its operation and the order to start it, in one transaction."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.intake.ports import Judged, Receipt, Registered, Turn
from adapters.postgres import rows
from adapters.postgres.audit_notes import actor_of, proposal_refused
from adapters.postgres.budgets import overspent
from adapters.postgres.corrections import within_budget
from adapters.postgres.discoveries import found_in, keep_found
from adapters.postgres.engine import Database
from adapters.postgres.hosted_calls import keep_hosted
from adapters.postgres.registration import insert_operation, order_starts
from adapters.postgres.tables import calls, operations
from workflows.domain.errors import IntentConflict
from workflows.domain.gate import Layer, Verdict, first_refusal
from workflows.domain.intent import digest

CONFLICT = Verdict(Layer.SCHEMA, IntentConflict.code)
"""What is kept of a delivery whose ids stand for something else: of the delivery, not of that operation."""


@dataclass
class Progress:
    """What has been registered of a turn so far.

    `before` are the operations that a write must wait for, `reads` those by what they mean. `cut_off`: a write, or
    what might have been meant as one, was refused.
    """

    before: list[str] = field(default_factory=list)
    reads: dict[str, Registered] = field(default_factory=dict)
    cut_off: bool = False

    def note(self, call: Judged, registered: Registered) -> Registered:
        """Remember what became of one call."""
        if registered.operation_id is None:
            self.cut_off = self.cut_off or call.writes
            return registered
        if registered.operation_id not in self.before:
            self.before.append(registered.operation_id)
        if not registered.writes:
            self.reads.setdefault(registered.intent_hash, registered)
        return registered


class PostgresInbox:
    """Fits `adapters.intake.ports.Inbox`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def register(self, turn: Turn) -> list[Registered]:
        """Register each call once; see the port."""
        async with self._database.transaction() as connection:
            await _hold_response(connection, turn)
            await _hold_acts(connection, turn)
            progress, found = Progress(), dict[int, Registered]()
            for call in _reads_first(turn):
                found[call.position] = progress.note(call, await _register(connection, turn, call, progress))
            registered = [found[call.position] for call in turn.calls]
            await order_starts(connection, turn, registered)
            await keep_hosted(connection, turn)
            await keep_found(connection, turn.lineage, turn.found)
            return registered

    async def discovered(self, lineage: str) -> frozenset[str]:
        """The tools that searches have brought up in this conversation."""
        async with self._database.transaction() as connection:
            return await found_in(connection, lineage)

    async def discover(self, lineage: str, tools: Collection[str]) -> None:
        """Remember tools that a search has brought up."""
        async with self._database.transaction() as connection:
            await keep_found(connection, lineage, tools)


def _reads_first(turn: Turn) -> list[Judged]:
    return sorted(turn.calls, key=lambda call: (call.writes, call.position))


async def _hold_response(connection: AsyncConnection, turn: Turn) -> None:
    """Deliveries of one response queue, whatever order its calls have in each; so do the calls of a counted talk."""
    if len(turn.calls) + len(turn.hosted) > 1:
        await rows.hold(connection, digest([turn.principal.tenant, turn.request_id]))
    if turn.budget is not None:
        await rows.hold(connection, turn.lineage)


async def _hold_acts(connection: AsyncConnection, turn: Turn) -> None:
    """Nobody else can register one of this turn's acts until the transaction ends; all take them in one order."""
    acts = {call.intent.act_hash() for call in turn.calls if call.writes and call.intent is not None}
    for act in sorted(acts):
        await rows.hold(connection, act)


async def _register(connection: AsyncConnection, turn: Turn, call: Judged, progress: Progress) -> Registered:
    call = await _as_it_stands(connection, turn, call, progress)
    delivered = await _deliver(connection, turn, call)
    if delivered is not None:
        return await _first_delivery(connection, turn, call, progress, _twin(delivered, call, progress))
    return await _later_delivery(connection, turn, call)


async def _as_it_stands(connection: AsyncConnection, turn: Turn, call: Judged, progress: Progress) -> Judged:
    """The call with what only the store knows: corrections that have failed, what came before it, budgets."""
    refusal = first_refusal(call.verdicts)
    if refusal is not None:
        told = await within_budget(connection, turn, call, refusal)
        return replace(call, verdicts=(*call.verdicts[:-1], told))
    if call.writes and progress.cut_off:
        return _refused_with(call, "earlier_write_not_done")
    code = await overspent(connection, turn, call)
    return call if code is None else _refused_with(call, code)


def _refused_with(call: Judged, code: str) -> Judged:
    verdict = Verdict(call.verdicts[-1].layer, code)
    return replace(call, intent=None, verdicts=(*call.verdicts[:-1], verdict))


async def _deliver(connection: AsyncConnection, turn: Turn, call: Judged) -> Any:
    """Write the inbox row; None when this call was delivered before. Of two at once, one waits here for the other.

    The row comes with the open operation that is this very act, if there is one; nobody can register another while the
    act is held.
    """
    refusal = first_refusal(call.verdicts)
    stored = None if refusal is None else {"code": refusal.code, "details": rows.details_to(refusal.details)}
    statement = (
        insert(calls)
        .values(
            tenant=turn.principal.tenant,
            delivery_key=_delivery_key(turn, call),
            request_id=turn.request_id,
            call_id=call.proposal.call_id,
            position=call.position,
            surface=turn.surface,
            lineage=turn.lineage,
            tool=call.tool,
            proposal_hash=call.fingerprint,
            hosted=call.proposal.hosted,
            refusal=stored,
        )
        .on_conflict_do_nothing()
        .returning(calls.c.call_id, *_open_twin(call))
    )
    return (await connection.execute(statement)).one_or_none()


async def _first_delivery(
    connection: AsyncConnection, turn: Turn, call: Judged, progress: Progress, twin: Any
) -> Registered:
    if call.intent is None:
        await _keep_refusal(connection, turn, call)
        return _refused(call)
    if twin is not None:
        return await _attach(connection, turn, call, twin)
    after = progress.before if call.writes else []
    given = call.proposal.arguments
    operation_id = await insert_operation(connection, turn, call.intent, given, writes=call.writes, after=after)
    await rows.later(connection, update(calls).where(_key(turn, call)).values(operation_id=operation_id))
    await _keep_verdicts(connection, turn, call, operation_id)
    return Registered(call.proposal.call_id, Receipt.REGISTERED, operation_id, call.intent.hash(), call.writes)


def _twin(delivered: Any, call: Judged, progress: Progress) -> Any:
    """The operation that is this call already: an open act, or a read of the same turn."""
    if call.intent is None or call.proposal.hosted:
        # Each answer to a hosted call lets the provider run once more, so each needs a word of its own.
        return None
    if not call.writes:
        return progress.reads.get(call.intent.hash())
    return delivered if delivered.operation_id is not None else None


def _open_twin(call: Judged) -> Sequence[ColumnElement[Any]]:
    """Id and intent hash of the oldest open operation that is this very act."""
    if call.intent is None or not call.writes:
        return ()
    same = (operations.c.act_hash == call.intent.act_hash()) & operations.c.writes & operations.c.ended_at.is_(None)
    wanted = (operations.c.operation_id, operations.c.intent_hash)
    oldest = [select(each).where(same).order_by(operations.c.created_at).limit(1) for each in wanted]
    return [each.scalar_subquery().label(column.name) for each, column in zip(oldest, wanted, strict=True)]


async def _attach(connection: AsyncConnection, turn: Turn, call: Judged, twin: Any) -> Registered:
    """Answer a second proposal of an open act, or of the turn's own read, with the first one: it is not done twice."""
    values = {"operation_id": twin.operation_id, "attached": True}
    await rows.later(connection, update(calls).where(_key(turn, call)).values(**values))
    await _keep_verdicts(connection, turn, call, twin.operation_id)
    principal = turn.principal
    await rows.tell(connection, principal.tenant, twin.operation_id, actor_of(principal), "proposed.again")
    return Registered(call.proposal.call_id, Receipt.KNOWN, twin.operation_id, twin.intent_hash, call.writes)


async def _later_delivery(connection: AsyncConnection, turn: Turn, call: Judged) -> Registered:
    known = (await connection.execute(_known(turn, call))).one()
    if _differs(known, turn, call):
        await _keep_refusal(connection, turn, replace(call, verdicts=(CONFLICT,)))
        return Registered(call.proposal.call_id, Receipt.CONFLICT, code="idempotency_conflict")
    counted = update(calls).where(_key(turn, call)).values(deliveries=calls.c.deliveries + 1)
    await rows.later(connection, counted)
    if known.operation_id is not None:
        return Registered(call.proposal.call_id, Receipt.KNOWN, known.operation_id, known.intent_hash, known.writes)
    return Registered(
        call.proposal.call_id,
        Receipt.REFUSED,
        code=known.refusal["code"],
        details=rows.details_from(known.refusal["details"]),
    )


def _differs(known: Any, turn: Turn, call: Judged) -> bool:
    """The raw proposal, and whoever it was registered for, must be the same.

    A delivery that would be judged otherwise today, because roles, scopes or the tool's contract have changed, still
    finds its operation: what was registered stands.
    """
    if known.proposal_hash != call.fingerprint:
        return True
    if known.operation_id is None:
        return False
    return (known.subject, known.agent) != (turn.principal.subject, turn.principal.agent)


def _known(turn: Turn, call: Judged) -> Any:
    delivered = (calls.c.proposal_hash, calls.c.refusal, calls.c.operation_id)
    meant = (operations.c.intent_hash, operations.c.subject, operations.c.agent, operations.c.writes)
    return select(*delivered, *meant).join_from(calls, operations, isouter=True).where(_key(turn, call))


def _key(turn: Turn, call: Judged) -> Any:
    return (calls.c.tenant == turn.principal.tenant) & (calls.c.delivery_key == _delivery_key(turn, call))


def _delivery_key(turn: Turn, call: Judged) -> str:
    whose = [turn.namespace] if turn.namespace else []
    return digest([*whose, turn.request_id, call.proposal.call_id])


async def _keep_verdicts(connection: AsyncConnection, turn: Turn, call: Judged, operation_id: str | None) -> None:
    await rows.later(
        connection,
        rows.KEEP_VERDICTS,
        [
            {
                "tenant": turn.principal.tenant,
                "request_id": turn.request_id,
                "call_id": call.proposal.call_id,
                "operation_id": operation_id,
                "layer": verdict.layer.value,
                "code": verdict.code,
            }
            for verdict in call.verdicts
        ],
    )


async def _keep_refusal(connection: AsyncConnection, turn: Turn, call: Judged) -> None:
    await _keep_verdicts(connection, turn, call, None)
    verdict = first_refusal(call.verdicts)
    if verdict is not None:
        await proposal_refused(connection, turn, call, verdict, _delivery_key(turn, call))


def _refused(call: Judged) -> Registered:
    refusal = first_refusal(call.verdicts)
    code = refusal.code if refusal else "internal_error"
    return Registered(call.proposal.call_id, Receipt.REFUSED, code=code, details=refusal.details if refusal else ())
