"""The inbox: each proposal is registered once, with its operation and the order to start it, in one transaction."""

import secrets
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.intake.ports import Judged, Receipt, Registered, Turn
from adapters.postgres import rows
from adapters.postgres.corrections import within_budget
from adapters.postgres.engine import Database
from adapters.postgres.tables import calls, operations, outbox, verdicts
from workflows.domain.errors import IntentConflict
from workflows.domain.gate import Layer, Verdict, first_refusal
from workflows.domain.intent import Intent, digest
from workflows.domain.lifecycle import State

START_GRACE = timedelta(seconds=2)
"""How long the relay leaves a start to the door that registered it."""


CONFLICT = Verdict(Layer.SCHEMA, IntentConflict.code)
"""What is kept of a delivery whose ids stand for something else: of the delivery, not of that operation."""


class PostgresInbox:
    """Fits `adapters.intake.ports.Inbox`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def register(self, turn: Turn) -> list[Registered]:
        """Register each call once; see the port."""
        async with self._database.transaction() as connection:
            registered: list[Registered] = []
            for call in one_write_at_a_time(turn):
                registered.append(await _register(connection, turn, call))
            return registered


def one_write_at_a_time(turn: Turn) -> list[Judged]:
    """Refuse every write after the first of a turn: it may rest on the first one's success."""
    writes = [call.position for call in turn.calls if call.writes]
    return [_too_early(call) if call.writes and call.position != writes[0] else call for call in turn.calls]


def _too_early(call: Judged) -> Judged:
    verdict = Verdict(call.verdicts[-1].layer, "earlier_write_not_done")
    return replace(call, intent=None, verdicts=(*call.verdicts[:-1], verdict))


async def _register(connection: AsyncConnection, turn: Turn, call: Judged) -> Registered:
    refusal = first_refusal(call.verdicts)
    if refusal is not None:
        told = await within_budget(connection, turn, call, refusal)
        call = replace(call, verdicts=(*call.verdicts[:-1], told))
    if await _deliver(connection, turn, call):
        return await _first_delivery(connection, turn, call)
    return await _later_delivery(connection, turn, call)


async def _deliver(connection: AsyncConnection, turn: Turn, call: Judged) -> bool:
    """Write the inbox row; False when this call was delivered before. Of two at once, one waits here for the other."""
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
            tool=call.proposal.tool_name,
            proposal_hash=call.fingerprint,
            refusal=stored,
        )
        .on_conflict_do_nothing()
        .returning(calls.c.call_id)
    )
    return (await connection.execute(statement)).one_or_none() is not None


async def _first_delivery(connection: AsyncConnection, turn: Turn, call: Judged) -> Registered:
    if call.intent is None:
        await _keep_verdicts(connection, turn, call, None)
        return _refused(call)
    if call.writes:
        open_twin = await _open_twin(connection, call.intent)
        if open_twin is not None:
            return await _attach(connection, turn, call, open_twin)
    operation_id = f"op_{secrets.token_hex(12)}"
    await _insert_operation(connection, turn, call.intent, operation_id, call.writes)
    await connection.execute(update(calls).where(_key(turn, call)).values(operation_id=operation_id))
    await _keep_verdicts(connection, turn, call, operation_id)
    return Registered(call.proposal.call_id, Receipt.REGISTERED, operation_id, call.intent.hash(), call.writes)


async def _open_twin(connection: AsyncConnection, intent: Intent) -> Any:
    """The open operation that is this very act; nobody can register another until this transaction ends."""
    act_hash = intent.act_hash()
    await connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(act_hash, 0))))
    wanted = (operations.c.act_hash == act_hash) & operations.c.writes & operations.c.ended_at.is_(None)
    statement = select(operations.c.operation_id, operations.c.intent_hash).where(wanted)
    return (await connection.execute(statement.order_by(operations.c.created_at).limit(1))).one_or_none()


async def _attach(connection: AsyncConnection, turn: Turn, call: Judged, twin: Any) -> Registered:
    """Answer a second proposal of an open act with the first one: it is not a second write."""
    values = {"operation_id": twin.operation_id, "attached": True}
    await connection.execute(update(calls).where(_key(turn, call)).values(**values))
    await _keep_verdicts(connection, turn, call, twin.operation_id)
    actor = turn.principal.agent or turn.principal.subject
    await rows.tell(connection, turn.principal.tenant, twin.operation_id, actor, "proposed.again")
    return Registered(call.proposal.call_id, Receipt.KNOWN, twin.operation_id, twin.intent_hash, writes=True)


async def _insert_operation(
    connection: AsyncConnection, turn: Turn, intent: Intent, operation_id: str, writes: bool
) -> None:
    principal = turn.principal
    await connection.execute(
        operations.insert().values(
            operation_id=operation_id,
            tenant=principal.tenant,
            subject=principal.subject,
            agent=principal.agent,
            roles=sorted(principal.roles),
            scopes=sorted(principal.scopes),
            tool=intent.tool,
            tool_version=intent.tool_version,
            contract_hash=intent.contract_hash,
            writes=writes,
            intent_hash=intent.hash(),
            act_hash=intent.act_hash(),
            arguments=rows.as_text(intent.arguments),
            resource=intent.resource,
            state=State.PROPOSED.value,
        )
    )
    actor = principal.agent or principal.subject
    await rows.tell(connection, principal.tenant, operation_id, actor, "proposed", surface=turn.surface)
    if writes:
        # A lost start would be a lost write; a read is started anew by whoever asks for it again.
        await _order_start(connection, operation_id, intent)


async def _order_start(connection: AsyncConnection, operation_id: str, intent: Intent) -> None:
    payload = {"intent_hash": intent.hash(), "tool": intent.tool, "tenant": intent.tenant}
    # Due a moment later: the door starts what it registers, and the relay what the door could not.
    due = rows.NOW + START_GRACE
    await connection.execute(
        outbox.insert().values(operation_id=operation_id, kind="start", payload=payload, due_at=due)
    )


async def _later_delivery(connection: AsyncConnection, turn: Turn, call: Judged) -> Registered:
    known = (await connection.execute(_known(turn, call))).one()
    if _differs(known, turn, call):
        await _keep_verdicts(connection, turn, replace(call, verdicts=(CONFLICT,)), None)
        return Registered(call.proposal.call_id, Receipt.CONFLICT, code="idempotency_conflict")
    counted = update(calls).where(_key(turn, call)).values(deliveries=calls.c.deliveries + 1)
    await connection.execute(counted)
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
    return digest([turn.request_id, call.proposal.call_id])


async def _keep_verdicts(connection: AsyncConnection, turn: Turn, call: Judged, operation_id: str | None) -> None:
    await connection.execute(
        verdicts.insert(),
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


def _refused(call: Judged) -> Registered:
    refusal = first_refusal(call.verdicts)
    code = refusal.code if refusal else "internal_error"
    return Registered(call.proposal.call_id, Receipt.REFUSED, code=code, details=refusal.details if refusal else ())
