"""`python -m worker verify`: sound after ordinary work, and whatever is broken or stuck is found and named."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from psycopg.errors import ReadOnlySqlTransaction
from sqlalchemy import text
from sqlalchemy.exc import InternalError

from adapters.postgres.backlog import Backlog, PostgresBacklog
from adapters.postgres.engine import UNANSWERED, Database
from adapters.postgres.invariants import NAMES, PostgresInvariants
from adapters.postgres.snapshot import UNREADABLE, snapshot
from adapters.postgres.totals import PostgresTotals
from tests.integration.stack_probes import assert_one_sentence
from tests.support.acts import ATTEMPT_SECONDS, LEASE_SECONDS, asked, claimed, granted, proposed, proposed_read
from tests.support.benches import PostgresBench
from tests.support.books import BEGIN, OPERATION, Books
from tests.support.commands import told
from worker.dev.layout import ROOT
from worker.dev.stack import Stack
from workflows.domain.approval import Choice
from workflows.domain.effect import Effect
from workflows.domain.lifecycle import State
from workflows.domain.operation import Settlement
from workflows.domain.resolution import Finding, Resolution

PATIENCE_SECONDS = 60

BEHIND = f"UPDATE operations SET after = ARRAY['op_2'] WHERE operation_id = '{OPERATION}'"

Plant = Callable[[Books], Awaitable[None]]


@pytest.fixture(scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    """Tables that no other test writes in: the verdict is over all rows."""
    folder = tmp_path_factory.mktemp("verify")
    async with Stack(folder, only={"postgres", "migrate"}, restart=False) as stack:
        yield stack


@pytest.fixture(scope="module")
async def database(stack: Stack) -> AsyncIterator[Database]:
    owner = Database(stack.dsn("onceward_owner"), application_name="tests")
    yield owner
    await owner.close()


@pytest.fixture
async def books(database: Database) -> Books:
    books = Books(database)
    await books.begin_anew()
    return books


@pytest.fixture
async def bench(stack: Stack, books: Books, database: Database) -> AsyncIterator[PostgresBench]:
    """The real ports on these tables."""
    door, worker = (Database(stack.dsn(f"onceward_{role}"), application_name="tests") for role in ("door", "worker"))
    yield PostgresBench(door=door, worker=worker, owner=database)
    await door.close()
    await worker.close()


async def broken(database: Database) -> set[str]:
    return {each.name for each in await PostgresInvariants(database).all() if not each.holds}


# -- what is in order


async def test_no_rows_and_a_refund_in_good_order_are_sound(books: Books, database: Database) -> None:
    assert await broken(database) == set()
    await books.refund()
    await books.refund("op_2")
    assert await broken(database) == set()
    (receipts,) = [each for each in await PostgresInvariants(database).all() if each.name == "operations_per_receipt"]
    assert (receipts.spread, receipts.groups) == ((1, 1), 2)


async def test_after_every_kind_of_end_it_is_sound(bench: PostgresBench, database: Database) -> None:
    await succeeded(bench)
    await denied(bench)
    await given_up(bench)
    await taken_back(bench)
    await read(bench)
    await asked(bench)
    assert await broken(database) == set()
    assert await PostgresTotals(database).operations() == 6
    states = (await PostgresBacklog(database).read()).states
    assert [state for state, found in states.items() if found.waiting.number] == [State.AWAITING_APPROVAL]


async def succeeded(bench: PostgresBench) -> None:
    operation, _ = await granted(bench)
    claim = await bench.claims.acquire(operation.operation_id, "owner", LEASE_SECONDS)
    entry = await bench.journal.began(operation, claim.generation)
    await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    await bench.journal.ended(entry, "applied")
    await bench.claims.conclude(claim, Effect.applied("rf-1", {}))
    await bench.operations.settle(operation.operation_id, Settlement(State.SUCCEEDED, reference="rf-1"))


async def denied(bench: PostgresBench) -> None:
    operation, question = await asked(bench)
    await bench.decide(question.approval_id, Choice.DENY)
    await bench.operations.settle(operation.operation_id, Settlement.failed_with("approval_denied"))


async def given_up(bench: PostgresBench) -> None:
    """Sent, and an operator has given up finding out what came of it."""
    claim = await claimed(bench)
    await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    await bench.claims.conclude(claim, Effect.unknown())
    await bench.operations.move(claim.operation_id, State.MANUAL_REVIEW)
    await bench.resolve(claim.operation_id, Resolution(Finding.ABANDONED, "Asked.", "", claim.generation))
    await bench.claims.abandon(claim.operation_id, claim.generation)
    await bench.operations.settle(claim.operation_id, Settlement.failed_with("outcome_abandoned"))


async def taken_back(bench: PostgresBench) -> None:
    operation = await proposed(bench)
    await bench.cancel(operation.operation_id)
    await bench.operations.settle(operation.operation_id, Settlement.failed_with("canceled"))


async def read(bench: PostgresBench) -> None:
    operation = await proposed_read(bench)
    entry = await bench.journal.began(operation, 0)
    await bench.journal.ended(entry, "answered")
    await bench.operations.settle(operation.operation_id, Settlement(State.SUCCEEDED, data={}))


# -- what is broken


async def same_effect_told_twice(books: Books) -> None:
    await books.event("effect.applied", 4)


async def same_receipt(books: Books) -> None:
    await books.refund("op_2")
    await books.change("UPDATE claims SET reference = 'rf-1'")


async def second_result(books: Books) -> None:
    await books.event("failed_terminal", 6)


async def no_result(books: Books) -> None:
    await books.change("DELETE FROM events WHERE what = 'succeeded'")


async def another_meaning(books: Books) -> None:
    await books.change("UPDATE claims SET intent_hash = 'other'")


async def second_approval_used(books: Books) -> None:
    await books.approval("consumed", revision=2, quorum=0)


async def call_after_a_refusal(books: Books) -> None:
    await books.verdict("business", 4, "quote_changed")
    await books.handler_call(4, ended=True)


async def call_after_the_end(books: Books) -> None:
    await books.handler_call(6, ended=True)


async def call_after_the_end_that_was_cut_off(books: Books) -> None:
    await books.change("UPDATE claims SET sends = 2")
    await books.handler_call(6)


async def question_still_open(books: Books) -> None:
    await books.approval("pending", revision=2)


async def claim_without_an_outcome(books: Books) -> None:
    await books.claim(item="I-2", idempotency_key="second", outcome=None)


async def lease_still_live(books: Books) -> None:
    await books.change("UPDATE claims SET lease_until = now() + interval '1 hour'")


async def send_still_uncertain(books: Books) -> None:
    await books.change("UPDATE claims SET uncertain = true")


async def success_without_an_effect(books: Books) -> None:
    await books.change("UPDATE claims SET outcome = 'rejected'")


async def failure_with_an_effect(books: Books) -> None:
    await books.change("UPDATE operations SET state = 'failed_terminal'")


async def nobody_has_judged(books: Books) -> None:
    await books.change("DELETE FROM verdicts")


async def denied_by_nobody(books: Books) -> None:
    await books.operation("op_2", "failed_terminal", writes=False, code="approval_denied")
    await books.ended_well_told("op_2")


async def cancelled_by_nobody(books: Books) -> None:
    await books.operation("op_2", "failed_terminal", writes=False, code="canceled")
    await books.ended_well_told("op_2")


async def given_up_by_nobody(books: Books) -> None:
    await books.operation("op_2", "failed_terminal", writes=False, code="outcome_abandoned")
    await books.ended_well_told("op_2")


async def granted_by_nobody(books: Books) -> None:
    await books.change("DELETE FROM decisions")


async def end_without_its_time(books: Books) -> None:
    await books.change("UPDATE operations SET ended_at = NULL")


async def time_without_an_end(books: Books) -> None:
    await books.operation("op_2", "started", ended_at=None)
    await books.change("UPDATE operations SET ended_at = now()")


async def effect_after_a_write_that_failed(books: Books) -> None:
    await books.operation("op_2", "failed_terminal", code="quote_changed")
    await books.ended_well_told("op_2")
    await books.change(BEHIND)


async def effect_while_an_earlier_write_is_open(books: Books) -> None:
    await books.operation("op_2", "unconfirmed")
    await books.change("DELETE FROM handler_calls")
    await books.change(BEHIND)


async def call_before_an_earlier_write_had_ended(books: Books) -> None:
    await books.refund("op_2")
    await books.change(BEHIND)


async def call_by_the_provider_that_nobody_allowed(books: Books) -> None:
    await books.hosted_call(OPERATION, "hosted_call_not_approved")


PLANTED: list[tuple[str, Plant]] = [
    ("effects_per_operation_and_item", same_effect_told_twice),
    ("operations_per_receipt", same_receipt),
    ("terminal_results_per_operation", second_result),
    ("terminal_results_per_operation", no_result),
    ("intent_hashes_per_key", another_meaning),
    ("approvals_consumed_per_operation", second_approval_used),
    ("handler_calls_after_refusal", call_after_a_refusal),
    ("handler_calls_after_refusal", call_after_the_end),
    ("handler_calls_after_refusal", call_after_the_end_that_was_cut_off),
    ("open_approvals_after_the_end", question_still_open),
    ("live_claims_after_the_end", claim_without_an_outcome),
    ("live_claims_after_the_end", lease_still_live),
    ("uncertain_claims_after_the_end", send_still_uncertain),
    ("ends_against_the_claim", success_without_an_effect),
    ("ends_against_the_claim", failure_with_an_effect),
    ("ends_without_ground", nobody_has_judged),
    ("ends_without_ground", denied_by_nobody),
    ("ends_without_ground", cancelled_by_nobody),
    ("ends_without_ground", given_up_by_nobody),
    ("approvals_without_their_votes", granted_by_nobody),
    ("half_ended_operations", end_without_its_time),
    ("half_ended_operations", time_without_an_end),
    ("effects_out_of_turn", effect_after_a_write_that_failed),
    ("effects_out_of_turn", effect_while_an_earlier_write_is_open),
    ("effects_out_of_turn", call_before_an_earlier_write_had_ended),
    ("hosted_calls_not_allowed", call_by_the_provider_that_nobody_allowed),
]


def test_every_invariant_is_planted_broken_here() -> None:
    assert {name for name, _ in PLANTED} == set(NAMES)


@pytest.mark.parametrize(("name", "plant"), PLANTED, ids=[plant.__name__ for _, plant in PLANTED])
async def test_what_is_broken_is_found_by_its_name_and_nothing_else_is(
    books: Books, database: Database, name: str, plant: Plant
) -> None:
    await books.refund()
    await plant(books)
    found = {each.name: each for each in await PostgresInvariants(database).all() if not each.holds}
    assert found.keys() == {name}
    assert {example.split()[-1] for example in found[name].examples} <= {OPERATION, "op_2"}
    assert len(found[name].examples) == found[name].broken == 1


# -- what only looks broken


async def test_an_uncertain_claim_that_an_operator_has_given_up_is_sound(books: Books, database: Database) -> None:
    await books.operation(state="failed_terminal", code="outcome_abandoned")
    await books.ended_well_told(OPERATION)
    await books.claim(uncertain=True, outcome="unknown", code="outcome_abandoned")
    await books.resolution("abandoned")
    assert await broken(database) == set()


async def test_an_entry_of_a_worker_that_woke_up_after_the_end_and_could_not_send_is_no_call(
    books: Books, database: Database
) -> None:
    await books.refund()
    await books.handler_call(6)
    assert await broken(database) == set()


async def test_a_read_that_a_late_worker_makes_again_was_refused_by_nobody(books: Books, database: Database) -> None:
    await books.operation(writes=False)
    await books.event("proposed", 0)
    await books.verdict("schema", 0)
    await books.event("succeeded", 5)
    await books.handler_call(6, ended=True, generation=0)
    assert await broken(database) == set()


async def test_items_of_one_operation_have_an_effect_each(books: Books, database: Database) -> None:
    await books.refund()
    await books.claim(item="I-2", idempotency_key="second", reference="rf-2")
    assert await broken(database) == set()


async def test_a_write_after_one_that_had_succeeded_and_a_read_that_had_failed_is_sound(
    books: Books, database: Database
) -> None:
    await books.operation("op_2", "failed_terminal", writes=False)
    await books.ended_well_told("op_2")
    await books.refund("op_3")
    await books.change("UPDATE operations SET ended_at = ended_at - interval '4 seconds' WHERE operation_id = 'op_3'")
    await books.refund()
    await books.change(f"UPDATE operations SET after = ARRAY['op_2', 'op_3'] WHERE operation_id = '{OPERATION}'")
    assert await broken(database) == set()


async def test_a_write_that_was_cut_off_and_never_made_is_sound(books: Books, database: Database) -> None:
    for operation_id, code in ((OPERATION, "quote_changed"), ("op_2", "earlier_write_not_done")):
        await books.operation(operation_id, "failed_terminal", code=code)
        await books.ended_well_told(operation_id)
    await books.change("UPDATE operations SET after = ARRAY['op_1'] WHERE operation_id = 'op_2'")
    assert await broken(database) == set()


async def test_what_a_provider_ran_with_leave_is_sound(books: Books, database: Database) -> None:
    await books.hosted_call("mcp_1", None)
    assert await broken(database) == set()


# -- what is stuck


async def backlog(database: Database) -> Backlog:
    return await PostgresBacklog(database).read()


async def test_open_operations_are_counted_by_how_long_they_have_been_there(books: Books, database: Database) -> None:
    for operation_id, age in (("op_1", "1 minute"), ("op_2", "5 hours"), ("op_3", "6 days"), ("op_4", "7 days")):
        await books.operation(operation_id, "manual_review")
        await books.change(
            f"UPDATE operations SET updated_at = now() - interval '{age}' WHERE operation_id = '{operation_id}'"
        )
    found = (await backlog(database)).states[State.MANUAL_REVIEW]
    assert (found.waiting.number, found.within_an_hour, found.within_a_day, found.longer) == (4, 1, 1, 2)
    assert found.waiting.oldest_seconds == pytest.approx(7 * 24 * 3600, abs=60)


async def test_questions_and_those_whose_deadline_nobody_noticed_are_counted(books: Books, database: Database) -> None:
    for operation_id, state, left in (
        ("op_1", "pending", "1 hour"),
        ("op_2", "pending", "-2 hours"),
        ("op_3", "granted", "-1 hour"),
    ):
        await books.operation(operation_id, "awaiting_approval")
        await books.approval(state, operation_id)
        await books.change(
            f"UPDATE approvals SET expires_at = now() + interval '{left}' WHERE operation_id = '{operation_id}'"
        )
    found = await backlog(database)
    assert (found.pending.number, found.overdue.number) == (2, 2)
    assert found.overdue.oldest_seconds == pytest.approx(2 * 3600, abs=60)


async def test_messages_that_do_not_go_out_are_told_one_by_one(books: Books, database: Database) -> None:
    await books.operation()
    await books.message("start")
    await books.message("nudge", attempts=3, failure="RPCError")
    await books.message("event", attempts=1, failure="undeliverable")
    await books.change("UPDATE outbox SET set_aside_at = now() WHERE kind = 'event'")
    await books.message("event")
    await books.change("UPDATE outbox SET sent_at = now() WHERE failure IS NULL AND kind = 'event'")
    await books.change("UPDATE outbox SET due_at = now() + interval '1 hour' WHERE kind = 'nudge'")
    await books.change("UPDATE outbox SET due_at = now() - interval '2 minutes' WHERE kind = 'start'")
    found = await backlog(database)
    assert (found.due.number, found.failing.number, found.set_aside.number) == (1, 1, 1)
    assert found.due.oldest_seconds == pytest.approx(120, abs=30)
    assert [(each.kind, each.operation_id, each.failure) for each in found.failures] == [("nudge", "op_1", "RPCError")]
    assert [(each.kind, each.failure) for each in found.poison] == [("event", "undeliverable")]


async def test_notices_that_no_receiver_takes_are_told_one_by_one(books: Books, database: Database) -> None:
    await books.operation()
    await books.notice("approval.asked", "chat", attempts=2, failure="status 500")
    await books.notice("approval.granted", "chat", attempts=1, failure="status 410", set_aside_at=BEGIN)
    await books.notice("operation.ended", "chat", attempts=2, failure="TimeoutError", sent_at=BEGIN)
    await books.notice("operation.ended", "mail")
    await books.change("UPDATE notices SET created_at = now() - interval '2 minutes'")
    found = await backlog(database)
    assert (found.not_taken.number, found.given_up.number) == (1, 1)
    assert found.not_taken.oldest_seconds == pytest.approx(120, abs=30)
    assert [(each.kind, each.operation_id, each.failure) for each in found.refusals] == [
        ("approval.asked for chat", "op_1", "status 500")
    ]
    assert [(each.kind, each.failure) for each in found.lost] == [("approval.granted for chat", "status 410")]
    assert (found.due.number, found.failing.number, found.set_aside.number) == (0, 0, 0)


async def test_of_much_poison_only_the_oldest_few_are_named_and_all_are_counted(
    books: Books, database: Database
) -> None:
    await books.operation()
    for _ in range(7):
        await books.message("gibberish", failure="undeliverable")
    await books.change("UPDATE outbox SET set_aside_at = now()")
    found = await backlog(database)
    assert (found.set_aside.number, len(found.poison)) == (7, 5)
    ids = [each.message_id for each in found.poison]
    assert ids == sorted(ids)


# -- as it is called


async def verified(dsn: str | None, *options: str) -> subprocess.CompletedProcess[str]:
    """With that one setting and no other."""
    return await told(("verify", *options), {} if dsn is None else {"ONCEWARD_POSTGRES_DSN": dsn})


@pytest.mark.parametrize("role", ["onceward_worker", "onceward_door", "onceward_owner"])
async def test_with_the_database_alone_it_says_that_all_is_sound(books: Books, stack: Stack, role: str) -> None:
    await books.refund()
    await books.operation("op_2", "manual_review")
    ended = await verified(stack.dsn(role))
    assert (ended.returncode, ended.stderr) == (0, "")
    lines = ended.stdout.splitlines()
    assert lines[-1] == "verify: sound, 2 operations, 1 in manual review"
    for name in NAMES:
        assert any(f"ok  {name.replace('_', ' ')} " in line for line in lines), name


async def test_what_is_broken_ends_it_with_one_and_is_named_in_the_last_line(books: Books, stack: Stack) -> None:
    await books.refund()
    await call_after_the_end(books)
    ended = await verified(stack.dsn("onceward_worker"))
    assert ended.returncode == 1
    assert ended.stdout.splitlines()[-1] == "verify: BROKEN: handler calls after refusal (1)"


async def test_what_a_provider_ran_unasked_ends_it_with_one_and_is_told_as_its_doing(
    books: Books, stack: Stack
) -> None:
    await books.refund()
    await books.hosted_call("mcp_\x1b[31m1", "hosted_call_not_allowed")
    ended = await verified(stack.dsn("onceward_worker"))
    assert ended.returncode == 1
    assert ended.stdout.splitlines()[-1] == (
        "verify: NOT OUR DOING: a provider ran what it was not allowed to (1); "
        "our own rows are sound, 1 operations, 0 in manual review"
    )
    assert "1 broken: openai-responses wiki.replace_page mcp_?[31m1" in ended.stdout


async def test_as_json_it_tells_the_same_to_a_program(books: Books, stack: Stack) -> None:
    await books.refund()
    await second_result(books)
    ended = await verified(stack.dsn("onceward_worker"), "--json")
    told: dict[str, Any] = json.loads(ended.stdout)
    assert (ended.returncode, told["sound"], told["operations"]) == (1, False, 1)
    assert [each["name"] for each in told["invariants"]] == list(NAMES)
    assert [each["name"] for each in told["invariants"] if not each["holds"]] == ["terminal_results_per_operation"]


async def test_in_a_snapshot_nothing_can_be_changed(books: Books, database: Database) -> None:
    await books.operation()
    with pytest.raises(InternalError) as refused:
        async with snapshot(database) as connection:
            await connection.execute(text("UPDATE operations SET state = 'started'"))
    assert isinstance(refused.value.orig, ReadOnlySqlTransaction)


async def test_where_it_cannot_look_it_says_so_in_one_sentence(stack: Stack) -> None:
    for dsn, sentence in (
        ("postgresql://nobody:hunter2@127.0.0.1:1/onceward", UNANSWERED),
        (stack.dsn("onceward_relay"), UNREADABLE),
        (stack.dsn("postgres", "postgres"), UNREADABLE),
    ):
        ended = await verified(dsn)
        assert (ended.returncode, ended.stdout, ended.stderr.strip()) == (2, "", sentence)
        assert_one_sentence(ended.stderr.strip())
    unset = await verified(None)
    assert (unset.returncode, unset.stdout) == (2, "")
    assert "ONCEWARD_POSTGRES_DSN (expected " in unset.stderr


async def test_figures_for_a_program_are_given_of_nothing_else() -> None:
    command = [sys.executable, "-m", "worker", "--json"]
    ended = await asyncio.to_thread(subprocess.run, command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1] == "python -m worker: error: unrecognized arguments: --json"
