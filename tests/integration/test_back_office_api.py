"""A company's own back office over HTTP, on the running stack: one word counts, once, and the effect follows."""

import asyncio
from typing import Any

import httpx2
import pytest

from tests.faults.refunds import Refund
from tests.support.described import require_described
from tests.support.onceward import Onceward
from tests.support.responses import response_with
from worker.dev.layout import BACK_OFFICE_AUDIENCE

Json = dict[str, Any]


class Desk:
    """A company's own page, with the token of the person in front of it."""

    def __init__(self, onceward: Onceward, subject: str = "approver-1", **who: Any) -> None:
        given: Json = {"roles": ["approver:refunds"], "agent": "", "audience": BACK_OFFICE_AUDIENCE} | who
        self._door = onceward.door
        self._headers = {"Authorization": f"Bearer {onceward.token(subject=subject, **given)}"}

    async def get(self, path: str) -> httpx2.Response:
        return await self._door.get(path, headers=self._headers)

    async def question(self, operation_id: str) -> Json:
        """The newest question about an operation, as its sheet shows it."""
        operation = (await self.get(f"/v1/operations/{operation_id}/sheet")).json()
        return dict((await self.get(f"/v1/approvals/{operation['approvals'][-1]['approval_id']}")).json())

    async def decide(self, question: Json, choice: str = "approve", reason: str = "") -> httpx2.Response:
        shown = {name: question[name] for name in ("revision", "intent_hash")}
        body = {"choice": choice, "reason": reason, **shown}
        return await self.post(f"/v1/approvals/{question['approval_id']}/decision", body)

    async def post(self, path: str, body: Json) -> httpx2.Response:
        return await self._door.post(path, json=body, headers=self._headers)


async def asked(onceward: Onceward) -> Refund:
    refund = await Refund.proposed(onceward)
    await onceward.until(refund.operation_id, "awaiting_approval")
    return refund


async def test_what_is_approved_over_http_happens_once(onceward: Onceward) -> None:
    refund, desk = await asked(onceward), Desk(onceward)
    question = await desk.question(refund.operation_id)
    first, again = await desk.decide(question), await desk.decide(question)
    assert [answer.status_code for answer in (first, again)] == [200, 200]
    assert (again.json()["repeated"], again.json()["decision"]) == (True, first.json()["decision"])
    assert await onceward.until(refund.operation_id, "succeeded") == "succeeded"
    assert await onceward.provider.effects(refund.operation_id) == 1
    sheet = (await desk.get(f"/v1/operations/{refund.operation_id}/sheet")).json()
    assert (sheet["state"], sheet["sends"], sheet["approvals"][0]["state"]) == ("succeeded", 1, "consumed")


async def test_of_an_approval_and_a_denial_at_once_the_loser_is_told_what_counted(onceward: Onceward) -> None:
    refund = await asked(onceward)
    one, other = Desk(onceward), Desk(onceward, "approver-2")
    question = await one.question(refund.operation_id)
    answers = await asyncio.gather(one.decide(question), other.decide(question, "deny", "Not ours."))
    won, lost = sorted(answers, key=lambda answer: answer.status_code)
    assert (won.status_code, lost.status_code, lost.json()["code"]) == (200, 409, "approval_already_decided")
    assert lost.json()["decision"] == won.json()["decision"]
    ended = await onceward.until(refund.operation_id, "succeeded", "failed_terminal")
    approved = won.json()["decision"]["choice"] == "approve"
    assert (ended == "succeeded", await onceward.provider.effects(refund.operation_id)) == (approved, int(approved))


@pytest.mark.parametrize(
    ("who", "status", "code"),
    [
        ({"audience": "onceward"}, 401, "invalid_token"),
        ({"audience": "onceward-back-office"}, 401, "invalid_token"),
        ({"agent": "support-agent"}, 403, "approver_not_allowed"),
        ({"subject": "user-17"}, 403, "approver_not_allowed"),
        ({"roles": ["support"]}, 403, "approver_not_allowed"),
        ({"tenant": "tenant-b"}, 404, "not_found"),
    ],
)
async def test_who_may_not_decide_has_no_way_to(onceward: Onceward, who: Json, status: int, code: str) -> None:
    refund = await asked(onceward)
    question = await Desk(onceward).question(refund.operation_id)
    answer = await Desk(onceward, **who).decide(question)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert [row.state for row in await onceward.approvals(refund.operation_id)] == ["pending"]


async def test_a_token_for_this_api_opens_no_route_of_the_agents(onceward: Onceward) -> None:
    refund, desk = await asked(onceward), Desk(onceward)
    for path in (f"/v1/operations/{refund.operation_id}", "/v1/tools?surface=openai-chat"):
        assert (await desk.get(path)).status_code == 401


async def test_what_waits_is_found_by_whoever_may_decide_on_it_and_gone_once_they_have(onceward: Onceward) -> None:
    refund, desk = await asked(onceward), Desk(onceward)
    question = await desk.question(refund.operation_id)

    async def is_listed() -> bool:
        seen, cursor = [], ""
        while True:
            page = (await desk.get(f"/v1/approvals?mine=true&tool=refund_payment&after={cursor}")).json()
            seen += [line["approval_id"] for line in page["approvals"]]
            if not (cursor := page["following"]):
                return question["approval_id"] in seen

    assert await is_listed()
    await desk.decide(question, "deny", "Not ours.")
    assert not await is_listed()


async def test_an_operation_is_found_by_the_response_that_it_came_with(onceward: Onceward) -> None:
    refund, desk = await asked(onceward), Desk(onceward)
    found = (await desk.get(f"/v1/operations?id={refund.request_id}&state=awaiting_approval")).json()
    assert [line["operation_id"] for line in found["operations"]] == [refund.operation_id]
    elsewhere = Desk(onceward, tenant="tenant-b")
    assert (await elsewhere.get(f"/v1/operations?id={refund.request_id}")).json()["operations"] == []


async def test_messages_that_were_set_aside_are_shown_to_operators_only(onceward: Onceward) -> None:
    operator = await Desk(onceward, "operator-1", roles=["operator"]).get("/v1/stuck")
    approver = await Desk(onceward).get("/v1/stuck")
    assert (operator.status_code, approver.status_code) == (200, 200)
    assert (operator.json()["messages"] is None, approver.json()["messages"]) == (False, None)


async def test_what_really_happens_is_answered_as_it_is_described(onceward: Onceward) -> None:
    refund, desk, other = await asked(onceward), Desk(onceward), Desk(onceward, "approver-2")
    operator = Desk(onceward, "operator-1", roles=["operator"])
    one, agent = f"/v1/operations/{refund.operation_id}", {"Authorization": f"Bearer {onceward.token()}"}
    turn = {
        "surface": "anthropic-messages",
        "response": response_with("anthropic-messages", refund.asked, response_id=refund.request_id),
    }
    question = await desk.question(refund.operation_id)
    approval = f"/v1/approvals/{question['approval_id']}"
    word = {"finding": "abandoned", "evidence": "Nobody knows.", "generation": 1}
    described = [
        ("/v1/turns", 200, await onceward.post(turn)),
        ("/v1/tools", 200, await onceward.door.get("/v1/tools?surface=openai-chat", headers=agent)),
        ("/v1/approvals", 200, await desk.get("/v1/approvals")),
        ("/v1/approvals/{approval_id}", 200, await desk.get(approval)),
        ("/v1/approvals/{approval_id}/decision", 409, await desk.decide(question | {"revision": 9})),
        ("/v1/approvals/{approval_id}/decision", 422, await desk.decide(question, "deny")),
        ("/v1/approvals/{approval_id}/decision", 200, await desk.decide(question)),
        ("/v1/approvals/{approval_id}/decision", 409, await other.decide(question)),
        ("/v1/approvals/{approval_id}/decision", 401, await Desk(onceward, audience="onceward").decide(question)),
    ]
    await onceward.until(refund.operation_id, "succeeded")
    described += [
        ("/v1/turns", 200, await onceward.post(turn)),
        ("/v1/operations/{operation_id}", 200, await onceward.operation(refund.operation_id)),
        ("/v1/operations/{operation_id}/cancel", 200, await onceward.door.post(f"{one}/cancel", headers=agent)),
        ("/v1/operations", 200, await desk.get("/v1/operations")),
        ("/v1/operations/{operation_id}/sheet", 200, await desk.get(f"{one}/sheet")),
        ("/v1/operations/{operation_id}/resolution", 409, await operator.post(f"{one}/resolution", word)),
        ("/v1/operations/{operation_id}/resolution", 403, await desk.post(f"{one}/resolution", word)),
        ("/v1/stuck", 200, await operator.get("/v1/stuck")),
    ]
    for path, status, answer in described:
        assert require_described(answer, path).status_code == status
