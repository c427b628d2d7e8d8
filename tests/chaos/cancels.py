"""Callers who want an operation to stop: through either door, at the moment that the plan says."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import httpx2

from tests.chaos.acts import Act, Cancel, Moment, Turn
from tests.chaos.agents import Agents
from tests.chaos.auditor import Auditor
from tests.chaos.evidence import Wish
from tests.support.onceward import Onceward

LOOK_SECONDS = 0.05

MOMENT_PATIENCE_SECONDS = 60.0
"""How long the moment is waited for; then the wish is said at whatever moment it is."""

ANSWER_PATIENCE_SECONDS, PAUSE_SECONDS = 90.0, 0.3
"""How long a wish is said again until it is answered, and the pause between."""

TIMEOUT_SECONDS = 25.0
"""Of one attempt: longer than the door waits for what comes of the wish."""

Json = dict[str, Any]

HAS_COME: dict[Moment, Callable[[Json], bool]] = {
    "at once": lambda _: True,
    "asked": lambda operation: bool(operation["state"] != "proposed"),
    "decided": lambda operation: bool(operation["decided"] or operation["ended"]),
    "ended": lambda operation: bool(operation["ended"]),
}


class Cancels:
    """All such callers of a run; `wishes` is what each was told."""

    def __init__(self, onceward: Onceward, doors: Sequence[str], agents: Agents, auditor: Auditor) -> None:
        self.wishes: list[Wish] = []
        self._names, self._agents, self._auditor = tuple(doors), agents, auditor
        self._doors = [httpx2.AsyncClient(base_url=onceward.stack.url(name), timeout=TIMEOUT_SECONDS) for name in doors]

    async def close(self) -> None:
        for door in self._doors:
            await door.aclose()

    async def follow(self, turn: Turn) -> None:
        """Say the wishes of a turn that is about to be handed in."""
        for act in turn.acts:
            if act.cancel is not None:
                await self._cancel(turn, act, act.cancel)

    async def _cancel(self, turn: Turn, act: Act, cancel: Cancel) -> None:
        operation_id = await self._at_its_moment(turn, act, cancel)
        if operation_id is None:
            return
        await asyncio.sleep(cancel.pause)
        for number in range(cancel.times):
            await self._say(turn, act, cancel, operation_id, turn.door + 1 + number)

    async def _at_its_moment(self, turn: Turn, act: Act, cancel: Cancel) -> str | None:
        deadline = time.monotonic() + MOMENT_PATIENCE_SECONDS
        while True:
            operation = await self._auditor.operation_of(turn.request_id, act.call_id)
            over = time.monotonic() > deadline
            if operation is not None and (over or HAS_COME[cancel.moment](operation)):
                return str(operation["operation_id"])
            if over:
                return None
            await asyncio.sleep(LOOK_SECONDS)

    async def _say(self, turn: Turn, act: Act, cancel: Cancel, operation_id: str, door: int) -> None:
        """Until it is answered, at one door and then the other."""
        deadline = time.monotonic() + ANSWER_PATIENCE_SECONDS
        while time.monotonic() < deadline:
            wish = await self._post(turn, act, cancel, operation_id, door % len(self._doors))
            self.wishes.append(wish)
            if wish.status is not None and wish.status < httpx2.codes.INTERNAL_SERVER_ERROR:
                return
            door += 1
            await asyncio.sleep(PAUSE_SECONDS)

    async def _post(self, turn: Turn, act: Act, cancel: Cancel, operation_id: str, door: int) -> Wish:
        headers = {"Authorization": f"Bearer {self._agents.token(turn)}"}
        said = Wish(operation_id, act.call_id, cancel.moment, self._names[door], time.monotonic(), 0.0)
        try:
            answer = await self._doors[door].post(f"/v1/operations/{operation_id}/cancel", headers=headers)
        except httpx2.HTTPError:
            return replace(said, received=time.monotonic())
        told = answer.json() if answer.is_success else {}
        return replace(said, received=time.monotonic(), status=answer.status_code, told=told)
