"""People who decide: signed in to the back office of either door, by its own forms."""

import asyncio
from collections.abc import Sequence
from typing import Any
from urllib.parse import urljoin

import httpx2

from tests.chaos.acts import Act
from tests.chaos.agents import AGAIN
from tests.chaos.auditor import Auditor
from tests.chaos.delivered import Delivered
from tests.chaos.evidence import Said
from tests.chaos.plan import Plan
from tests.chaos.setbacks import Setbacks
from tests.support.visitor import Forms, Visitor

APPROVERS = {
    ("tenant-a", "refund_payment"): ("approver-1", "approver-2"),
    ("tenant-b", "refund_payment"): ("approver-b",),
    ("tenant-a", "credit_account"): ("approver-3",),
    ("tenant-a", "credit_accounts"): ("approver-3",),
}

LOOK_SECONDS = 0.25
AT_ONCE = 4

LATE = 0.25
"""A late word comes after so much of the whole load was delivered meanwhile."""

Vote = tuple[str, str]
"""A person and their choice."""


class Person(Visitor):
    """One person at one door. Nothing here takes a page for granted: the door may be gone at any moment."""

    async def say(self, page: str, action: str, words: dict[str, str]) -> int | None:
        """Open the page and fill its form in; the status of the answer, None when nobody knows whether it was heard."""
        try:
            shown = await self.page(page)
            form = next((form for form in Forms.on(shown.text) if form.action.endswith(action)), None)
            if form is None:
                return shown.status_code if shown.status_code != httpx2.codes.OK else httpx2.codes.CONFLICT
            return await self._sent_form(urljoin(str(shown.url), form.action), form.fields | words)
        except httpx2.HTTPError:
            return None

    async def _sent_form(self, url: str, fields: dict[str, str]) -> int:
        answer = await self._client.post(url, data=fields, headers={"Origin": self._origin})
        return answer.status_code


def _words(choice: str) -> dict[str, str]:
    return {"choice": choice, "reason": "Not this one." if choice == "deny" else ""}


class People:
    """All approvers; `said` is every word that any of them gave."""

    def __init__(
        self, plan: Plan, back_offices: Sequence[str], auditor: Auditor, delivered: Delivered, setbacks: Setbacks
    ) -> None:
        self.said: list[Said] = []
        self._setbacks = setbacks
        self._back_offices, self._auditor, self._delivered = tuple(back_offices), auditor, delivered
        self._places = _places(plan)
        self._approvers: dict[tuple[str, int], Person] = {}
        self._decided: set[str] = set()
        self._door = 0
        self._everything_is_late = False

    async def close(self) -> None:
        for approver in self._approvers.values():
            await approver.__aexit__()

    def wait_no_longer(self) -> None:
        """From now on late words come at once."""
        self._everything_is_late = True

    async def decide(self) -> None:
        """Answer whatever is asked, for ever."""
        slots = asyncio.Semaphore(AT_ONCE)
        while True:
            asked = [each for each in await self._auditor.questions() if self._is_time(each)]
            await asyncio.gather(*(self._answer(each, slots) for each in asked))
            await asyncio.sleep(LOOK_SECONDS)

    def _is_time(self, question: dict[str, Any]) -> bool:
        if question["approval_id"] in self._decided:
            return False
        place, act = self._places[question["call_id"]]
        if act.word != "late" or self._everything_is_late:
            return True
        return self._delivered.number >= min(place + LATE * self._delivered.of, self._delivered.of)

    async def _answer(self, question: dict[str, Any], slots: asyncio.Semaphore) -> None:
        async with slots:
            votes = self._votes(question)
            if any(choice == "approve" for _, choice in votes):
                await self._setbacks.befall(question["operation_id"], self._places[question["call_id"]][1])
            heard = await asyncio.gather(*(self._vote(question, vote) for vote in votes))
            if all(heard):
                self._decided.add(question["approval_id"])

    def _votes(self, question: dict[str, Any]) -> list[Vote]:
        _, act = self._places[question["call_id"]]
        approvers = APPROVERS[question["tenant"], question["tool"]]
        if question["request_id"].endswith(AGAIN) or act.word in ("deny", "nobody"):
            # Whoever proposes the same thing a second time is told no.
            return [(approvers[0], "deny")]
        if act.word == "contested":
            return [(approvers[0], "approve"), (approvers[1], "deny")]
        if act.word == "both":
            return [(approvers[0], "approve"), (approvers[1], "approve")]
        return [(approvers[0], "approve")]

    async def _vote(self, question: dict[str, Any], vote: Vote) -> bool:
        person, choice = vote
        self._door = (self._door + 1) % len(self._back_offices)
        key = (person, self._door)
        status = None
        if key in self._approvers or await self._sign_in(key):
            status = await self._approvers[key].say(
                f"/approvals/{question['approval_id']}", "/decision", _words(choice)
            )
            self.said.append(Said(question["operation_id"], question["approval_id"], person, choice, status))
        return status is not None and status < httpx2.codes.INTERNAL_SERVER_ERROR

    async def _sign_in(self, key: tuple[str, int]) -> bool:
        person, door = key
        approver = Person(self._back_offices[door])
        try:
            signed_in = (await approver.sign_in(person)).status_code == httpx2.codes.OK
        except (httpx2.HTTPError, ValueError):
            signed_in = False
        if signed_in and key not in self._approvers:
            self._approvers[key] = approver
        else:
            await approver.__aexit__()
        return signed_in


def _places(plan: Plan) -> dict[str, tuple[int, Act]]:
    """Each act by its call, with its place in the load."""
    return {act.call_id: (place, act) for place, act in enumerate(plan.acts)}


def approvers_needed(act: Act) -> int:
    """How many people have to say yes to an act; foreign ones never get so far."""
    if act.word == "nobody" and act.allowed:
        return 0
    return 2 if act.word == "both" else 1
