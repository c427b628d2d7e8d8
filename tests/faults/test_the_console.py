"""Ways back from what was done in Temporal's console; `test_the_console_matrix` tries every act everywhere."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update
from temporalio.client import WorkflowExecutionStatus

from adapters.postgres.tables import claims, operations, outbox
from tests.faults.console import (
    Console,
    reset_to_the_first_task,
    say_that_the_step_is_done,
    until_closed,
)
from tests.faults.moments import MOMENTS
from tests.faults.refunds import Refund
from tests.support.onceward import Onceward
from tests.support.proposals import fresh
from tests.support.waiting import until
from workflows import contracts
from workflows.messages import Ending, OperationRef


async def test_an_operation_whose_workflow_was_terminated_is_carried_on_by_the_decision(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    await Console(refund).handle.terminate("a test")
    await refund.approve()
    await refund.require_once(posts=1)


async def test_an_uncertain_operation_whose_workflow_was_terminated_is_found_by_the_relay(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    unseen = {"on": "lookup", "do": "503", "times": None}
    async with faulty.provider.switched({"on": "refund", "do": "commit-then-drop"}, unseen):
        await refund.approve()
        await faulty.until(refund.operation_id, "unconfirmed")
        # Otherwise it might be a message that is still to go out that starts it.
        await until(lambda: messages_to_go_out(refund), lambda number: number == 0)
        await Console(refund).handle.terminate("a test")
    await let_its_turn_come(refund)
    await refund.require_once(posts=1)


async def messages_to_go_out(refund: Refund) -> int:
    due = select(outbox).where(outbox.c.operation_id == refund.operation_id, outbox.c.sent_at.is_(None))
    return len(await refund.onceward.rows(due))


async def let_its_turn_come(refund: Refund) -> None:
    """As if the relay had not looked at it for an hour."""
    mine = operations.c.operation_id == refund.operation_id
    async with refund.onceward.owner.transaction() as connection:
        await connection.execute(
            update(operations).where(mine).values(swept_at=operations.c.swept_at - timedelta(hours=1))
        )


async def test_a_reset_of_an_uncertain_operation_sends_nothing_even_when_the_key_is_forgotten(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    unseen = {"on": "lookup", "do": "503", "times": None}
    lost = {"on": "refund", "do": "commit-then-drop"}
    async with faulty.provider.switched(lost, unseen, key_lifetime_seconds=0, quote_single_use=False):
        await refund.approve()
        await faulty.until(refund.operation_id, "unconfirmed")
        await reset_to_the_first_task(Console(refund))
        await until(lambda: looks(refund), lambda seen: seen >= (True, 1))
        assert await faulty.provider.effects(refund.operation_id) == 1
    await refund.require_once(posts=1)


async def looks(refund: Refund) -> tuple[bool, int]:
    """Whether the run that a reset began is the one at work, and how often it has had the outcome looked up."""
    history = await Console(refund).handle.fetch_history()
    scheduled = (event.activity_task_scheduled_event_attributes.activity_type.name for event in history.events)
    return (await runs(refund) > 1, sum(name == contracts.RECONCILE for name in scheduled))


async def runs(refund: Refund) -> int:
    """Runs under the operation's id, as the console lists them."""
    listed = refund.onceward.temporal.list_workflows(f"WorkflowId = '{refund.operation_id}'")
    return len([each async for each in listed])


async def test_the_write_started_by_hand_without_an_approval_sends_nothing(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    ref = OperationRef(refund.operation_id, (await faulty.approvals(refund.operation_id))[0].intent_hash)
    call = contracts.CALLS[contracts.APPLY]
    await faulty.temporal.execute_activity(
        contracts.APPLY, ref, id=fresh("by-hand"), task_queue="onceward", start_to_close_timeout=call.start_to_close
    )
    assert await faulty.provider.posts(refund.operation_id) == 0
    assert await faulty.handler_calls(refund.operation_id) == 0
    await refund.approve()
    await refund.require_once(posts=1)


async def test_an_operation_whose_workflow_was_made_to_end_before_it_has_is_found_by_the_relay(
    faulty: Onceward,
) -> None:
    """The workflow believes that the result is recorded; the database knows that it is not."""
    refund = await Refund.proposed(faulty)
    console = Console(refund)
    async with MOMENTS["recorded and not settled"](faulty, refund):
        await until(console.step, lambda step: step is not None and step.activity_type.name == contracts.SETTLE)
        await say_that_the_step_is_done(console, Ending("succeeded"))
        assert (await until_closed(console.handle)).status is WorkflowExecutionStatus.COMPLETED
        assert await faulty.state(refund.operation_id) == "started"
    await let_its_turn_come(refund)
    await refund.require_once(posts=1)


async def test_the_pause_that_the_provider_asked_for_is_kept_whoever_signals(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    async with faulty.provider.switched({"on": "refund", "do": "429", "seconds": 5}):
        await refund.approve()
        await until(lambda: faulty.provider.posts(refund.operation_id), lambda number: number == 1)
        for _ in range(5):
            await Console(refund).handle.signal(contracts.NUDGE)
        await refund.require_once(posts=2)
    first, second = (
        datetime.fromisoformat(post["at"]) for post in (await faulty.provider.ledger(refund.operation_id))["posts"]
    )
    assert (second - first).total_seconds() >= 5


# -- finding what is stuck

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
QUERIES = sorted(set(re.findall(r"`(\w+ (?:=|<|>|IN|IS) [^`]+)`", PAGE)))
FINDING = re.findall(r"^\| [^|`]+ \| `([^`]+)` \|$", PAGE.split("## Finding what is stuck")[1], re.MULTILINE)


@pytest.mark.parametrize("query", QUERIES)
async def test_a_query_of_the_operators_page_is_understood(faulty: Onceward, query: str) -> None:
    await faulty.temporal.count_workflows(query)


async def test_what_waits_is_found_by_what_it_waits_for(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    await until_found(refund, waiting_for("approval"))
    unseen = {"on": "lookup", "do": "503", "times": None}
    async with faulty.provider.switched({"on": "refund", "do": "commit-then-drop"}, unseen):
        await refund.approve()
        await until_found(refund, waiting_for("reconciliation"))
        await give_up_looking(refund)
        await until_found(refund, waiting_for("operator"))
    await Console(refund).handle.signal(contracts.NUDGE)
    await refund.require_once(posts=1)


async def test_all_that_wait_for_long_in_one_tenant_are_found_by_one_query(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    (query,) = (query for query in FINDING if "OncewardTenant" in query and "OncewardWaitingSince" in query)
    (moment,) = re.findall(r"'(20[^']+)'", query)
    now = datetime.now(UTC)
    await until_found(refund, query.replace(moment, f"{now + timedelta(seconds=1):%Y-%m-%dT%H:%M:%SZ}"))
    an_hour_ago = query.replace(moment, f"{now - timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}")
    found = await faulty.temporal.count_workflows(f"{an_hour_ago} AND WorkflowId = '{refund.operation_id}'")
    assert found.count == 0
    elsewhere = await faulty.temporal.count_workflows(query.replace("'tenant-a'", "'tenant-b'"))
    assert elsewhere.count == 0


def waiting_for(what: str) -> str:
    """As the page has it."""
    query, *_ = (query for query in FINDING if query.startswith(f"OncewardWaitingFor = '{what}'"))
    return str(query)


async def until_found(refund: Refund, query: str) -> None:
    mine = f"{query} AND WorkflowId = '{refund.operation_id}'"
    await until(lambda: refund.onceward.temporal.count_workflows(mine), lambda found: found.count == 1)


async def give_up_looking(refund: Refund) -> None:
    """As if the send had been long ago; only the clock is helped along."""
    mine = claims.c.operation_id == refund.operation_id
    earlier = {name: claims.c[name] - timedelta(hours=1) for name in ("first_sent_at", "last_sent_at")}
    long_ago = update(claims).where(mine).values(earlier)
    async with refund.onceward.owner.transaction() as connection:
        await connection.execute(long_ago)
    await Console(refund).handle.signal(contracts.NUDGE)
