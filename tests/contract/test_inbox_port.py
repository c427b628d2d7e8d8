"""The inbox: each proposal becomes one operation or one refusal, however often and by whomever it is delivered."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from sqlalchemy import select

from adapters.intake.ports import Receipt, Registered, Turn
from adapters.postgres.tables import verdicts
from tests.support.benches import Bench, PostgresBench
from tests.support.proposals import CALLER, catalog_in_which, fresh, lookup, refund, turn_of
from workflows.domain.contract import Arguments
from workflows.domain.lifecycle import State
from workflows.domain.operation import Settlement
from workflows.domain.principal import Principal
from workflows.domain.proposal import Proposal


class ReducedArguments(Arguments):
    """What refund_payment might take in a later release."""

    order_id: str


async def register(bench: Bench, turn: Turn) -> Registered:
    (registered,) = await bench.inbox.register(turn)
    return registered


async def test_a_write_is_registered_with_the_order_to_start_it(bench: Bench) -> None:
    registered = await register(bench, turn_of(refund()))
    assert registered.receipt is Receipt.REGISTERED
    found = await bench.found(registered.operation_id or "")
    assert (found.state, found.outbox) == (State.PROPOSED, ("start",))


async def test_the_hash_of_the_intent_is_given_and_stored(bench: Bench) -> None:
    turn = turn_of(refund())
    registered = await register(bench, turn)
    stored = await bench.operations.load(registered.operation_id or "")
    assert turn.calls[0].intent is not None
    assert registered.intent_hash == stored.intent_hash == turn.calls[0].intent.hash()


async def test_the_same_delivery_finds_its_operation(bench: Bench) -> None:
    turn = turn_of(refund())
    first = await register(bench, turn)
    again = await register(bench, turn)
    assert again == replace(first, receipt=Receipt.KNOWN)
    assert await bench.deliveries(turn.request_id) == [("call-1", 2)]
    assert (await bench.found(first.operation_id or "")).outbox == ("start",)


async def test_another_response_is_another_operation(bench: Bench) -> None:
    first = await register(bench, turn_of(refund(order_id=fresh("O"))))
    second = await register(bench, turn_of(refund(order_id=fresh("O"))))
    assert first.operation_id != second.operation_id


async def test_the_same_ids_in_another_tenant_are_another_operation(bench: Bench) -> None:
    request_id = fresh("request")
    ours = await register(bench, turn_of(refund(), request_id=request_id))
    theirs = await register(bench, turn_of(refund(), request_id=request_id, caller=replace(CALLER, tenant="tenant-b")))
    assert theirs.receipt is Receipt.REGISTERED
    assert theirs.operation_id != ours.operation_id


async def test_of_twenty_deliveries_at_once_one_registers(bench: Bench) -> None:
    turn = turn_of(refund())
    receipts = await asyncio.gather(*(register(bench, turn) for _ in range(20)))
    assert sorted(each.receipt for each in receipts) == [Receipt.KNOWN] * 19 + [Receipt.REGISTERED]
    assert len({each.operation_id for each in receipts}) == 1
    assert len(await bench.operations_of(turn.request_id)) == 1
    assert (await bench.found(receipts[0].operation_id or "")).outbox == ("start",)
    assert await bench.deliveries(turn.request_id) == [("call-1", 20)]


async def test_of_many_turns_at_once_each_call_registers_once(bench: Bench) -> None:
    turn = turn_of(lookup("call-1"), lookup("call-2", "O-18"), refund("call-3"))
    await asyncio.gather(*(bench.inbox.register(turn) for _ in range(10)))
    assert len(set(await bench.operations_of(turn.request_id))) == 3
    assert await bench.deliveries(turn.request_id) == [("call-1", 10), ("call-2", 10), ("call-3", 10)]


# -- the same ids with another content


async def refused(bench: Bench, request_id: str) -> Proposal:
    proposal = refund(amount="12000")
    assert (await register(bench, turn_of(proposal, request_id=request_id))).receipt is Receipt.REFUSED
    return proposal


async def still_open(bench: Bench, request_id: str) -> Proposal:
    await register(bench, turn_of(refund(), request_id=request_id))
    return refund()


async def ended(bench: Bench, request_id: str) -> Proposal:
    registered = await register(bench, turn_of(refund(), request_id=request_id))
    await bench.operations.settle(registered.operation_id or "", Settlement(State.FAILED_TERMINAL, "approval_denied"))
    return refund()


OTHERS = {
    "other amount": refund(amount=11_999),
    "other order": refund(order_id="O-18"),
    "other tool": Proposal("call-1", "get_order", {"order_id": "O-17"}),
    "unknown field": refund(note="quickly"),
    "no JSON": Proposal("call-1", "refund_payment", None, "invalid_arguments_json"),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
@pytest.mark.parametrize("first", [refused, still_open, ended])
async def test_another_content_under_the_same_ids_is_a_conflict_and_changes_nothing(
    bench: Bench, first: Callable[[Bench, str], Awaitable[Proposal]], other: Proposal
) -> None:
    request_id = fresh("request")
    original = await first(bench, request_id)
    stored = await bench.operations_of(request_id)
    before = [await bench.found(name) for name in stored], [await bench.operations.load(name) for name in stored]
    conflict = await register(bench, turn_of(other, request_id=request_id))
    assert (conflict.receipt, conflict.code) == (Receipt.CONFLICT, "idempotency_conflict")
    assert conflict.operation_id is None
    assert await bench.deliveries(request_id) == [("call-1", 1)]
    assert await bench.operations_of(request_id) == stored
    after = [await bench.found(name) for name in stored], [await bench.operations.load(name) for name in stored]
    assert after == before
    again = await register(bench, turn_of(original, request_id=request_id))
    assert again.receipt in (Receipt.KNOWN, Receipt.REFUSED)


@pytest.mark.parametrize(
    "somebody",
    [
        replace(CALLER, subject="user-18"),
        replace(CALLER, agent="other-agent"),
        replace(CALLER, subject="user-18", roles=frozenset()),
        replace(CALLER, agent="", roles=frozenset()),
    ],
    ids=["another user", "another agent", "another user without the role", "no agent, without the role"],
)
async def test_somebody_else_cannot_redeliver(bench: Bench, somebody: Principal) -> None:
    turn = turn_of(refund())
    await register(bench, turn)
    conflict = await register(bench, turn_of(refund(), request_id=turn.request_id, caller=somebody))
    assert (conflict.receipt, conflict.operation_id) == (Receipt.CONFLICT, None)
    assert await bench.deliveries(turn.request_id) == [("call-1", 1)]


async def test_a_token_with_other_scopes_finds_the_same_operation(bench: Bench) -> None:
    turn = turn_of(refund())
    first = await register(bench, turn)
    wider = replace(CALLER, scopes=frozenset({"refunds:any"}))
    again = await register(bench, turn_of(refund(), request_id=turn.request_id, caller=wider))
    assert (again.receipt, again.operation_id) == (Receipt.KNOWN, first.operation_id)


# -- what was registered stands


@pytest.mark.parametrize(
    "changed",
    [{"version": "2"}, {"description": "Pay money back."}, {"arguments": ReducedArguments}],
    ids=["version", "description", "arguments that no longer fit"],
)
async def test_a_redelivery_after_the_contract_has_changed_finds_its_operation(
    bench: Bench, changed: dict[str, object]
) -> None:
    turn = turn_of(refund())
    first = await register(bench, turn)
    later = turn_of(refund(), request_id=turn.request_id, catalog=catalog_in_which("refund_payment", **changed))
    again = await register(bench, later)
    assert again == replace(first, receipt=Receipt.KNOWN)


async def test_a_redelivery_after_the_role_was_lost_finds_its_operation(bench: Bench) -> None:
    turn = turn_of(refund())
    first = await register(bench, turn)
    later = turn_of(refund(), request_id=turn.request_id, caller=replace(CALLER, roles=frozenset()))
    assert await register(bench, later) == replace(first, receipt=Receipt.KNOWN)


async def test_a_refusal_is_told_again_as_it_was(bench: Bench) -> None:
    turn = turn_of(refund(amount="12000"))
    first = await register(bench, turn)
    again = await register(bench, turn)
    assert first == again
    assert (first.receipt, first.code, first.operation_id) == (Receipt.REFUSED, "invalid_arguments", None)
    assert [(detail.path, detail.code) for detail in again.details] == [("/amount", "invalid_type")]


async def test_a_refusal_stands_when_the_call_would_be_allowed_today(bench: Bench) -> None:
    turn = turn_of(refund(), caller=replace(CALLER, roles=frozenset()))
    await register(bench, turn)
    again = await register(bench, turn_of(refund(), request_id=turn.request_id))
    assert (again.receipt, again.code) == (Receipt.REFUSED, "tool_not_allowed")
    assert await bench.operations_of(turn.request_id) == []


# -- several calls in one turn


async def test_receipts_come_in_the_order_of_the_calls(bench: Bench) -> None:
    turn = turn_of(lookup("c"), lookup("a", "O-18"), lookup("b", "O-20"))
    registered = await bench.inbox.register(turn)
    assert [each.call_id for each in registered] == ["c", "a", "b"]


async def test_a_refused_call_does_not_concern_its_siblings(bench: Bench) -> None:
    turn = turn_of(lookup("call-1"), refund("call-2", amount="12000"), refund("call-3"))
    registered = await bench.inbox.register(turn)
    assert [each.receipt for each in registered] == [Receipt.REGISTERED, Receipt.REFUSED, Receipt.REGISTERED]


async def test_the_second_write_of_a_turn_is_refused(bench: Bench) -> None:
    turn = turn_of(refund("call-1"), lookup("call-2"), refund("call-3", order_id="O-18"))
    first, read, second = await bench.inbox.register(turn)
    assert (first.receipt, read.receipt) == (Receipt.REGISTERED, Receipt.REGISTERED)
    assert (second.receipt, second.code) == (Receipt.REFUSED, "earlier_write_not_done")
    assert await bench.operations_of(turn.request_id) == [first.operation_id, read.operation_id]


async def test_the_refusal_of_a_second_write_stands(bench: Bench) -> None:
    turn = turn_of(refund("call-1"), refund("call-2", order_id="O-18"))
    first = await bench.inbox.register(turn)
    again = await bench.inbox.register(turn)
    assert again[0] == replace(first[0], receipt=Receipt.KNOWN)
    assert (again[1].receipt, again[1].code) == (Receipt.REFUSED, "earlier_write_not_done")
    assert len(await bench.operations_of(turn.request_id)) == 1


async def test_a_turn_without_calls_registers_nothing(bench: Bench) -> None:
    assert await bench.inbox.register(turn_of()) == []


async def test_a_conflict_leaves_a_trace_of_its_own(
    postgres_bench: PostgresBench,
) -> None:
    request_id = fresh("request")
    (first,) = await postgres_bench.inbox.register(turn_of(refund(), request_id=request_id))
    await postgres_bench.inbox.register(turn_of(refund(amount=1), request_id=request_id))
    wanted = select(verdicts).where(verdicts.c.request_id == request_id, verdicts.c.code == "idempotency_conflict")
    (trace,) = await postgres_bench.rows(wanted)
    assert (trace.layer, trace.operation_id) == ("schema", None)
    assert first.operation_id is not None
