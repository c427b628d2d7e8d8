"""Steps that answer as a test tells them to, behind the recorded names of the real ones."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from workflows import contracts
from workflows.messages import Ending, Judgement, OperationRef, Report, SettleOrder, Step

GO = Judgement(Step.GO, swift=True)
WAIT = Judgement(Step.WAIT, "approval_required", 3 * 24 * 3600.0, "a person with role approver:refunds")
DONE = Report(Step.SETTLE, generation=1)
UNCERTAIN = Report(Step.RECONCILE, generation=1)


class Script:
    """Answers each step from its list, the last answer again and again; remembers what was called in which order."""

    def __init__(self, **answers: Sequence[Any]) -> None:
        self._answers = {name: list(given) for name, given in answers.items()}
        self.called: list[str] = []
        self.settled: list[SettleOrder] = []
        self._arrived: dict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def reached(self, step: str) -> None:
        """Wait until this step has been called."""
        await self._arrived[step].wait()

    def activities(self) -> list[Callable[..., Any]]:
        """The steps, for a worker."""
        return [self.validate, self.apply, self.reconcile, self.settle]

    @activity.defn(name=contracts.VALIDATE)
    async def validate(self, _: OperationRef) -> Judgement:
        """The gate."""
        answer: Judgement = self._next("validate")
        return answer

    @activity.defn(name=contracts.APPLY)
    async def apply(self, _: OperationRef) -> Report:
        """The effect."""
        answer: Report = self._next("apply")
        return answer

    @activity.defn(name=contracts.RECONCILE)
    async def reconcile(self, _: OperationRef) -> Report:
        """The look."""
        answer: Report = self._next("reconcile")
        return answer

    @activity.defn(name=contracts.SETTLE)
    async def settle(self, order: SettleOrder) -> Ending:
        """The end."""
        self.settled.append(order)
        if "settle" in self._answers:
            ending: Ending = self._next("settle")
            return ending
        self.called.append("settle")
        return Ending("succeeded" if order.code is None else "failed_terminal", order.code)

    def _next(self, step: str) -> Any:
        self.called.append(step)
        self._arrived[step].set()
        answers = self._answers[step]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def refused(code: str) -> ApplicationError:
    """A step that refuses for good, as the real ones do."""
    return ApplicationError(code, type=code, non_retryable=True)


def broken() -> ApplicationError:
    """A step that fails for a reason that may pass."""
    return ApplicationError("unexpected failure", type="OSError")
