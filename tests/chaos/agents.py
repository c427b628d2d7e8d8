"""Agents that hand responses in, through both doors, as often and in whatever order the plan says."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx2

from tests.chaos.acts import Act, Turn
from tests.chaos.delivered import Delivered
from tests.chaos.evidence import Answer
from tests.chaos.preparation import Preparation
from tests.support.onceward import Onceward
from tests.support.responses import response_with, results_in

Json = dict[str, Any]

PATIENCE_SECONDS = 90.0
"""How long a response is handed in again and again before it is given up for now."""
PAUSE_SECONDS = 0.3

FIRST_WAIT_SECONDS, PATIENT_WAIT_SECONDS = 2.0, 25.0
"""How long the door is asked to wait."""
MARGIN_SECONDS = 20.0
"""What an answer may take beyond that."""

COPIES = 5
"""Of one response, handed in at once."""

AGAIN = "-again"
"""The end of a request id under which the same acts are proposed a second time."""


class Agents:
    """All agents of a run; `answers` is everything that any of them was told."""

    def __init__(self, onceward: Onceward, doors: Sequence[str], preparation: Preparation) -> None:
        self.answers: list[Answer] = []
        self._onceward, self._names, self._preparation = onceward, tuple(doors), preparation
        self._doors = [httpx2.AsyncClient(base_url=onceward.stack.url(name)) for name in doors]
        self._tokens: dict[tuple[str, str], str] = {}

    async def close(self) -> None:
        for door in self._doors:
            await door.aclose()

    async def deliver(self, turn: Turn, delivered: Delivered) -> None:
        """Hand a turn in for the first time, with what belongs to that moment."""
        if turn.delivery == "simultaneous":
            copies = (self._hand_in(turn, "simultaneous", door=number) for number in range(COPIES))
            await asyncio.gather(*copies)
        elif turn.delivery == "patient":
            await self._hand_in(turn, "patient", door=turn.door, wait=PATIENT_WAIT_SECONDS, wait_for="end")
        else:
            await self._hand_in(turn, "first", door=turn.door)
        await delivered.add(len(turn.acts))

    async def follow(self, turn: Turn, place: int, delivered: Delivered) -> None:
        """What comes after a turn's first delivery; `place` is how many acts came before it."""
        if turn.delivery in ("later", "again later"):
            await delivered.reach(place + turn.lag)
        if turn.delivery in ("twice", "later"):
            await self._hand_in(turn, turn.delivery, door=turn.door + 1)
        elif turn.delivery in ("again", "again later"):
            await self._hand_in(turn, turn.delivery, door=turn.door + 1, request_id=turn.request_id + AGAIN)
        elif turn.delivery == "tampered":
            await self._hand_in(turn, "tampered", door=turn.door)

    async def ask_once_more(self, turn: Turn, how: str = "final") -> None:
        """The same responses through any door, when everything is said to be over."""
        await self._hand_in(turn, how, door=turn.door + 1, wait=1.0)
        if turn.delivery in ("again", "again later"):
            await self._hand_in(turn, how, door=turn.door, wait=1.0, request_id=turn.request_id + AGAIN)

    def token(self, turn: Turn) -> str:
        """Of the user in whose name the turn is made."""
        who = (turn.tenant, turn.subject)
        if who not in self._tokens:
            self._tokens[who] = self._onceward.token(subject=turn.subject, tenant=turn.tenant)
        return self._tokens[who]

    async def _hand_in(
        self,
        turn: Turn,
        how: str,
        *,
        door: int,
        request_id: str = "",
        wait: float = FIRST_WAIT_SECONDS,
        wait_for: str = "progress",
    ) -> None:
        """Until it is answered, at one door and then the other."""
        request_id = request_id or turn.request_id
        response = self._response(turn, how, request_id)
        body = {
            "surface": turn.surface,
            "response": response,
            "wait_seconds": wait,
            "wait_for": wait_for,
            "conversation": turn.request_id,
        }
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            answer = await self._post(turn, how, door % len(self._doors), request_id, body)
            self.answers.append(answer)
            if answer.status is not None and answer.status < 500:
                return
            door += 1
            await asyncio.sleep(PAUSE_SECONDS)

    async def _post(self, turn: Turn, how: str, door: int, request_id: str, body: Mapping[str, Any]) -> Answer:
        headers = {"Authorization": f"Bearer {self.token(turn)}"}
        asked = tuple(call_id for call_id, _ in _calls(turn))
        sent = time.monotonic()
        try:
            answer = await self._doors[door].post(
                "/v1/turns", json=body, headers=headers, timeout=body["wait_seconds"] + MARGIN_SECONDS
            )
        except httpx2.HTTPError:
            return Answer(how, self._names[door], request_id, sent, time.monotonic(), asked=asked)
        told = answer.json() if answer.is_success else {"results": [], "append": []}
        return Answer(
            how,
            self._names[door],
            request_id,
            sent,
            time.monotonic(),
            answer.status_code,
            tuple(told["results"]),
            results_in(turn.surface, told["append"]),
            asked,
        )

    def _response(self, turn: Turn, how: str, request_id: str) -> Json:
        calls = [(call_id, act.tool, self._arguments(act, how, request_id)) for call_id, act in _calls(turn)]
        return response_with(turn.surface, *calls, response_id=request_id)

    def _arguments(self, act: Act, how: str, request_id: str) -> Json:
        if how == "tampered":
            return self._preparation.tampered(act)
        return (self._preparation.again if request_id.endswith(AGAIN) else self._preparation.first)[act.call_id]


def _calls(turn: Turn) -> list[tuple[str, Act]]:
    """Each act's call, and at the end the calls that ask for one of them again."""
    return [(act.call_id, act) for act in turn.acts] + [(each, act) for act in turn.acts for each in act.repeats]
