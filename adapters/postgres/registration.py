"""A new operation, and the order to start it: by itself, or with the others of its turn."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.intake.ports import Receipt, Registered, Turn
from adapters.intake.turn_order import started, turn_id, turn_ref
from adapters.postgres import rows
from adapters.postgres.audit_notes import actor_of, subject_of
from adapters.postgres.tables import operations, outbox
from workflows.domain.intent import Intent
from workflows.domain.lifecycle import State
from workflows.messages import OperationRef, TurnRef


async def insert_operation(
    connection: AsyncConnection, turn: Turn, intent: Intent, given: Any, *, writes: bool, after: Sequence[str]
) -> str:
    """Write a proposed operation and its first line, in the caller's transaction; returns its id.

    `given` are the arguments as the model gave them, kept for people where they are not those of the intent.
    """
    principal, operation_id = turn.principal, f"op_{secrets.token_hex(12)}"
    await rows.later(
        connection,
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
            given=rows.as_text(given) if writes and _differ(given, intent.arguments) else None,
            resource=intent.resource,
            after=list(after) or None,
            state=State.PROPOSED.value,
        ),
    )
    before = {"on_behalf_of": ", ".join(principal.agents_before)} if principal.agents_before else {}
    detail = {"surface": turn.surface, **subject_of(principal), **before}
    await rows.tell(connection, principal.tenant, operation_id, actor_of(principal), "proposed", **detail)
    return operation_id


async def order_starts(connection: AsyncConnection, turn: Turn, registered: Sequence[Registered]) -> None:
    """Put the starts of what is new into the outbox: a lost start would be a lost write.

    A read by itself is started anew by whoever asks for it again; one that a write waits for is not left to that.
    """
    new = [each for each in started(turn, registered) if each[1].receipt is Receipt.REGISTERED]
    if not any(found.writes for _, found in new):
        return
    ref = turn_ref(turn, registered)
    if ref is None:
        [(call, found)] = new
        await _post(connection, found, "start", _named(turn, call.tool, found))
        return
    if not ref.one_by_one:
        for call, found in new:
            if not found.writes:
                await _post(connection, found, "read", _named(turn, call.tool, found))
    first = next(found for _, found in new if found.writes)
    await _post(connection, first, "turn", {"turn": turn_id(ref), "ref": written(ref)})


def written(ref: TurnRef) -> dict[str, Any]:
    """A turn's order for a JSON column."""
    return {
        "reads": [[each.operation_id, each.intent_hash] for each in ref.reads],
        "writes": [[each.operation_id, each.intent_hash] for each in ref.writes],
        "tools": ref.tools,
        "tenant": ref.tenant,
        "one_by_one": ref.one_by_one,
    }


def turn_from(stored: dict[str, Any]) -> TurnRef:
    """The order that `written` wrote; raises `KeyError` or `TypeError` when it is something else."""
    return TurnRef(
        reads=[OperationRef(*each) for each in stored["reads"]],
        writes=[OperationRef(operation_id, intent, fast_path=True) for operation_id, intent in stored["writes"]],
        tools=list(stored["tools"]),
        tenant=stored["tenant"],
        one_by_one=stored["one_by_one"],
    )


def _differ(given: Any, meant: Any) -> bool:
    """Whether they are written otherwise; the order of an object's fields means nothing."""
    if not (isinstance(given, Mapping) and isinstance(meant, Mapping)):
        return rows.as_text(given) != rows.as_text(meant)
    return given.keys() != meant.keys() or any(_differ(value, meant[name]) for name, value in given.items())


def _named(turn: Turn, tool: str, found: Registered) -> dict[str, str]:
    return {"intent_hash": found.intent_hash, "tool": tool, "tenant": turn.principal.tenant}


async def _post(connection: AsyncConnection, found: Registered, kind: str, payload: dict[str, Any]) -> None:
    # Due a moment later: the door starts what it registers, and the relay what the door could not.
    due = rows.NOW + rows.GRACE
    await rows.later(
        connection, outbox.insert().values(operation_id=found.operation_id, kind=kind, payload=payload, due_at=due)
    )
