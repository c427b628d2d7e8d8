"""One approved logical operation, from proposal to its true end.

The workflow keeps the order of steps and waits for as long as it takes; what is true is kept in the database and
checked by each step. A repeated, reset or re-run workflow therefore cannot repeat an effect.
"""

from datetime import timedelta
from typing import TypeVar

from temporalio import workflow
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

from workflows import contracts
from workflows.messages import Ending, Judgement, OperationRef, Report, SettleOrder, Step

T = TypeVar("T")

STATE = SearchAttributeKey.for_keyword("OncewardState")
WAITING_FOR = SearchAttributeKey.for_keyword("OncewardWaitingFor")

LOOK_AGAIN = timedelta(seconds=15)
"""Pause after a look that itself failed; the look's own answer says how long otherwise."""


@workflow.defn(name=contracts.EXECUTE_OPERATION)
class ExecuteOperation:
    """validate → (a person decides) → validate again → apply → reconcile → settle."""

    @workflow.init
    def __init__(self, ref: OperationRef) -> None:
        self._ref = ref
        self._nudged = False
        self._marked = ("", "")

    @workflow.run
    async def run(self, ref: OperationRef) -> Ending:  # noqa: ARG002 - the initialiser has it
        """Carry the operation to its end; the input names it, everything else is read from the database."""
        refusal = await self._pass_the_gate()
        while refusal is None:
            report = await self._carry_out()
            if report.step is Step.SETTLE:
                return await self._settle(report.code)
            refusal = await self._pass_the_gate()
        return await self._settle(refusal)

    @workflow.signal(name=contracts.NUDGE)
    def nudge(self) -> None:
        """Something changed in the database: a decision, a resolution."""
        self._nudged = True

    async def _pass_the_gate(self) -> str | None:
        """Return None when the effect may be made, else the code of the refusal."""
        while True:
            judgement = await self._validate()
            if judgement.step is Step.GO:
                return None
            if judgement.step is Step.SETTLE:
                return judgement.code
            await self._wait_for_a_person(judgement)

    async def _carry_out(self) -> Report:
        """Return when an outcome is on record, or the gate must look again before anything is sent."""
        report = await self._apply()
        while report.step in (Step.SEND_AGAIN, Step.RECONCILE):
            await self._pause(report)
            report = await (self._apply() if report.step is Step.SEND_AGAIN else self._reconcile())
        return report

    async def _validate(self) -> Judgement:
        self._say("Checking the call against the current state.")
        try:
            return await self._call(contracts.VALIDATE, self._ref, Judgement)
        except ActivityError as error:
            _raise_if_cancelled(error)
            return Judgement(Step.SETTLE, code=_code(error))

    async def _apply(self) -> Report:
        self._say("Making the effect.")
        try:
            return await self._call(contracts.APPLY, self._ref, Report)
        except ActivityError as error:
            _raise_if_cancelled(error)
            # The worker died or answered too late: the write may have landed.
            return Report(Step.RECONCILE)

    async def _reconcile(self) -> Report:
        try:
            return await self._call(contracts.RECONCILE, self._ref, Report)
        except ActivityError as error:
            _raise_if_cancelled(error)
            return Report(Step.RECONCILE, pause_seconds=LOOK_AGAIN.total_seconds())

    async def _settle(self, refusal: str | None) -> Ending:
        self._say("Recording the result.")
        ending = await self._call(contracts.SETTLE, SettleOrder(self._ref, refusal), Ending)
        self._mark(ending.state, "nothing")
        self._say(f"Ended: {ending.state}{f' ({ending.code})' if ending.code else ''}.")
        return ending

    async def _wait_for_a_person(self, judgement: Judgement) -> None:
        self._mark("awaiting_approval", "approval")
        self._say(
            f"Waiting since {workflow.now():%Y-%m-%d %H:%M} UTC for {judgement.waiting_for}. "
            "Approve or deny it in the back office; nothing has been sent."
        )
        await self._until_nudged(judgement.wait_seconds)

    async def _pause(self, report: Report) -> None:
        if report.step is Step.SEND_AGAIN:
            self._say(f"Nothing happened yet ({report.code}); sending again under the same key.")
        elif report.needs_person:
            self._mark("manual_review", "operator")
            self._say("The outcome could not be found out. An operator must look; nothing is sent meanwhile.")
        else:
            self._mark("unconfirmed", "reconciliation")
            self._say("The outcome is not known. Looking it up at the downstream; nothing is sent meanwhile.")
        await self._until_nudged(report.pause_seconds)

    async def _until_nudged(self, seconds: float) -> None:
        if seconds > 0:
            try:
                await workflow.wait_condition(lambda: self._nudged, timeout=timedelta(seconds=seconds))
            except TimeoutError:
                return
        self._nudged = False

    async def _call(self, name: str, message: object, answer: type[T]) -> T:
        call = contracts.CALLS[name]
        result: T = await workflow.execute_activity(
            name,
            message,
            result_type=answer,
            start_to_close_timeout=call.start_to_close,
            heartbeat_timeout=contracts.HEARTBEAT_TIMEOUT,
            retry_policy=call.retry,
        )
        return result

    def _say(self, words: str) -> None:
        workflow.set_current_details(words)

    def _mark(self, state: str, waiting_for: str) -> None:
        if self._marked == (state, waiting_for):
            return
        self._marked = (state, waiting_for)
        workflow.upsert_search_attributes([STATE.value_set(state), WAITING_FOR.value_set(waiting_for)])


def _code(error: ActivityError) -> str:
    """A refusal of ours keeps its code; anything else means that the state could not be seen."""
    cause = error.cause
    refused = isinstance(cause, ApplicationError) and cause.non_retryable and cause.type
    return refused or "upstream_unavailable"


def _raise_if_cancelled(error: ActivityError) -> None:
    if is_cancelled_exception(error):
        raise error
