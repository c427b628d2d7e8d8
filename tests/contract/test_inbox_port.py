"""The inbox: each proposal becomes one operation or one refusal, however often and by whomever it is delivered."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from sqlalchemy import select

from adapters.intake.ports import Budget, Receipt, Registered, Turn
from adapters.postgres.tables import events, verdicts
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


async def test_the_record_names_every_agent_of_a_chain(postgres_bench: PostgresBench) -> None:
    caller = replace(CALLER, agents_before=("planner", "front-desk"))
    operation_id = (await register(postgres_bench, turn_of(refund(), caller=caller))).operation_id
    statement = select(events.c.actor, events.c.detail).where(events.c.operation_id == operation_id)
    (proposed,) = await postgres_bench.rows(statement)
    assert (proposed.actor, proposed.detail["on_behalf_of"]) == ("support-agent", "planner, front-desk")


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


async def test_the_same_ids_in_another_namespace_are_another_operation(bench: Bench) -> None:
    turn = turn_of(lookup())
    ours = await register(bench, turn)
    apart = replace(turn_of(lookup(), request_id=turn.request_id), namespace="hosts")
    theirs = await register(bench, apart)
    assert (ours.receipt, theirs.receipt) == (Receipt.REGISTERED, Receipt.REGISTERED)
    assert theirs.operation_id != ours.operation_id
    assert await register(bench, apart) == replace(theirs, receipt=Receipt.KNOWN)


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
    turn = turn_of(lookup("call-1"), Proposal("call-2", "get_order", {"order": 17}), refund("call-3"))
    registered = await bench.inbox.register(turn)
    assert [each.receipt for each in registered] == [Receipt.REGISTERED, Receipt.REFUSED, Receipt.REGISTERED]


async def test_a_write_is_registered_behind_what_comes_before_it_and_reads_come_first(bench: Bench) -> None:
    turn = turn_of(refund("call-1"), refund("call-2", order_id=fresh("O")), lookup("call-3"))
    first, second, read = (each.operation_id or "" for each in await bench.inbox.register(turn))
    behind = [(await bench.operations.load(name)).after for name in (read, first, second)]
    assert behind == [(), (read,), (read, first)]


async def test_a_write_by_itself_is_behind_nothing(bench: Bench) -> None:
    assert (await bench.operations.load((await register(bench, turn_of(refund()))).operation_id or "")).after == ()


async def test_the_starts_of_a_turn_are_one_order_and_its_reads_are_not_left_to_chance(bench: Bench) -> None:
    turn = turn_of(refund("call-1"), refund("call-2", order_id=fresh("O")), lookup("call-3"))
    first, second, read = (each.operation_id or "" for each in await bench.inbox.register(turn))
    assert [(await bench.found(name)).outbox for name in (first, second, read)] == [("turn",), (), ("read",)]


REFUSALS = {
    "arguments that do not fit": refund("call-1", amount="12000"),
    "no JSON": Proposal("call-1", "refund_payment", None, "invalid_arguments_json"),
    "a tool that there is not": Proposal("call-1", "refund_paymnt", {}),
}


@pytest.mark.parametrize("earlier", REFUSALS.values(), ids=REFUSALS.keys())
async def test_a_write_after_a_refused_one_is_refused_and_stays_so(bench: Bench, earlier: Proposal) -> None:
    turn = turn_of(earlier, refund("call-2"), lookup("call-3"))
    first, second, read = await bench.inbox.register(turn)
    assert (first.receipt, read.receipt) == (Receipt.REFUSED, Receipt.REGISTERED)
    assert (second.receipt, second.code) == (Receipt.REFUSED, "earlier_write_not_done")
    assert await bench.inbox.register(turn) == [first, second, replace(read, receipt=Receipt.KNOWN)]
    assert await bench.operations_of(turn.request_id) == [read.operation_id]


async def test_a_refused_read_cuts_nothing_off(bench: Bench) -> None:
    refused_read = Proposal("call-1", "get_order", {"order": 17})
    refused_call, write = await bench.inbox.register(turn_of(refused_read, refund("call-2")))
    assert (refused_call.receipt, write.receipt) == (Receipt.REFUSED, Receipt.REGISTERED)


async def test_the_same_read_twice_in_a_turn_is_one_operation(bench: Bench) -> None:
    turn = turn_of(lookup("call-1"), lookup("call-2"), lookup("call-3", "O-18"))
    first, again, other = await bench.inbox.register(turn)
    assert (again.receipt, again.operation_id) == (Receipt.KNOWN, first.operation_id)
    assert other.operation_id != first.operation_id
    assert [each.operation_id for each in await bench.inbox.register(turn)] == [
        first.operation_id, first.operation_id, other.operation_id,
    ]  # fmt: skip


async def test_the_same_read_in_another_turn_is_another_operation(bench: Bench) -> None:
    first, second = await register(bench, turn_of(lookup())), await register(bench, turn_of(lookup()))
    assert first.operation_id != second.operation_id


async def test_the_same_write_twice_in_a_turn_is_one_operation_and_waits_for_nothing(bench: Bench) -> None:
    first, again = await bench.inbox.register(turn_of(refund("call-1"), refund("call-2")))
    assert (again.receipt, again.operation_id, again.writes) == (Receipt.KNOWN, first.operation_id, True)
    found = await bench.found(first.operation_id or "")
    assert found.outbox == ("start",)
    assert (await bench.operations.load(first.operation_id or "")).after == ()


async def test_a_write_after_one_that_is_open_from_another_turn_waits_for_that(bench: Bench) -> None:
    open_one = await register(bench, turn_of(refund()))
    attached, second = await bench.inbox.register(turn_of(refund("call-1"), refund("call-2", order_id=fresh("O"))))
    assert attached.operation_id == open_one.operation_id
    assert (await bench.operations.load(second.operation_id or "")).after == (open_one.operation_id,)


async def test_turns_with_the_same_writes_in_opposite_orders_do_not_block_each_other(bench: Bench) -> None:
    here, there = fresh("O"), fresh("O")
    turns = [
        turn_of(refund("call-1", order_id=one), refund("call-2", order_id=other))
        for one, other in [(here, there), (there, here)] * 8
    ]
    registered = await asyncio.gather(*map(bench.inbox.register, turns))
    assert len({each.operation_id for turn in registered for each in turn}) == 2


async def test_deliveries_of_one_response_in_any_order_of_its_calls_do_not_block_each_other(bench: Bench) -> None:
    request_id, lineage = fresh("request"), fresh("lineage")
    asked = [*(lookup(f"call-{number}", f"O-{number}") for number in range(8)), Proposal("call-8", "nobody", {})]
    turns = [
        turn_of(*asked[shift:], *asked[:shift], request_id=request_id, lineage=lineage) for shift in range(len(asked))
    ]
    registered = await asyncio.gather(*map(bench.inbox.register, turns))
    found = [{each.call_id: each.operation_id for each in turn} for turn in registered]
    assert all(each == found[0] for each in found)


async def test_where_the_forerunners_stand_is_told(bench: Bench) -> None:
    turn = turn_of(refund("call-1"), refund("call-2", order_id=fresh("O")), lookup("call-3"))
    first, second, read = (each.operation_id or "" for each in await bench.inbox.register(turn))
    await bench.operations.settle(first, Settlement(State.FAILED_TERMINAL, "approval_denied"))
    before = await bench.operations.forerunners(await bench.operations.load(second))
    assert sorted((each.state, each.writes) for each in before) == [
        (State.FAILED_TERMINAL, True), (State.PROPOSED, False),
    ]  # fmt: skip
    await bench.pass_time(read, 1000.0)
    aged = await bench.operations.forerunners(await bench.operations.load(second))
    assert max(each.age_seconds for each in aged) >= 1000.0
    assert await bench.operations.states([read, first]) == [State.PROPOSED, State.FAILED_TERMINAL]


async def test_a_call_is_told_to_be_behind_as_long_as_one_before_it_is_open(bench: Bench) -> None:
    turn = turn_of(refund("call-1"), refund("call-2", order_id=fresh("O")))
    first, second = (each.operation_id or "" for each in await bench.inbox.register(turn))
    standings = await bench.progress.standings(CALLER, [first, second])
    assert (standings[first].behind, standings[second].behind) == (False, True)
    await bench.operations.settle(first, Settlement(State.FAILED_TERMINAL, "approval_denied"))
    assert not (await bench.progress.standings(CALLER, [second]))[second].behind


@pytest.mark.parametrize("state", [State.AWAITING_APPROVAL, State.STARTED])
async def test_what_has_gone_on_past_a_read_that_nobody_carries_is_not_told_to_be_behind_it(
    bench: Bench, state: State
) -> None:
    """Such a read holds nobody up for ever, so its being open says nothing of the write."""
    write, _ = (each.operation_id or "" for each in await bench.inbox.register(turn_of(refund("call-1"), lookup("a"))))
    assert (await bench.progress.standings(CALLER, [write]))[write].behind
    await bench.operations.move(write, state)
    assert not (await bench.progress.standings(CALLER, [write]))[write].behind


# -- a conversation's budget


async def answered(bench: PostgresBench, lineage: str, asked_for: str, **data: object) -> Registered:
    turn = replace(turn_of(lookup("call-1", asked_for), lineage=lineage), budget=Budget(calls=5, same_answers=3))
    registered = await register(bench, turn)
    if registered.operation_id is not None:
        await bench.operations.move(registered.operation_id, State.STARTED)
        await bench.operations.settle(registered.operation_id, Settlement(State.SUCCEEDED, data=data))
    return registered


async def test_a_conversation_may_make_so_many_calls_and_no_more(postgres_bench: PostgresBench) -> None:
    lineage = fresh("lineage")
    receipts = [await answered(postgres_bench, lineage, f"O-{number}") for number in range(7)]
    assert [each.code for each in receipts] == [None] * 5 + ["call_budget_spent"] * 2
    other = await answered(postgres_bench, fresh("lineage"), "O-1")
    assert other.receipt is Receipt.REGISTERED


async def test_turns_of_one_conversation_at_once_do_not_get_round_its_budget(postgres_bench: PostgresBench) -> None:
    lineage = fresh("lineage")
    turns = [replace(turn_of(lookup("call-1"), lineage=lineage), budget=Budget(calls=5)) for _ in range(12)]
    registered = await asyncio.gather(*map(postgres_bench.inbox.register, turns))
    assert [each.code for (each,) in registered].count(None) == 5


async def test_a_delivery_that_is_repeated_spends_nothing(postgres_bench: PostgresBench) -> None:
    turn = replace(turn_of(lookup()), budget=Budget(calls=1))
    first = await register(postgres_bench, turn)
    again = [await register(postgres_bench, turn) for _ in range(3)]
    assert [each.operation_id for each in again] == [first.operation_id] * 3


async def test_a_call_that_gives_the_same_answer_again_and_again_is_ended(postgres_bench: PostgresBench) -> None:
    lineage = fresh("lineage")
    receipts = [
        await answered(postgres_bench, lineage, "O-17", order_id="O-17", observed_at=f"2026-11-30T00:00:0{number}Z")
        for number in range(4)
    ]
    assert [each.code for each in receipts] == [None, None, None, "repeated_state"]
    assert (await answered(postgres_bench, lineage, "O-18", order_id="O-18")).receipt is Receipt.REGISTERED


async def test_a_call_whose_answer_changes_is_not(postgres_bench: PostgresBench) -> None:
    lineage = fresh("lineage")
    receipts = [await answered(postgres_bench, lineage, "O-17", refundable=number // 2) for number in range(5)]
    assert [each.receipt for each in receipts] == [Receipt.REGISTERED] * 5


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
