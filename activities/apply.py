"""The one place where an effect is made: claim, send under the claim, record what came of it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import structlog
from temporalio import activity

from activities.items import Pass
from activities.loading import load_as_meant
from activities.ports import Claims, Journal, Operations, Tools, WriteTool
from activities.step import step
from workflows import contracts
from workflows.domain.arguments import Parts
from workflows.domain.claim import Claim
from workflows.domain.contract import Arguments
from workflows.domain.effect import Effect, Outcome
from workflows.domain.errors import (
    AlreadyEnded,
    ApprovalMissing,
    Canceled,
    ClaimHeld,
    ClearanceMissing,
    LookFirst,
    StaleGeneration,
    StoreUnavailable,
)
from workflows.domain.intent import digest
from workflows.domain.invocation import kept_by
from workflows.domain.operation import Operation
from workflows.domain.reconciliation import pause_before_send
from workflows.messages import OperationRef, Report, Step

log = structlog.get_logger(__name__)

LEASE_SECONDS = 12.0
"""Longer than the heartbeat timeout, so that a worker that is given up has also lost its claim soon after."""

RENEW_SECONDS = LEASE_SECONDS / 4
"""How often a live owner prolongs its lease; three may fail before the claim is lost."""


class Apply:
    """Makes the effect of one operation, at most once at a time and never beside a higher generation.

    Without `parallel` the items of a batch go one after another.
    """

    def __init__(
        self,
        operations: Operations,
        claims: Claims,
        journal: Journal,
        tools: Tools,
        new_owner: Callable[[], str],
        *,
        parallel: bool = True,
    ) -> None:
        self._operations, self._claims, self._journal, self._tools = operations, claims, journal, tools
        self._new_owner, self._parallel = new_owner, parallel

    @activity.defn(name=contracts.APPLY)
    async def apply(self, ref: OperationRef) -> Report:
        """Claim and send, each item of a batch by itself; whatever is not proven is left for reconciliation."""
        async with step():
            operation = await load_as_meant(self._operations, ref)
            contract = self._tools.writer(operation.tool).contract
            parts = Parts(contract, operation.arguments)
            if contract.batch is None:
                return await self._attempt(operation, parts, "")
            batch = contract.batch if self._parallel else replace(contract.batch, at_once=1)
            return await Pass(operation, batch, parts, self._claims, self._attempt).run()

    async def _attempt(self, operation: Operation, parts: Parts, item: str) -> Report:
        try:
            claim = await self._claims.acquire(operation.operation_id, self._new_owner(), LEASE_SECONDS, item)
        except AlreadyEnded:
            return Report(Step.SETTLE)
        except ClaimHeld:
            return Report(Step.RECONCILE, pause_seconds=LEASE_SECONDS / 2)
        except LookFirst:
            return Report(Step.RECONCILE)
        except ClearanceMissing:
            return Report(Step.VALIDATE)
        except (ApprovalMissing, Canceled) as refused:
            return Report(Step.SETTLE, code=refused.code)
        return await self._send(operation, parts.of(item), claim)

    async def _send(self, operation: Operation, arguments: Arguments, claim: Claim) -> Report:
        tool = self._tools.writer(operation.tool)
        try:
            async with self._kept_alive(claim):
                effect = await self._hand_over(operation, tool, arguments, claim)
                effect = _within_budget(effect, claim.sends + 1, tool.contract.limits.sends)
            await self._claims.conclude(claim, effect)
        except AlreadyEnded:
            return Report(Step.SETTLE)
        except StaleGeneration:
            # Taken over while we were away: the successor speaks for this operation now.
            return Report(Step.RECONCILE, pause_seconds=1.0, generation=claim.generation)
        return _report(effect, claim)

    async def _hand_over(self, operation: Operation, tool: WriteTool, arguments: Arguments, claim: Claim) -> Effect:
        entry = await self._journal.began(operation, claim.generation)
        # The generation is checked at the last moment before the send.
        await self._claims.begin_send(claim, tool.contract.limits.attempt_seconds)
        began = time.monotonic()
        try:
            async with asyncio.timeout(tool.contract.limits.attempt_seconds):
                with kept_by(partial(self._journal.sent, entry)):
                    effect = await tool.apply(arguments, claim.dispatch)
        except TimeoutError:
            effect = Effect.unknown()
        except Exception:
            # A tool that raises has not proven that nothing happened.
            await self._journal.ended(entry, "raised")
            await self._claims.conclude(claim, Effect.unknown())
            raise
        if effect.outcome is Outcome.REJECTED and not effect.retryable and claim.sends > 0:
            # It speaks of this send. An earlier one may be the very reason for it.
            effect = await self._earlier_effect(tool, arguments, claim) or effect
        await self._journal.ended(entry, effect.outcome.value)
        _trace(claim, effect, time.monotonic() - began)
        return effect

    async def _earlier_effect(self, tool: WriteTool, arguments: Any, claim: Claim) -> Effect | None:
        try:
            async with asyncio.timeout(tool.contract.limits.attempt_seconds):
                return await tool.look_up(arguments, claim.dispatch)
        except Exception:
            return Effect.unknown()

    @asynccontextmanager
    async def _kept_alive(self, claim: Claim) -> AsyncIterator[None]:
        renewal = asyncio.create_task(self._renew(claim))
        try:
            yield
        finally:
            renewal.cancel()
            await asyncio.gather(renewal, return_exceptions=True)

    async def _renew(self, claim: Claim) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            try:
                await self._claims.renew(claim, LEASE_SECONDS)
            except StoreUnavailable:
                # The lease outlives a few renewals that fail.
                continue


def _trace(claim: Claim, effect: Effect, seconds: float) -> None:
    """One line for each send: ids, generation and outcome; the key as a hash, no argument, no owner token."""
    log.info(
        "send",
        operation_id=claim.operation_id,
        generation=claim.generation,
        key_hash=digest(claim.dispatch.idempotency_key),
        outcome=effect.outcome.value,
        code=effect.code,
        seconds=round(seconds, 3),
    )


def _within_budget(effect: Effect, sends: int, most: int) -> Effect:
    return effect if sends < most else replace(effect, retryable=False)


def _report(effect: Effect, claim: Claim) -> Report:
    if effect.outcome is Outcome.UNKNOWN:
        return Report(Step.RECONCILE, generation=claim.generation)
    if effect.retryable:
        asked = effect.retry_after_seconds
        pause = pause_before_send(claim.sends) if asked is None else asked
        return Report(Step.SEND_AGAIN, effect.code, pause, claim.generation)
    return Report(Step.SETTLE, generation=claim.generation)
