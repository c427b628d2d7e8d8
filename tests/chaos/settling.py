"""After the load: everything comes to its end, or it is seen that it does not."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.chaos.acts import Turn
from tests.chaos.agents import Agents
from tests.chaos.auditor import Auditor
from tests.chaos.plan import Plan

PATIENCE_SECONDS = 600.0
"""Longer than the longest pause between two sends of one operation (300 s) and the look that follows."""

LOOK_SECONDS = 1.0
TELL_SECONDS = 5.0

READ_AGAIN_SECONDS = 8.0
"""Nobody carries an abandoned read but whoever asks again."""

CLOSING_SECONDS = 60.0
"""How long a workflow may take to close after its operation has ended."""

AT_ONCE = 8


class Settling:
    """Waits with bounded patience; the checker judges what is left.

    Who is `impatient` has every workflow look again every second instead of when it would by itself. That is a signal
    which carries nothing and which anybody may send, so it can neither hide nor mend a fault; it only saves time.
    """

    def __init__(
        self, plan: Plan, auditor: Auditor, agents: Agents, tell: Callable[[str], None], *, impatient: bool = False
    ) -> None:
        self._plan, self._auditor, self._agents, self._tell = plan, auditor, agents, tell
        self._impatient = impatient
        self._told, self._reread = 0.0, time.monotonic()

    async def until_all_ended(self) -> None:
        """Return when nothing is open but what is before a person, or patience is over."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            left = [row for row in await self._auditor.open_operations() if row["state"] != "manual_review"]
            if not left:
                break
            self._tell_of(left)
            await self._read_again(left)
            if self._impatient:
                await self._auditor.have_looked_again([row["operation_id"] for row in left if row["writes"]])
            await asyncio.sleep(LOOK_SECONDS)
        await self._until_closed()

    async def ask_everything_once_more(self) -> None:
        """Every response of the run, through a door."""
        self._tell("asking for every answer once more")
        slots = asyncio.Semaphore(AT_ONCE)
        await asyncio.gather(*(self._ask(turn, "final", slots) for turn in self._plan.turns))

    async def _until_closed(self) -> None:
        deadline = time.monotonic() + CLOSING_SECONDS
        while time.monotonic() < deadline:
            open_ones = {row["operation_id"] for row in await self._auditor.open_operations()}
            runs, waiting = await self._auditor.workflows(), await self._waiting_turns(open_ones)
            if all(each[-1] != "RUNNING" for key, each in runs.items() if key not in open_ones | waiting):
                return
            await asyncio.sleep(LOOK_SECONDS)

    async def _waiting_turns(self, open_ones: set[str]) -> set[str]:
        """The workflows of responses of which a write is open."""
        turns = await self._auditor.turns()
        return {row["turn"] for row in turns if open_ones & {operation_id for operation_id, _ in row["writes"]}}

    async def _read_again(self, left: list[dict[str, Any]]) -> None:
        if all(row["writes"] for row in left) or time.monotonic() < self._reread + READ_AGAIN_SECONDS:
            return
        slots = asyncio.Semaphore(AT_ONCE)
        reads = [turn for turn in self._plan.turns if any(not act.writes for act in turn.acts)]
        await asyncio.gather(*(self._ask(turn, "later", slots) for turn in reads))
        self._reread = time.monotonic()

    async def _ask(self, turn: Turn, how: str, slots: asyncio.Semaphore) -> None:
        async with slots:
            await self._agents.ask_once_more(turn, how)

    def _tell_of(self, left: list[dict[str, Any]]) -> None:
        if time.monotonic() < self._told + TELL_SECONDS:
            return
        self._told = time.monotonic()
        states = Counter(row["state"] for row in left)
        self._tell(f"still open: {', '.join(f'{number} {state}' for state, number in states.items())}")
