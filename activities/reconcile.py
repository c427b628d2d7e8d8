"""Finding out what an uncertain send came to. Reads only; it never sends."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from secrets import SystemRandom

import structlog
from temporalio import activity

from activities.ports import Claims, Operations, Resolutions, Tools
from activities.step import step
from workflows import contracts
from workflows.domain.arguments import Parts
from workflows.domain.batch import uncertain_items
from workflows.domain.claim import Evidence
from workflows.domain.contract import Idempotency, Recovery
from workflows.domain.effect import Effect
from workflows.domain.errors import CallRefused, StaleGeneration
from workflows.domain.lifecycle import State
from workflows.domain.operation import Operation
from workflows.domain.reconciliation import LOOKUP_FAILED, Conclusion, conclude, patience, why_unknown
from workflows.domain.resolution import Finding, Resolution
from workflows.messages import OperationRef, Report, Step

log = structlog.get_logger(__name__)

MANUAL_LOOK_SECONDS = 3600.0
"""While a person is asked, we still look once an hour: evidence may come by itself."""

WORD_LOOK_SECONDS = 60.0
"""How soon we look again when a word waits for nothing but that."""

LEASE_PAUSE_SECONDS = 3.0
"""How long to leave alone who holds the claim and has not sent yet."""

LOOKING_SECONDS = 15.0
"""After it no further item of a batch is looked up in this attempt."""


LOOKS_AT_ONCE = 8

SOME_WERE_LEFT_SECONDS = 60.0
"""Pause while a person is asked about items of a batch and others could not be looked at for lack of time."""


class Reconcile:
    """Looks at the downstream and says what is proven."""

    def __init__(self, operations: Operations, claims: Claims, resolutions: Resolutions, tools: Tools) -> None:
        self._operations, self._claims, self._resolutions, self._tools = operations, claims, resolutions, tools

    @activity.defn(name=contracts.RECONCILE)
    async def reconcile(self, ref: OperationRef) -> Report:
        """Look once; say whether the outcome is on record, may be sent again, or must be looked for later."""
        async with step():
            known = await self._claims.items(ref.operation_id)
            uncertain = uncertain_items(known)
            if not uncertain:
                return _nothing_in_doubt(known)
            await self._operations.move(ref.operation_id, State.UNCONFIRMED)
            operation = await self._operations.load(ref.operation_id)
            return _most_pressing(await self._look_at_all(operation, [known[item] for item in uncertain]), uncertain)

    async def _look_at_all(self, operation: Operation, doubts: list[Evidence]) -> list[Report]:
        """Look at as many as there is time for, several side by side; each time in another order, so all come up."""
        ends, reports = time.monotonic() + LOOKING_SECONDS, list[Report]()
        parts = cache(lambda: Parts(self._tools.writer(operation.tool).contract, operation.arguments))
        SystemRandom().shuffle(doubts)
        for start in range(0, len(doubts), LOOKS_AT_ONCE):
            if time.monotonic() < ends:
                reports += await asyncio.gather(
                    *(self._look_at(operation, parts, each) for each in doubts[start : start + LOOKS_AT_ONCE])
                )
        return reports

    async def _look_at(self, operation: Operation, parts: Callable[[], Parts], evidence: Evidence) -> Report:
        try:
            return await self._look(operation, parts, evidence)
        except StaleGeneration:
            # Somebody has taken the claim meanwhile; what they do is not what we have looked at.
            return Report(Step.RECONCILE, pause_seconds=1.0, generation=evidence.generation)

    async def _look(self, operation: Operation, parts: Callable[[], Parts], evidence: Evidence) -> Report:
        try:
            tool = self._tools.writer(operation.tool)
            contract = tool.contract
            async with asyncio.timeout(contract.limits.attempt_seconds):
                found = await tool.look_up(parts().of(_item(evidence)), evidence.dispatch)
        except Exception as error:
            # A look that fails proves nothing, be it that the tool itself is gone; in time a person is asked.
            log.warning("look_failed", operation_id=operation.operation_id, failure=type(error).__name__)
            return await self._ask_the_operator(operation, evidence, self._recovery(operation), LOOKUP_FAILED)
        conclusion = conclude(found, contract.idempotency, contract.recovery, evidence.sent)
        if found is not None and conclusion in (Conclusion.APPLIED, Conclusion.REJECTED):
            return await self._on_record(operation, evidence, found)
        if conclusion is Conclusion.SEND_AGAIN and not evidence.lease_is_live:
            word = await self._word_on(operation, evidence)
            if word is not None:
                # It may be there under a name that only a person finds, so nothing is sent against their word.
                return await self._resolve(operation, evidence, word)
            return await self._send_again(operation, evidence, contract.limits.sends)
        why = why_unknown(found, contract.idempotency, contract.recovery)
        return await self._ask_the_operator(operation, evidence, contract.recovery, why, found)

    def _recovery(self, operation: Operation) -> Recovery:
        try:
            return self._tools.writer(operation.tool).contract.recovery
        except CallRefused:
            return Recovery()

    async def _word_on(self, operation: Operation, evidence: Evidence) -> Resolution | None:
        return await self._resolutions.given(operation.operation_id, evidence.generation, _item(evidence))

    async def _on_record(
        self, operation: Operation, evidence: Evidence, effect: Effect, *, found: bool = True
    ) -> Report:
        item = _item(evidence)
        await self._claims.conclude_by_evidence(operation.operation_id, evidence.generation, effect, item, found=found)
        return Report(Step.SETTLE, generation=evidence.generation + 1)

    async def _send_again(self, operation: Operation, evidence: Evidence, most_sends: int) -> Report:
        if evidence.sends < most_sends:
            await self._claims.prove_absent(operation.operation_id, evidence.generation, _item(evidence))
            return Report(Step.SEND_AGAIN, "proven_absent", generation=evidence.generation + 1)
        # Proven absent, and the budget is spent: a true end without an effect.
        nothing = Effect.rejected("upstream_unavailable")
        await self._claims.conclude_by_evidence(operation.operation_id, evidence.generation, nothing, _item(evidence))
        return Report(Step.SETTLE, generation=evidence.generation + 1)

    async def _ask_the_operator(
        self, operation: Operation, evidence: Evidence, recovery: Recovery, why: str, found: Effect | None = None
    ) -> Report:
        """Act on the word that an operator has given; without one look again later, and in time ask for one."""
        word = await self._word_on(operation, evidence)
        if word is None or _is_outranked(word, found):
            longest = patience(recovery, why, promised=bool(evidence.dispatch.task_id))
            return await self._look_later(operation, evidence, longest, why)
        if word.finding is Finding.DID_NOT_HAPPEN:
            too_early = recovery.settle_seconds - (evidence.sent.since_last_send or 0.0)
            if too_early > 0:
                # It may still arrive, whatever was seen before it has.
                return Report(Step.RECONCILE, why, min(WORD_LOOK_SECONDS, max(1.0, too_early)), evidence.generation)
            if why == LOOKUP_FAILED and not self._nobody_can_look(operation, evidence):
                return Report(Step.RECONCILE, why, WORD_LOOK_SECONDS, evidence.generation)
        return await self._resolve(operation, evidence, word)

    def _nobody_can_look(self, operation: Operation, evidence: Evidence) -> bool:
        """Whether the tool has no look-up and was promised no answer. Where there is either, no word stands for it.

        What the gate would meet then as somebody else's change could be our own effect, and it would be told as undone.
        """
        try:
            nothing = self._tools.writer(operation.tool).contract.idempotency is Idempotency.NONE
            return nothing and not evidence.dispatch.task_id
        except CallRefused:
            return False

    async def _resolve(self, operation: Operation, evidence: Evidence, word: Resolution) -> Report:
        if word.finding is Finding.HAPPENED:
            return await self._on_record(operation, evidence, Effect.applied(word.reference, {}), found=False)
        if word.finding is Finding.DID_NOT_HAPPEN:
            # The word counts for one more send, whatever the budget.
            await self._claims.prove_absent(operation.operation_id, evidence.generation, _item(evidence))
            return Report(Step.SEND_AGAIN, "proven_absent", generation=evidence.generation + 1)
        await self._claims.abandon(operation.operation_id, evidence.generation, _item(evidence))
        return Report(Step.SETTLE, generation=evidence.generation + 1)

    async def _look_later(self, operation: Operation, evidence: Evidence, give_up_seconds: float, why: str) -> Report:
        # Of earlier sends it is known that they did not happen: they are not what is looked for.
        since = evidence.sent.since_last_send or 0.0
        if since < give_up_seconds:
            pause = max(1.0, min(since, 60.0))
            return Report(Step.RECONCILE, "reconciliation_pending", pause, evidence.generation)
        await self._operations.move(operation.operation_id, State.MANUAL_REVIEW, why)
        return Report(Step.RECONCILE, why, MANUAL_LOOK_SECONDS, evidence.generation, True)


def _item(evidence: Evidence) -> str:
    return evidence.dispatch.item


def _is_outranked(word: Resolution, found: Effect | None) -> bool:
    """Whether the downstream speaks against the word: it has taken the act, or says itself that it is not finished."""
    if found is None or word.finding is Finding.ABANDONED:
        return False
    return word.finding is Finding.DID_NOT_HAPPEN or found.code is None


def _nothing_in_doubt(known: Mapping[str, Evidence]) -> Report:
    """Nothing that was sent is uncertain, so there is nothing to find out: it is concluded, or the gate looks again."""
    if not known:
        return Report(Step.VALIDATE)
    single = known.get("")
    if single is not None and single.effect is not None:
        return Report(Step.SETTLE, generation=single.generation)
    generation = max(evidence.generation for evidence in known.values())
    live = any(evidence.lease_is_live and evidence.effect is None for evidence in known.values())
    return Report(Step.SEND_AGAIN, "proven_absent", LEASE_PAUSE_SECONDS if live else 0.0, generation)


def _most_pressing(reports: Sequence[Report], uncertain: Sequence[str]) -> Report:
    """What is to be done next of what several items need; that of an operation with one effect as it is."""
    if list(uncertain) == [""]:
        return reports[0]
    later = [report for report in reports if report.step is Step.RECONCILE]
    if len(later) < len(reports) or not later:
        # Something has been found out; there may be items that were never sent, which is for the gate to see.
        return Report(Step.SEND_AGAIN, "batch_goes_on", generation=max(report.generation for report in reports))
    # A person is asked once there is nothing left that time alone may tell.
    patient = [report for report in later if not report.needs_person]
    next_look = min(patient or later, key=lambda report: report.pause_seconds)
    if len(reports) < len(uncertain):
        pause = SOME_WERE_LEFT_SECONDS if next_look.needs_person else 1.0
        return replace(next_look, pause_seconds=min(pause, next_look.pause_seconds))
    return next_look
