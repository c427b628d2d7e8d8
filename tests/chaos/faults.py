"""What goes wrong, carried out: each step once its moment has come."""

import asyncio
import time
from collections import Counter

from tests.chaos.auditor import Auditor
from tests.chaos.console import ACTS, Console
from tests.chaos.delivered import Delivered
from tests.chaos.processes import Processes
from tests.chaos.provider import LOOK_UPS, Provider
from tests.chaos.steps import Step

LEASE_SECONDS = 12.0
"""Of a claim; see `activities.apply`. A pause that is longer has cost the sleeper its claim."""
PAST_THE_LEASE = LEASE_SECONDS + 2.0
BRIEFLY = 3.0
"""Shorter than the lease, and than the silence after which a worker is given up."""

SEND_PATIENCE_SECONDS, PATIENCE_SECONDS = 3.0, 6.0
LOOK_SECONDS = 0.02
"""How long, and how often, it is looked for a send, or for an item of a batch, a write of a turn or a new turn."""

PENDING_SECONDS = 3.0
PENDING_ACTS = 8
"""For how many acts refunds stay pending for a while."""


class Faults:
    """Carries steps out; `done` counts those that really hit something."""

    def __init__(
        self, processes: Processes, provider: Provider, auditor: Auditor, console: Console, delivered: Delivered
    ) -> None:
        self.done: Counter[str] = Counter()
        self.last = "nothing yet"
        self._processes, self._provider, self._auditor = processes, provider, auditor
        self._console, self._delivered = console, delivered

    async def carry_out(self, step: Step) -> None:
        """Return when what was killed serves again and what was stopped goes on."""
        await self._delivered.reach(step.at)
        self.last = " ".join((step.kind, *(f"({name})" for name in step.targets)))
        if await self._hits(step):
            self.done[step.kind] += 1

    async def _hits(self, step: Step) -> bool:
        if step.kind == "refunds stay pending":
            return await self._leave_pending()
        if step.kind == "look-ups fail":
            await self._provider.arm(LOOK_UPS)
            return True
        if step.kind in ACTS:
            return await self._console.act(step.kind)
        if step.kind.startswith("pause"):
            return await self._pause(step)
        if "in mid" in step.kind or "both" in step.kind:
            await self._best_moment(step)
        return await self._kill(step)

    async def _kill(self, step: Step) -> bool:
        if "provider" in step.targets:
            await self._provider.look()
        hit = await self._processes.kill(step.targets)
        if "provider" in step.targets:
            await self._provider.restore()
        return hit

    async def _pause(self, step: Step) -> bool:
        await self._best_moment(step)
        async with self._processes.paused(step.targets[0]) as hit:
            await asyncio.sleep(PAST_THE_LEASE if "past its lease" in step.kind else BRIEFLY)
        return hit

    async def _leave_pending(self) -> bool:
        await self._provider.complete_after(PENDING_SECONDS)
        await self._delivered.reach(self._delivered.number + PENDING_ACTS)
        await self._provider.complete_after(0.0)
        return True

    async def _best_moment(self, step: Step) -> None:
        """Wait a little for it: something is being sent. When it does not come, any moment will do."""
        looks = {
            "mid-batch": self._auditor.items_on_their_way,
            "mid-turn": self._auditor.writes_of_turns_on_their_way,
            "turn comes": self._auditor.turns_to_begin,
        }
        look = next((look for words, look in looks.items() if words in step.kind), None)
        deadline = time.monotonic() + (PATIENCE_SECONDS if look else SEND_PATIENCE_SECONDS)
        while not await (look or self._auditor.sends_on_their_way)():
            if time.monotonic() > deadline:
                return
            await asyncio.sleep(LOOK_SECONDS)
