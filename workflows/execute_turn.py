"""All calls of a response that holds a write and something else: reads first, then the writes in their order.

The order is kept here and enforced by the gate: a write's own record names what must have ended before it, so one that
is started in another way waits all the same, and one whose forerunner did not succeed is refused. A turn that is lost
costs time and nothing else.
"""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ActivityError, ChildWorkflowError, WorkflowAlreadyStartedError, is_cancelled_exception
from temporalio.workflow import ChildWorkflowCancellationType, ParentClosePolicy

from workflows import attributes, contracts, sentences
from workflows.calling import call
from workflows.messages import Ending, Followed, FollowOrder, OperationRef, TurnEnding, TurnRef

FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=10), timedelta(minutes=10)
"""Between two looks for the end of a write that somebody else carries, doubled each time."""


@workflow.defn(name=contracts.EXECUTE_TURN)
class ExecuteTurn:
    """Follow the reads, then carry each write to its end before the next one begins."""

    @workflow.init
    def __init__(self, turn: TurnRef) -> None:
        self._turn = turn

    @workflow.run
    async def run(self, turn: TurnRef) -> TurnEnding:
        """Return once every write has ended."""
        await self._reads()
        return TurnEnding([await self._write(place) for place in range(len(turn.writes))])

    async def _reads(self) -> None:
        reads = self._turn.reads
        if self._turn.one_by_one:
            for place, read in enumerate(reads, start=1):
                workflow.set_current_details(sentences.reading(place, len(reads)))
                await self._read(read)
        elif reads:
            workflow.set_current_details(sentences.following(len(reads), workflow.now()))
            await self._follow(reads)

    async def _read(self, ref: OperationRef) -> None:
        try:
            await call(contracts.READ, ref, Ending, schedule_to_close_timeout=contracts.READ_DEADLINE)
        except ActivityError as error:
            # Whoever asks for it again starts it again; the others do not wait for that.
            _raise_if_cancelled(error)

    async def _write(self, place: int) -> str:
        ref, tools = self._turn.writes[place], self._turn.tools
        workflow.set_current_details(sentences.writing(place + 1, tools, ref.operation_id, workflow.now()))
        try:
            ending: Ending = await workflow.execute_child_workflow(
                contracts.EXECUTE_OPERATION,
                ref,
                id=ref.operation_id,
                result_type=Ending,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
                # It goes on whatever becomes of its turn.
                parent_close_policy=ParentClosePolicy.ABANDON,
                cancellation_type=ChildWorkflowCancellationType.ABANDON,
                search_attributes=attributes.of_operation(tools[place], self._turn.tenant),
                static_summary=attributes.summary(tools[place], self._turn.tenant),
            )
        except (ChildWorkflowError, WorkflowAlreadyStartedError) as error:
            _raise_if_cancelled(error)
            return await self._end_of(ref)
        return ending.state

    async def _end_of(self, ref: OperationRef) -> str:
        """Wait for a write whose workflow is not ours: it was started before us, or anew after ours was lost."""
        pause = FIRST_PAUSE
        while True:
            ended = await self._follow([ref])
            if ended:
                return ended[0]
            if workflow.info().is_continue_as_new_suggested():
                # What has ended meanwhile is found ended at once.
                workflow.continue_as_new(self._turn)
            await workflow.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _follow(self, refs: list[OperationRef]) -> list[str]:
        order = FollowOrder([ref.operation_id for ref in refs], contracts.FOLLOW_PATIENCE.total_seconds())
        followed = await call(contracts.FOLLOW, order, Followed)
        return followed.states


def _raise_if_cancelled(error: BaseException) -> None:
    """A wish that the turn stop ends it; that the workflow of one of its writes was cancelled does not."""
    if is_cancelled_exception(error) and workflow.cancellation_reason() is not None:
        raise error
