"""What ended long ago gives up its content, and whoever hands its response in again is told how it truly ended."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, insert, select, text, update

from adapters.intake.ports import Receipt, Turn
from adapters.postgres.engine import Database
from adapters.postgres.invariants import PostgresInvariants
from adapters.postgres.pruning import PostgresPruning, Pruned
from adapters.postgres.sealing import PostgresSealing
from adapters.postgres.tables import claims, events, notices, operations, outbox, verdicts
from tests.support.acts import ATTEMPT_SECONDS, LEASE_SECONDS, binding_of
from tests.support.benches import PostgresBench
from tests.support.commands import told
from tests.support.proposals import CALLER, fresh, refund, turn_of
from tests.support.waiting import until
from worker.audit_verdict import looked_over
from worker.dev.stack import Stack
from workflows.domain.approval import Clearance
from workflows.domain.effect import ABANDONED, Effect
from workflows.domain.errors import StoreUnavailable
from workflows.domain.gate import Layer, Verdict
from workflows.domain.lifecycle import State
from workflows.domain.operation import Settlement

MADE = Effect.applied("rf-204", {"refund_id": "rf-204", "amount": 12_000, "note": "of a customer"})
LOOKED_AT = [Verdict(layer) for layer in (Layer.BUSINESS, Layer.AUTHORIZATION, Layer.RISK)]
A_MONTH = timedelta(days=30)
LONG_AGO = timedelta(days=31)
KEPT = {"reference": "rf-204", "no_longer_kept": True}


class Attic:
    """Refunds that ended long ago, and whoever prunes them."""

    def __init__(self, bench: PostgresBench, owner: Database, relay: Database) -> None:
        self.bench, self.owner, self.pruning = bench, owner, PostgresPruning(relay)

    async def refund(self, *, ended: timedelta = LONG_AGO) -> tuple[Turn, str]:
        """A refund that was made and settled so long ago; everything that was sent because of it has been taken."""
        turn = turn_of(refund(order_id=fresh("O")))
        (registered,) = await self.bench.inbox.register(turn)
        operation = await self.bench.operations.load(registered.operation_id or "")
        await self.bench.operations.record(operation, LOOKED_AT, Clearance(binding_of(operation)))
        claim = await self.bench.claims.acquire(operation.operation_id, "owner-1", LEASE_SECONDS)
        await self.bench.claims.begin_send(claim, ATTEMPT_SECONDS)
        await self.bench.claims.conclude(claim, MADE)
        ending = Settlement(State.SUCCEEDED, data=MADE.data, reference=MADE.reference)
        await self.bench.operations.settle(operation.operation_id, ending)
        await self.aged(operation.operation_id, ended)
        return turn, operation.operation_id

    async def aged(self, operation_id: str, by: timedelta) -> None:
        """It ended that much earlier, and all of its messages have gone out."""
        async with self.owner.transaction() as connection:
            mine = update(operations).where(operations.c.operation_id == operation_id)
            await connection.execute(mine.values(created_at=func.now() - by, ended_at=operations.c.ended_at - by))
            sent = update(outbox).where(outbox.c.operation_id == operation_id).values(sent_at=func.now())
            await connection.execute(sent)

    async def prune(self, older_than: timedelta = A_MONTH) -> Pruned:
        total = Pruned()
        while (found := await self.pruning.prune(older_than)).operations:
            total += found
        return total

    async def row(self, operation_id: str) -> object:
        (row,) = await self.bench.rows(select(operations).where(operations.c.operation_id == operation_id))
        return row

    async def content(self, operation_id: str) -> tuple[str, str | None, str | None]:
        """Arguments, result and what the claim has of the effect."""
        (row,) = await self.bench.rows(
            select(operations.c.arguments, operations.c.result, claims.c.data)
            .join_from(operations, claims, isouter=True)
            .where(operations.c.operation_id == operation_id)
        )
        return row.arguments, row.result, row.data

    async def messages(self, operation_id: str) -> int:
        return len(await self.bench.rows(select(outbox).where(outbox.c.operation_id == operation_id)))

    async def unsound(self) -> dict[str, int]:
        return {each.name: each.broken for each in await PostgresInvariants(self.owner).all()}


@pytest.fixture
def attic(postgres_bench: PostgresBench, owner_database: Database, relay_database: Database) -> Attic:
    return Attic(postgres_bench, owner_database, relay_database)


async def test_the_content_is_gone_and_the_identity_and_the_end_stay(attic: Attic) -> None:
    _, operation_id = await attic.refund()
    before = await attic.bench.operations.load(operation_id)
    await attic.prune()
    after = await attic.bench.operations.load(operation_id)
    assert after == replace(before, arguments={}, result=KEPT)
    assert (after.state, after.reference) == (State.SUCCEEDED, "rf-204")
    _, _, of_the_claim = await attic.content(operation_id)
    assert of_the_claim == "{}"


async def test_the_same_response_finds_the_true_end_and_begins_nothing(attic: Attic) -> None:
    turn, operation_id = await attic.refund()
    await attic.prune()
    (again,) = await attic.bench.inbox.register(turn)
    assert (again.receipt, again.operation_id) == (Receipt.KNOWN, operation_id)
    standing = (await attic.bench.progress.standings(CALLER, [operation_id]))[operation_id]
    assert (standing.state, standing.reference, standing.data) == (State.SUCCEEDED, "rf-204", KEPT)
    assert await attic.bench.operations_of(turn.request_id) == [operation_id]
    assert await attic.messages(operation_id) == 0
    assert len(await attic.bench.rows(select(claims).where(claims.c.operation_id == operation_id))) == 1


async def test_another_content_under_the_same_ids_is_a_conflict_still(attic: Attic) -> None:
    turn, operation_id = await attic.refund()
    await attic.prune()
    (other,) = await attic.bench.inbox.register(turn_of(refund(amount=13_000), request_id=turn.request_id))
    assert other.receipt is Receipt.CONFLICT
    assert await attic.bench.operations_of(turn.request_id) == [operation_id]


async def test_another_settlement_is_answered_with_the_first_one(attic: Attic) -> None:
    _, operation_id = await attic.refund()
    await attic.prune()
    ending = await attic.bench.operations.settle(operation_id, Settlement.failed_with("internal_error"))
    assert (ending.state, ending.reference) == (State.SUCCEEDED, "rf-204")


async def test_what_is_open_is_never_pruned_however_old_it_is(attic: Attic) -> None:
    (registered,) = await attic.bench.inbox.register(turn_of(refund(order_id=fresh("O"))))
    operation_id = registered.operation_id or ""
    await attic.aged(operation_id, timedelta(days=400))
    before = await attic.row(operation_id)
    await attic.prune()
    assert await attic.row(operation_id) == before
    assert await attic.messages(operation_id) == 1


async def test_what_nobody_could_find_out_keeps_its_content(attic: Attic) -> None:
    _, operation_id = await attic.refund()
    async with attic.owner.transaction() as connection:
        given_up = update(operations).where(operations.c.operation_id == operation_id)
        await connection.execute(given_up.values(code=ABANDONED, state=State.FAILED_TERMINAL.value))
    before = await attic.content(operation_id)
    await attic.prune()
    assert await attic.content(operation_id) == before
    async with attic.owner.transaction() as connection:
        await connection.execute(given_up.values(code=None, state=State.SUCCEEDED.value))


@pytest.mark.parametrize(("ended", "older_than"), [(timedelta(days=29), A_MONTH), (timedelta(days=6), timedelta(0))])
async def test_what_ended_lately_is_not_pruned_whatever_is_asked(
    attic: Attic, ended: timedelta, older_than: timedelta
) -> None:
    _, operation_id = await attic.refund(ended=ended)
    before = await attic.content(operation_id)
    await attic.prune(older_than)
    assert await attic.content(operation_id) == before


async def test_a_message_that_somebody_has_not_taken_stays(attic: Attic) -> None:
    _, operation_id = await attic.refund()
    (told_of,) = await attic.bench.rows(
        select(outbox.c.message_id).where(outbox.c.operation_id == operation_id, outbox.c.kind == "event")
    )
    async with attic.owner.transaction() as connection:
        await connection.execute(insert(notices).values(message_id=told_of.message_id, receiver="crm"))
        taken = {"message_id": told_of.message_id, "receiver": "chat", "sent_at": func.now()}
        await connection.execute(insert(notices).values(taken))
    found = await attic.prune()
    assert await attic.messages(operation_id) == 1
    assert found.messages >= 1
    left = await attic.bench.rows(select(notices.c.receiver).where(notices.c.message_id == told_of.message_id))
    assert sorted(row.receiver for row in left) == ["chat", "crm"]


async def test_the_refusals_of_the_gate_stay_and_one_verdict_of_those_that_let_pass(attic: Attic) -> None:
    _, passed = await attic.refund()
    _, refused = await attic.refund()
    await attic.bench.operations.record(
        await attic.bench.operations.load(refused), [Verdict(Layer.BUSINESS, "quote_expired")], None
    )
    of_both = select(verdicts.c.operation_id, verdicts.c.layer).where(verdicts.c.operation_id.in_([passed, refused]))
    before = len([row for row in await attic.bench.rows(of_both) if row.operation_id == refused])
    await attic.prune()
    after = await attic.bench.rows(of_both)
    assert [row.layer for row in after if row.operation_id == passed] == [Layer.RISK.value]
    assert len([row for row in after if row.operation_id == refused]) == before


async def test_every_invariant_holds_as_before(attic: Attic) -> None:
    for _ in range(3):
        await attic.refund()
    before = await attic.unsound()
    assert (await attic.prune()).operations >= 3
    assert await attic.unsound() == before


async def test_the_audit_log_stays_whole_and_tells_of_the_pruning(attic: Attic, relay_database: Database) -> None:
    _, operation_id = await attic.refund()
    await sealed(relay_database)
    lines = select(events).where(events.c.operation_id == operation_id).order_by(events.c.event_id)
    before, faults = await attic.bench.rows(lines), (await looked_over(attic.owner)).faults
    known = {line.event_id for line in await attic.bench.rows(select(events.c.event_id))}
    await attic.prune()
    await sealed(relay_database)
    assert await attic.bench.rows(lines) == before
    assert (await looked_over(attic.owner)).faults == faults
    since = [line for line in await attic.bench.rows(select(events)) if line.event_id not in known]
    assert {(line.actor, line.what, line.written_by) for line in since} == {
        ("relay", "content.pruned", "onceward_relay")
    }


async def test_whoever_is_killed_half_way_has_done_all_of_a_batch_or_nothing_and_another_goes_on(
    attic: Attic, postgres: Stack
) -> None:
    ids = [(await attic.refund())[1] for _ in range(3)]
    doomed = Database(postgres.dsn("onceward_relay"), application_name="doomed", pool_size=1)
    superuser = Database(postgres.dsn("postgres", "onceward"), application_name="tests", pool_size=1)
    async with attic.owner.transaction() as connection:
        # The batch stops at the last thing that it does, which is to tell.
        await connection.execute(text("LOCK TABLE events IN ACCESS EXCLUSIVE MODE"))
        batch = asyncio.create_task(PostgresPruning(doomed).prune(A_MONTH))
        await until(lambda: waiting(superuser), bool)
        await superuser.rows(
            text("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'doomed'")
        )
    with pytest.raises(StoreUnavailable):
        await batch
    assert [(await attic.content(each))[0] == "{}" for each in ids] == [False] * 3
    assert (await attic.prune()).operations >= 3
    assert [(await attic.content(each))[0] for each in ids] == ["{}"] * 3
    await doomed.close()
    await superuser.close()


async def waiting(superuser: Database) -> int:
    asked = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'doomed' AND wait_event_type = 'Lock'"
    return int((await superuser.rows(text(asked)))[0][0])


async def test_the_command_prunes_to_the_end_and_says_what_it_did(attic: Attic, postgres: Stack) -> None:
    _, operation_id = await attic.refund()
    environment = {"ONCEWARD_POSTGRES_DSN": postgres.dsn("onceward_relay")}
    done = await told(("prune", "--older-than", "30"), environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("prune: ")
    assert (await attic.content(operation_id))[0] == "{}"
    again = await told(("prune", "--older-than", "30"), environment)
    assert again.stdout == "prune: 0 operations gave up their content; 0 messages, 0 notices and 0 verdicts removed\n"


@pytest.mark.parametrize("role", ["onceward_door", "onceward_worker"])
async def test_no_other_process_may_prune(postgres: Stack, role: str) -> None:
    refused = await told(("prune", "--older-than", "30"), {"ONCEWARD_POSTGRES_DSN": postgres.dsn(role)})
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert "must be the relay's" in refused.stderr


async def test_less_than_a_week_is_no_age(postgres: Stack) -> None:
    environment = {"ONCEWARD_POSTGRES_DSN": postgres.dsn("onceward_relay")}
    refused = await told(("prune", "--older-than", "6"), environment)
    assert refused.returncode == 2
    assert "at least 7" in refused.stderr


async def sealed(relay: Database) -> None:
    while await PostgresSealing(relay).seal():
        pass
