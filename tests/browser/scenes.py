"""What is photographed: a situation, the page that shows it, and what must be seen there. One page, one line."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from urllib.parse import quote

from tests.faults.refunds import Refund
from tests.faults.test_the_console import give_up_looking
from tests.support.onceward import Onceward
from tests.support.proposals import fresh
from tests.support.responses import call
from tests.support.waiting import until
from workflows import contracts

Place = AbstractAsyncContextManager[str]
"""The address of a page, good as long as the situation is kept."""

WORDS = "User Metadata"
"""The tab of a workflow's page on which the console shows what the workflow says."""

UNSEEN = {"on": "lookup", "do": "503", "times": None}
LOST = {"on": "refund", "do": "commit-then-drop"}
RESTING = {"on": "refund", "do": "429", "seconds": 900}


@dataclass(frozen=True)
class Scene:
    """One picture. `person` signs in to the back office; without one it is a page of the console, opened at `tab`."""

    name: str
    place: Callable[[Onceward], Place]
    seen: str
    person: str = ""
    tab: str = ""


def office(onceward: Onceward, path: str) -> str:
    return f"{onceward.stack.links.back_office}/{path}"


def console(onceward: Onceward, workflow_id: str) -> str:
    return f"{onceward.stack.links.console}/{workflow_id}"


@asynccontextmanager
async def inbox(onceward: Onceward) -> AsyncIterator[str]:
    """One refund waits for a person."""
    await Refund.proposed(onceward, order_id="O-17")
    yield onceward.stack.links.back_office


@asynccontextmanager
async def approval(onceward: Onceward) -> AsyncIterator[str]:
    """The question about a refund."""
    refund = await Refund.proposed(onceward)
    question = (await onceward.approvals(refund.operation_id))[-1]
    yield office(onceward, f"approvals/{question.approval_id}")


@asynccontextmanager
async def operation(onceward: Onceward) -> AsyncIterator[str]:
    """A refund that was approved and made."""
    refund = await Refund.approved(onceward)
    await refund.require_once()
    yield office(onceward, f"operations/{refund.operation_id}")


@asynccontextmanager
async def waits_for_a_person(onceward: Onceward) -> AsyncIterator[str]:
    """The workflow of a refund that nobody has decided."""
    refund = await Refund.proposed(onceward)
    yield console(onceward, refund.operation_id)


@asynccontextmanager
async def in_doubt(onceward: Onceward, *, given_up: bool = False) -> AsyncIterator[Refund]:
    """A refund whose reply was lost, and which cannot be looked up."""
    refund = await Refund.proposed(onceward)
    async with onceward.provider.switched(LOST, UNSEEN):
        await refund.approve()
        await onceward.until(refund.operation_id, "unconfirmed")
        if given_up:
            await give_up_looking(refund)
            await onceward.until(refund.operation_id, "manual_review")
        yield refund


@asynccontextmanager
async def looks_it_up(onceward: Onceward) -> AsyncIterator[str]:
    """The workflow of a refund whose outcome is not known."""
    async with in_doubt(onceward) as refund:
        yield console(onceward, refund.operation_id)


@asynccontextmanager
async def asks_an_operator(onceward: Onceward) -> AsyncIterator[str]:
    """The workflow of a refund that nobody could find out."""
    async with in_doubt(onceward, given_up=True) as refund:
        yield console(onceward, refund.operation_id)


@asynccontextmanager
async def review(onceward: Onceward) -> AsyncIterator[str]:
    """The page on which an operator says what they have found."""
    async with in_doubt(onceward, given_up=True) as refund:
        yield office(onceward, f"operations/{refund.operation_id}")


@asynccontextmanager
async def stuck(onceward: Onceward) -> AsyncIterator[str]:
    """What does not go on, with a refund that nobody could find out."""
    async with in_doubt(onceward, given_up=True):
        yield office(onceward, "stuck")


@asynccontextmanager
async def audit_log(onceward: Onceward) -> AsyncIterator[str]:
    """What was told of a refund that was approved and made."""
    refund = await Refund.approved(onceward)
    await refund.require_once()
    yield office(onceward, f"audit?operation={refund.operation_id}")


@asynccontextmanager
async def invariants(onceward: Onceward) -> AsyncIterator[str]:
    """Whether every promise holds."""
    await (await Refund.approved(onceward)).require_once()
    yield office(onceward, "invariants")


@asynccontextmanager
async def rests(onceward: Onceward) -> AsyncIterator[str]:
    """The workflow of a refund that the provider does not want to hear of for a while."""
    refund = await Refund.proposed(onceward)
    async with onceward.provider.switched(RESTING):
        await refund.approve()
        await until(lambda: onceward.provider.posts(refund.operation_id), lambda number: number == 1)
        yield console(onceward, refund.operation_id)


@asynccontextmanager
async def keeps_the_order(onceward: Onceward) -> AsyncIterator[str]:
    """The workflow of a response with two refunds, of which the first waits for a person."""
    orders = [await onceward.provider.add_order() for _ in range(2)]
    calls = [call("refund_payment", await onceward.provider.refund_arguments(order), fresh("call")) for order in orders]
    await onceward.turn(*calls, wait_seconds=0)
    query = f"WorkflowType = '{contracts.EXECUTE_TURN}' AND ExecutionStatus = 'Running'"

    async def turns() -> list[str]:
        return [found.id async for found in onceward.temporal.list_workflows(query)]

    yield console(onceward, (await until(turns, bool))[0])


@asynccontextmanager
async def found_by_a_query(onceward: Onceward) -> AsyncIterator[str]:
    """The list of all that wait for people in one tenant."""
    query = "OncewardTenant = 'tenant-a' AND OncewardWaitingFor = 'approval'"
    yield f"{onceward.stack.links.console}?query={quote(query)}"


SCENES = (
    Scene("inbox", inbox, "Refund a payment", "approver-1"),
    Scene("approval", approval, "Approve", "approver-1"),
    Scene("operation", operation, "Done", "approver-1"),
    Scene("review", review, "evidence", "operator-1"),
    Scene("stuck", stuck, "Needs an operator", "operator-1"),
    Scene("audit-log", audit_log, "By support-agent", "auditor-1"),
    Scene("invariants", invariants, "Every promise holds", "operator-1"),
    Scene("console-approval", waits_for_a_person, "Waiting for a person", tab=WORDS),
    Scene("console-reconciliation", looks_it_up, "The outcome is not known", tab=WORDS),
    Scene("console-operator", asks_an_operator, "Waiting for an operator", tab=WORDS),
    Scene("console-resting", rests, "Leaving the downstream alone", tab=WORDS),
    Scene("console-turn", keeps_the_order, "Waiting for write 1 of 2", tab=WORDS),
    Scene("console-query", found_by_a_query, "op_"),
)
