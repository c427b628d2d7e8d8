"""One approved logical operation, from proposal to its true end.

The workflow keeps the order of steps and waits for as long as it takes; what is true is kept in the database and
checked by each step. A repeated, reset or re-run workflow therefore cannot repeat an effect.
"""

from datetime import timedelta
from typing import TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, FailureError, is_cancelled_exception

from workflows import contracts, sentences
from workflows.calling import call, call_at_once
from workflows.messages import Ending, Judgement, OperationRef, Report, SettleOrder, Step
from workflows.page import NOTHING, Page

UNCONFIRMED = "unconfirmed"
"""The ending that is none: something was sent that may have happened."""

SUCCEEDED = "succeeded"

BEHIND = "earlier_call_open"
"""The gate's word for a call that waits for others of its turn, not for a person."""

T = TypeVar("T")

LOOK_AGAIN = timedelta(seconds=60)
"""Pause after a look that itself failed; the look's own answer says how long otherwise."""


@workflow.defn(name=contracts.EXECUTE_OPERATION)
class ExecuteOperation:
    """validate → (a person decides) → validate again → apply → reconcile → settle.

    On the fast path the steps between two waits are taken within one workflow task, none of them left out. The first
    sign of trouble ends it: from then on each step is an activity that everybody sees, with its attempts and failures.
    """

    @workflow.init
    def __init__(self, ref: OperationRef) -> None:
        self._ref = ref
        self._smooth = ref.fast_path
        self._swift = False
        self._nudged = False
        self._progress = ""
        self._page = Page()

    @workflow.run
    async def run(self, ref: OperationRef) -> Ending:  # noqa: ARG002 - the initialiser has it
        """Carry the operation to its end; the input names it, everything else is read from the database."""
        report = await self._through_the_gate()
        while True:
            if report.step is Step.SETTLE:
                ending = await self._settle(report.code)
                if ending.state != UNCONFIRMED:
                    return ending
                report = Report(Step.RECONCILE)
            elif report.step is Step.RECONCILE:
                self._begin_a_new_history_in_time()
                await self._until_the_next_look(report)
                report = await self._reconcile()
            else:
                await self._rest(report)
                report = await self._through_the_gate()

    @workflow.signal(name=contracts.NUDGE)
    def nudge(self) -> None:
        """Something changed in the database: a decision, a resolution."""
        self._nudged = True

    @workflow.query(name=contracts.PROGRESS)
    def progress(self) -> str:
        """How far a batch has come, in words; empty for an operation with one effect."""
        return self._progress

    async def _through_the_gate(self) -> Report:
        """Judge on the current state, wait for people as long as they take, and make the effect if it may be made."""
        while True:
            self._begin_a_new_history_in_time()
            judgement = await self._validate()
            if judgement.step is Step.GO:
                self._swift = judgement.swift
                report = await self._apply()
                self._smooth = self._smooth and report.step is Step.SETTLE
                return report
            if judgement.step is Step.SETTLE:
                return Report(Step.SETTLE, code=judgement.code)
            await self._wait(judgement)

    async def _validate(self) -> Judgement:
        self._page.say(sentences.CHECKING)
        try:
            return await self._step(contracts.VALIDATE, self._ref, Judgement)
        except ActivityError as error:
            _raise_if_cancelled(error)
            return Judgement(Step.SETTLE, code=_code(error))

    async def _apply(self) -> Report:
        self._begin_to_make_it()
        apply = call_at_once if self._smooth and self._swift else call
        try:
            report = await apply(contracts.APPLY, self._ref, Report)
            self._progress = report.progress or self._progress
            return report
        except FailureError as error:
            _raise_if_cancelled(error)
            # The worker died or answered too late: the write may have landed.
            return Report(Step.RECONCILE)

    async def _reconcile(self) -> Report:
        try:
            return await call(contracts.RECONCILE, self._ref, Report)
        except ActivityError as error:
            _raise_if_cancelled(error)
            return Report(Step.RECONCILE, pause_seconds=LOOK_AGAIN.total_seconds())

    async def _settle(self, refusal: str | None) -> Ending:
        self._page.say(sentences.RECORDING)
        ending = await self._step(contracts.SETTLE, SettleOrder(self._ref, refusal), Ending)
        if ending.state != UNCONFIRMED:
            self._mark_the_end(ending)
            self._page.say(sentences.ended(ending.state, ending.code))
        return ending

    async def _step(self, name: str, message: object, answer: type[T]) -> T:
        """Take a step that may be taken any number of times: at once while all goes well, otherwise in sight."""
        if self._smooth:
            try:
                return await call_at_once(name, message, answer)
            except FailureError as error:
                _raise_if_cancelled(error)
                self._smooth = False
                if self._swift:
                    self._page.mark("started", NOTHING)
        return await call(name, message, answer)

    async def _wait(self, judgement: Judgement) -> None:
        until = sentences.after(workflow.now(), judgement.wait_seconds)
        if judgement.code == BEHIND:
            self._page.mark("proposed", "earlier_call")
            self._page.say(sentences.earlier_call(judgement.waiting_for, self._page.since, until))
            await self._until_nudged(judgement.wait_seconds, "The next look at what comes before")
        else:
            self._page.mark("awaiting_approval", "approval")
            self._page.say(sentences.approval(judgement.waiting_for, self._page.since, workflow.now(), until))
            await self._until_nudged(judgement.wait_seconds, "The deadline of the approval")

    async def _until_the_next_look(self, report: Report) -> None:
        next_look = sentences.after(workflow.now(), report.pause_seconds)
        if report.needs_person:
            self._page.mark("manual_review", "operator")
            self._page.say(sentences.review(report.code, self._page.since, next_look))
        else:
            self._page.mark("unconfirmed", "reconciliation")
            coming = next_look if report.pause_seconds > 0 else None
            self._page.say(sentences.looking(self._page.since, coming, self._progress))
        await self._until_nudged(report.pause_seconds, "The next look at the downstream")

    async def _rest(self, report: Report) -> None:
        """Leave the downstream alone for as long as it asked; no signal shortens this."""
        if report.pause_seconds > 0:
            if self._marks_what_is_started():
                self._page.mark("started", "downstream")
            until = sentences.after(workflow.now(), report.pause_seconds)
            self._page.say(sentences.resting(report.code, self._page.since, until, self._progress))
            await workflow.sleep(report.pause_seconds, summary="The pause that the downstream asked for")

    def _begin_to_make_it(self) -> None:
        # Nobody could see it before the task is over, and each mark is one more write of the server.
        if not (self._smooth and self._swift) and self._marks_what_is_started():
            self._page.mark("started", NOTHING)
        self._page.say(sentences.making(self._progress))

    def _marks_what_is_started(self) -> bool:
        return self._ref.fast_path or workflow.patched(contracts.STARTED_IS_MARKED)

    def _mark_the_end(self, ending: Ending) -> None:
        """What went straight to its success is found by its status alone."""
        if not self._ref.fast_path or self._page.is_marked or ending.state != SUCCEEDED:
            self._page.mark(ending.state, NOTHING)

    def _begin_a_new_history_in_time(self) -> None:
        """Go on under the same id before the history grows too long; all that counts is in the database."""
        if workflow.info().is_continue_as_new_suggested():
            workflow.continue_as_new(self._ref)

    async def _until_nudged(self, seconds: float, timer: str) -> None:
        if seconds > 0:
            try:
                patience = timedelta(seconds=seconds)
                await workflow.wait_condition(lambda: self._nudged, timeout=patience, timeout_summary=timer)
            except TimeoutError:
                return
        self._nudged = False


def _code(error: ActivityError) -> str:
    """A refusal of ours keeps its code; anything else means that the state could not be seen."""
    cause = error.cause
    refused = isinstance(cause, ApplicationError) and cause.non_retryable and cause.type
    return refused or "upstream_unavailable"


def _raise_if_cancelled(error: FailureError) -> None:
    if is_cancelled_exception(error):
        raise error
