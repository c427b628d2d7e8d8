"""A caller takes an operation back through the door, at each moment of its life; what is counted is at the provider."""

from typing import Any

import httpx2
import pytest

from tests.support.onceward import ENDS, Onceward, Reply
from tests.support.proposals import fresh
from tests.support.responses import Call, call
from tests.support.waiting import until

Json = dict[str, Any]


async def refund_of(onceward: Onceward) -> Call:
    return call("refund_payment", await onceward.provider.refund_arguments(await onceward.provider.add_order()))


async def cancel(onceward: Onceward, operation_id: str, token: str = "") -> httpx2.Response:
    headers = {"Authorization": f"Bearer {token or onceward.token()}"}
    return await onceward.door.post(f"/v1/operations/{operation_id}/cancel", headers=headers)


async def sent_and_made(onceward: Onceward, parked: Reply) -> tuple[int, int]:
    """Refund requests that the provider has had for the operation, and refunds that it has made."""
    name = parked.operation_id
    return await onceward.provider.posts(name), await onceward.provider.effects(name)


def came_of(answer: httpx2.Response) -> str:
    assert answer.status_code == 200
    return str(answer.json()["cancellation"]["code"])


async def test_what_waits_for_a_person_stops_and_nobody_is_asked_any_more(onceward: Onceward) -> None:
    asked, request_id = await refund_of(onceward), fresh("response")
    parked = await onceward.turn(asked, request_id=request_id)
    answer = await cancel(onceward, parked.operation_id)
    assert (came_of(answer), answer.json()["state"]) == ("canceled", "failed_terminal")
    (question,) = await onceward.approvals(parked.operation_id)
    assert question.state == "void"
    again = await onceward.turn(asked, request_id=request_id)
    assert (again.code, again.only["final"], again.only["error"]["kind"]) == ("canceled", True, "refused")
    assert await onceward.provider.posts(parked.operation_id) == 0


async def test_cancelling_twice_is_cancelling_once(onceward: Onceward) -> None:
    parked = await onceward.turn(await refund_of(onceward))
    assert [came_of(await cancel(onceward, parked.operation_id)) for _ in range(2)] == ["canceled", "canceled"]


async def test_what_has_happened_is_told_as_happened(onceward: Onceward) -> None:
    parked = await onceward.turn(await refund_of(onceward))
    await onceward.approve(parked.operation_id)
    assert await onceward.until(parked.operation_id, *ENDS) == "succeeded"
    answer = await cancel(onceward, parked.operation_id)
    assert (came_of(answer), answer.json()["state"]) == ("cancel_too_late", "succeeded")
    assert await onceward.provider.effects(parked.operation_id) == 1


async def test_what_is_being_sent_goes_on_and_its_effect_is_recorded(onceward: Onceward) -> None:
    asked, request_id = await refund_of(onceward), fresh("response")
    parked = await onceward.turn(asked, request_id=request_id)
    slow = {"on": "refund", "do": "commit-then-hang", "seconds": 2}
    async with onceward.provider.switched(slow):
        await onceward.approve(parked.operation_id)
        await until(lambda: onceward.provider.effects(parked.operation_id), lambda made: made == 1)
        answer = await cancel(onceward, parked.operation_id)
    assert came_of(answer) in ("cancel_pending", "cancel_too_late")
    done: Reply = await onceward.turn(asked, request_id=request_id, wait_for="end", wait_seconds=30)
    assert done.only["status"] == "succeeded"
    assert (
        await onceward.provider.effects(parked.operation_id),
        await onceward.provider.posts(parked.operation_id),
    ) == (1, 1)


async def test_what_is_uncertain_is_not_called_off(onceward: Onceward) -> None:
    parked = await onceward.turn(await refund_of(onceward))
    unseen = {"on": "lookup", "do": "503", "times": None}
    async with onceward.provider.switched({"on": "refund", "do": "commit-then-drop"}, unseen):
        await onceward.approve(parked.operation_id)
        await onceward.until(parked.operation_id, "unconfirmed")
        answer = await cancel(onceward, parked.operation_id)
    assert (came_of(answer), answer.json()["state"]) == ("cancel_pending", "unconfirmed")
    assert await onceward.until(parked.operation_id, *ENDS) == "succeeded"
    assert await onceward.provider.effects(parked.operation_id) == 1
    assert came_of(await cancel(onceward, parked.operation_id)) == "cancel_too_late"


async def test_what_turns_out_not_to_have_happened_is_not_sent_again(onceward: Onceward) -> None:
    parked = await onceward.turn(await refund_of(onceward))
    async with onceward.provider.switched({"on": "refund", "do": "drop-before-commit"}):
        await onceward.approve(parked.operation_id)
        await onceward.until(parked.operation_id, "unconfirmed")
        assert came_of(await cancel(onceward, parked.operation_id)) == "cancel_pending"
        assert await onceward.until(parked.operation_id, *ENDS, within=90) == "failed_terminal"
    assert came_of(await cancel(onceward, parked.operation_id)) == "canceled"
    assert await sent_and_made(onceward, parked) == (1, 0)


async def test_what_must_wait_before_it_may_be_sent_again_is_not_sent_again(onceward: Onceward) -> None:
    parked = await onceward.turn(await refund_of(onceward))
    async with onceward.provider.switched({"on": "refund", "do": "429", "seconds": 2}):
        await onceward.approve(parked.operation_id)
        await until(lambda: onceward.provider.posts(parked.operation_id), lambda number: number == 1)
        await cancel(onceward, parked.operation_id)
        assert await onceward.until(parked.operation_id, *ENDS) == "failed_terminal"
    assert (await onceward.operation(parked.operation_id)).json()["error"]["code"] == "canceled"
    assert (
        await onceward.provider.posts(parked.operation_id),
        await onceward.provider.effects(parked.operation_id),
    ) == (1, 0)


@pytest.mark.parametrize("who", [{"tenant": "tenant-b"}, {"subject": "user-18"}])
async def test_the_operation_of_somebody_else_looks_absent_and_goes_on(onceward: Onceward, who: Json) -> None:
    parked = await onceward.turn(await refund_of(onceward))
    answer = await cancel(onceward, parked.operation_id, onceward.token(**who))
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    await onceward.approve(parked.operation_id)
    assert await onceward.until(parked.operation_id, *ENDS) == "succeeded"


@pytest.mark.parametrize("name", ["op_absent", "..%2F..", "%00", "x" * 200])
async def test_an_odd_name_is_absent(onceward: Onceward, name: str) -> None:
    assert (await cancel(onceward, name)).status_code == 404


async def test_the_back_office_tells_who_wanted_it_to_stop(onceward: Onceward) -> None:
    parked = await onceward.turn(await refund_of(onceward))
    await cancel(onceward, parked.operation_id)
    async with onceward.visitor("operator-1") as visitor:
        page = (await visitor.page(f"/operations/{parked.operation_id}")).text
    assert "The caller wants it to stop" in page
    assert "cancelled before it happened" in page
