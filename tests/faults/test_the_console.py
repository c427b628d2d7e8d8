"""What an operator can do in Temporal's console: nothing there repeats an effect or strands an operation."""

from datetime import datetime

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import WorkflowHandle

from tests.faults.refunds import Refund
from tests.support.onceward import Onceward
from tests.support.proposals import fresh
from tests.support.waiting import until
from workflows import contracts
from workflows.messages import OperationRef


def workflow_of(refund: Refund) -> WorkflowHandle[object, object]:
    return refund.onceward.temporal.get_workflow_handle(refund.operation_id)


async def reset_to_the_beginning(refund: Refund) -> None:
    """As the console does: a new run from the first workflow task on."""
    description = await workflow_of(refund).describe()
    await refund.onceward.temporal.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=refund.onceward.temporal.namespace,
            workflow_execution=WorkflowExecution(workflow_id=refund.operation_id, run_id=description.run_id),
            reason="a test",
            workflow_task_finish_event_id=4,
            request_id=fresh("reset"),
        )
    )


async def test_an_operation_whose_workflow_was_terminated_is_carried_on_by_the_decision(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    await workflow_of(refund).terminate("a test")
    await refund.approve()
    await refund.require_once(posts=1)


async def test_an_operation_whose_workflow_was_cancelled_is_carried_on_by_a_redelivery(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    await workflow_of(refund).cancel()
    await until(lambda: status_of(refund), lambda status: status == "CANCELED")
    await refund.hand_in_again(wait_seconds=0)
    await until(lambda: status_of(refund), lambda status: status == "RUNNING")
    await refund.approve()
    await refund.require_once(posts=1)


async def status_of(refund: Refund) -> str:
    status = (await workflow_of(refund).describe()).status
    return status.name if status else ""


async def test_an_uncertain_operation_whose_workflow_was_terminated_is_found_by_the_relay(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    unseen = {"on": "lookup", "do": "503", "times": None}
    async with faulty.provider.switched({"on": "refund", "do": "commit-then-drop"}, unseen):
        await refund.approve()
        await faulty.until(refund.operation_id, "unconfirmed")
        await workflow_of(refund).terminate("a test")
    assert await faulty.until(refund.operation_id, "succeeded", within=90) == "succeeded"
    await refund.require_once(posts=1)


async def test_a_reset_of_an_uncertain_operation_sends_nothing_even_when_the_key_is_forgotten(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    unseen = {"on": "lookup", "do": "503", "times": None}
    lost = {"on": "refund", "do": "commit-then-drop"}
    async with faulty.provider.switched(lost, unseen, key_lifetime_seconds=0, quote_single_use=False):
        await refund.approve()
        await faulty.until(refund.operation_id, "unconfirmed")
        await reset_to_the_beginning(refund)
        await until(lambda: looks(refund), lambda seen: seen >= (True, 1))
        assert await faulty.provider.effects(refund.operation_id) == 1
    await refund.require_once(posts=1)


async def looks(refund: Refund) -> tuple[bool, int]:
    """Whether the run that a reset began is the one at work, and how often it has had the outcome looked up."""
    history = await workflow_of(refund).fetch_history()
    scheduled = (event.activity_task_scheduled_event_attributes.activity_type.name for event in history.events)
    return (await runs(refund) > 1, sum(name == contracts.RECONCILE for name in scheduled))


async def runs(refund: Refund) -> int:
    """Runs under the operation's id, as the console lists them."""
    listed = refund.onceward.temporal.list_workflows(f"WorkflowId = '{refund.operation_id}'")
    return len([each async for each in listed])


async def test_a_reset_of_a_finished_operation_ends_as_it_had_ended(faulty: Onceward) -> None:
    refund = await Refund.approved(faulty)
    first = await refund.require_once(posts=1)
    await reset_to_the_beginning(refund)
    await until(lambda: status_of(refund), lambda status: status == "COMPLETED")
    assert (await refund.require_once(posts=1)).only == first.only


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


async def test_the_pause_that_the_provider_asked_for_is_kept_whoever_signals(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    async with faulty.provider.switched({"on": "refund", "do": "429", "seconds": 5}):
        await refund.approve()
        await until(lambda: faulty.provider.posts(refund.operation_id), lambda number: number == 1)
        for _ in range(5):
            await workflow_of(refund).signal(contracts.NUDGE)
        await refund.require_once(posts=2)
    first, second = (
        datetime.fromisoformat(post["at"]) for post in (await faulty.provider.ledger(refund.operation_id))["posts"]
    )
    assert (second - first).total_seconds() >= 5
