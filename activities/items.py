"""A batch, one item after another, several side by side, for as long as one activity may take."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable

import structlog

from activities.ports import Claims
from workflows.domain.arguments import Parts
from workflows.domain.batch import open_items, uncertain_items
from workflows.domain.contract import Batch
from workflows.domain.operation import Operation
from workflows.messages import Report, Step

log = structlog.get_logger(__name__)

PASS_SECONDS = 40.0
"""After it no new item is begun: sooner than a clearance ages, and the gate then looks again at what is left."""

IN_VAIN_SECONDS = 5.0
"""Pause after a pass in which no item could be sent, whatever kept it from being."""

STOPS = frozenset({"approval_stale", "canceled"})
"""Refusals of a claim that speak of the whole operation."""

Attempt = Callable[[Operation, Parts, str], Awaitable[Report]]


class Pass:
    """One pass over what is still to be sent of a batch. One item's fate is its own; what concerns all stops it."""

    def __init__(self, operation: Operation, batch: Batch, parts: Parts, claims: Claims, attempt: Attempt) -> None:
        self._operation, self._claims, self._attempt = operation, claims, attempt
        self._at_once = batch.at_once
        self._parts, self._ids = parts, parts.ids
        self._stopped: Report | None = None
        self._longest_pause = 0.0

    async def run(self) -> Report:
        """Send what may be sent and say what is left."""
        known = await self._claims.items(self._operation.operation_id)
        waiting, ends = deque(open_items(self._ids, known)), time.monotonic() + PASS_SECONDS
        begun_with = len(waiting)
        await asyncio.gather(*(self._work(waiting, ends) for _ in range(self._at_once)))
        return await self._report(begun_with)

    async def _work(self, waiting: deque[str], ends: float) -> None:
        while waiting and self._stopped is None and time.monotonic() < ends:
            item = waiting.popleft()
            try:
                self._note(await self._attempt(self._operation, self._parts, item))
            except Exception as error:
                # What the item's send came to is in its claim; the others are not concerned.
                log.warning("item_failed", operation_id=self._operation.operation_id, failure=type(error).__name__)

    def _note(self, report: Report) -> None:
        wait = report.step is Step.SEND_AGAIN and report.pause_seconds > 0
        if wait or report.step is Step.VALIDATE or report.code in STOPS:
            self._stopped = self._stopped or report
        self._longest_pause = max(self._longest_pause, report.pause_seconds)

    async def _report(self, begun_with: int) -> Report:
        known = await self._claims.items(self._operation.operation_id)
        left = open_items(self._ids, known)
        progress = f"{len(self._ids) - len(left)} of {len(self._ids)} items sent"
        if self._stopped is not None:
            return Report(self._stopped.step, self._stopped.code, self._stopped.pause_seconds, progress=progress)
        if left:
            pause = self._longest_pause if len(left) < begun_with else max(self._longest_pause, IN_VAIN_SECONDS)
            return Report(Step.SEND_AGAIN, "batch_goes_on", pause, progress=progress)
        return Report(Step.RECONCILE if uncertain_items(known) else Step.SETTLE, progress=progress)
