"""The client against a door of a few lines."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx2
import pytest

from adapters.client import Onceward, OncewardError, Result

Json = dict[str, Any]

WAITING: Json = {
    "call_id": "call-1",
    "tool_name": "refund_payment",
    "status": "failed_retryable",
    "error": {"code": "approval_required", "kind": "not_started", "next_action": "wait_and_query", "message": "Wait."},
    "operation_id": "op_1",
    "final": False,
    "replayed": False,
}
DONE: Json = {
    "call_id": "call-1",
    "tool_name": "refund_payment",
    "status": "succeeded",
    "data": {"refund_id": "rf-204"},
    "operation_id": "op_1",
    "final": True,
    "replayed": True,
}


def turn_of(result: Json) -> Json:
    return {"request_id": "msg_1", "complete": result["final"], "results": [result], "append": [{"role": "user"}]}


class Door:
    """Gives the answers in their order, the last one for ever, and remembers what it was asked."""

    def __init__(self, *answers: httpx2.Response | Exception | Json) -> None:
        self._answers = list(answers)
        self.asked: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx2.Response(200, json=answer) if isinstance(answer, Mapping) else answer

    def bodies(self) -> list[Json]:
        return [json.loads(request.content) for request in self.asked]


class Time:
    """Stands still except while somebody sleeps, or the door is waited for."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def client(door: Door, time: Time | None = None, token: str | Callable[[], str] = "a-token") -> Onceward:
    time = time or Time()
    return Onceward("http://door", token, transport=httpx2.MockTransport(door), clock=time.clock, sleep=time.sleep)


# -- what reaches the door


async def test_plain_json_arrives_unchanged_even_with_half_a_character_in_it() -> None:
    door, response = Door(turn_of(DONE)), {"id": "m", "content": [{"text": "half a \ud83d"}], "n": 2**70}
    await client(door).turn("anthropic-messages", response)
    assert door.bodies()[0]["response"] == response


async def test_what_is_no_response_is_an_error_of_the_caller_and_sent_nowhere() -> None:
    door = Door(turn_of(DONE))
    with pytest.raises(TypeError, match="a mapping or an object of a provider's package"):
        await client(door).turn("anthropic-messages", ["no", "response"])
    with pytest.raises(TypeError, match="exactly one of both"):
        await client(door).until_complete("anthropic-messages")
    assert door.asked == []


async def test_a_stream_is_handed_in_as_its_events_in_their_order() -> None:
    door, events = Door(turn_of(DONE)), [{"type": "message_start"}, {"type": "message_stop"}]
    await client(door).turn("anthropic-messages", events=iter(events))
    assert door.bodies()[0]["events"] == events
    assert "response" not in door.bodies()[0]


async def test_a_number_that_is_none_is_an_error_of_the_caller_and_sent_nowhere() -> None:
    door = Door(turn_of(DONE))
    with pytest.raises(ValueError, match="not JSON compliant"):
        await client(door).turn("anthropic-messages", {"amount": float("nan")})
    assert door.asked == []


async def test_patience_and_the_request_id_are_sent_as_the_door_reads_them() -> None:
    door = Door(turn_of(DONE))
    await client(door).turn("openai-chat", {}, request_id="mine", wait_seconds=2.5, wait_for="end")
    await client(door).turn("openai-chat", {})
    assert door.bodies()[0] == {
        "surface": "openai-chat",
        "response": {},
        "request_id": "mine",
        "wait_seconds": 2.5,
        "wait_for": "end",
    }
    assert "request_id" not in door.bodies()[1]


async def test_a_conversation_is_named_where_the_caller_names_it() -> None:
    door = Door(turn_of(DONE))
    await client(door).turn("openai-chat", {}, conversation="c-1")
    await client(door).until_complete("openai-chat", {}, conversation="c-1")
    await client(door).until_complete("openai-chat", {})
    assert [body.get("conversation") for body in door.bodies()] == ["c-1", "c-1", None]


async def test_the_token_is_asked_for_anew_with_each_request() -> None:
    door, tokens = Door(turn_of(DONE)), iter(["first", "second"])
    onceward = client(door, token=lambda: next(tokens))
    await onceward.turn("openai-chat", {})
    await onceward.turn("openai-chat", {})
    assert [request.headers["authorization"] for request in door.asked] == ["Bearer first", "Bearer second"]


# -- what comes back


async def test_a_turn_is_read_with_its_results_and_messages() -> None:
    turn = await client(Door(turn_of(WAITING))).turn("openai-chat", {})
    assert (turn.request_id, turn.complete, turn.append) == ("msg_1", False, [{"role": "user"}])
    assert turn.results[0].code == "approval_required"
    assert (turn.results[0].operation_id, turn.results[0].final, turn.results[0].data) == ("op_1", False, None)


async def test_a_turn_tells_the_answers_alone_and_what_a_search_has_found() -> None:
    more = {"answers": [{"role": "tool"}], "paused": True, "tools": [{"name": "get_order"}]}
    turn = await client(Door(turn_of(DONE) | more)).turn("openai-responses", {})
    assert (turn.answers, turn.paused, turn.tools) == ([{"role": "tool"}], True, [{"name": "get_order"}])


async def test_an_earlier_door_tells_less() -> None:
    turn = await client(Door(turn_of(DONE))).turn("openai-responses", {})
    assert (turn.answers, turn.paused, turn.tools) == ([], False, [])
    assert turn.results[0].duplicate_of is None


async def test_a_second_call_for_the_same_act_names_the_first() -> None:
    turn = await client(Door(turn_of(DONE | {"duplicate_of": "call-0"}))).turn("openai-chat", {})
    assert turn.results[0].duplicate_of == "call-0"


async def test_members_of_a_later_door_are_left_out() -> None:
    later = turn_of(DONE | {"later": 1}) | {"later": 2}
    turn = await client(Door(later)).turn("openai-chat", {})
    assert turn.results == (
        Result("call-1", "refund_payment", "succeeded", {"refund_id": "rf-204"}, operation_id="op_1", replayed=True),
    )
    assert turn.results[0].code is None


async def test_an_operation_is_asked_for_by_its_id_alone() -> None:
    door = Door(
        {"operation_id": "op/1", "tool_name": "t", "state": "succeeded", "final": True, "data": {}, "reference": "rf"}
    )
    operation = await client(door).operation("op/1")
    assert (operation.state, operation.final, operation.reference, operation.error) == ("succeeded", True, "rf", None)
    assert door.asked[0].url.raw_path == b"/v1/operations/op%2F1"


async def test_a_cancellation_tells_what_came_of_it_and_where_the_operation_stands() -> None:
    ended = {"operation_id": "op/1", "tool_name": "t", "state": "failed_terminal", "final": True}
    door = Door(ended | {"error": {"code": "canceled"}, "cancellation": {"code": "canceled", "kind": "refused"}})
    cancellation = await client(door).cancel("op/1")
    assert (cancellation.code, cancellation.operation.state) == ("canceled", "failed_terminal")
    assert (door.asked[0].method, door.asked[0].url.raw_path) == ("POST", b"/v1/operations/op%2F1/cancel")


async def test_tools_come_in_the_form_of_the_surface() -> None:
    door = Door({"surface": "openai-chat", "tools": [{"type": "function"}]})
    assert await client(door).tools("openai-chat") == [{"type": "function"}]
    assert door.asked[0].url.params["surface"] == "openai-chat"


async def test_the_limit_of_the_request_is_handed_on() -> None:
    door = Door({"request_id": "r", "complete": True, "results": [], "append": []})
    await client(door).turn("openai-chat", {"id": "r"}, output_limit=1024)
    assert json.loads(door.asked[0].content)["output_limit"] == 1024


async def test_an_offer_tells_what_else_the_request_must_have() -> None:
    door = Door({"surface": "anthropic-messages", "tools": [], "request": {"mcp_servers": [{"name": "wiki"}]}})
    offer = await client(door).offer("anthropic-messages", search="provider")
    assert (offer.tools, offer.request) == ([], {"mcp_servers": [{"name": "wiki"}]})
    assert dict(door.asked[0].url.params) == {"surface": "anthropic-messages", "search": "provider"}


async def test_a_shortlist_is_asked_for_in_the_conversation_that_will_use_it() -> None:
    door = Door({"surface": "openai-chat", "tools": [{"type": "function"}], "request": {}})
    assert await client(door).shortlist("openai-chat", "환율", limit=3, conversation="talk-1") == [{"type": "function"}]
    asked = dict(door.asked[0].url.params)
    assert (asked["query"], asked["limit"], asked["conversation"]) == ("환율", "3", "talk-1")


# -- errors


async def test_a_problem_is_raised_with_its_code_and_what_to_do_next() -> None:
    problem = {
        "code": "incomplete_response",
        "title": "Cut off.",
        "next_action": "propose_again",
        "errors": [{"path": "/stop_reason", "code": "cut_off"}],
    }
    with pytest.raises(OncewardError, match="incomplete_response: Cut off") as raised:
        await client(Door(httpx2.Response(422, json=problem))).turn("openai-chat", {})
    error = raised.value
    assert (error.code, error.status, error.next_action, error.passing) == (
        "incomplete_response",
        422,
        "propose_again",
        False,
    )
    assert error.errors == ({"path": "/stop_reason", "code": "cut_off"},)


@pytest.mark.parametrize(
    ("answer", "code", "passing"),
    [
        (httpx2.ConnectError("refused"), "door_unreachable", True),
        (httpx2.ReadTimeout("slow"), "door_unreachable", True),
        (httpx2.DecodingError("no gzip"), "door_unreachable", True),
        (httpx2.Response(503, json={"code": "issuer_unavailable", "title": "No."}), "issuer_unavailable", True),
        (httpx2.Response(502, text="<html>Bad gateway</html>"), "unexpected_answer", True),
        (httpx2.Response(401, json={"code": "expired_token", "title": "Expired."}), "expired_token", False),
        (httpx2.Response(200, text="<html>Welcome</html>"), "unexpected_answer", False),
        (httpx2.Response(200, json={"another": "service"}), "unexpected_answer", False),
        (httpx2.Response(200, json=["another", "service"]), "unexpected_answer", False),
        (httpx2.Response(404, json=["another", "service"]), "unexpected_answer", False),
        (httpx2.Response(307, headers={"location": "http://elsewhere"}), "unexpected_answer", False),
    ],
)
async def test_every_missing_answer_is_the_one_error(
    answer: httpx2.Response | Exception, code: str, passing: bool
) -> None:
    with pytest.raises(OncewardError) as raised:
        await client(Door(answer)).turn("openai-chat", {})
    assert (raised.value.code, raised.value.passing) == (code, passing)


# -- until every result is final


async def test_the_same_delivery_is_repeated_until_every_result_is_final() -> None:
    door = Door(turn_of(WAITING), turn_of(WAITING), turn_of(DONE))
    turn = await client(door).until_complete("openai-chat", {"id": "msg_1"}, request_id="mine")
    assert turn.complete
    assert [(body["response"], body["request_id"], body["wait_for"]) for body in door.bodies()] == [
        ({"id": "msg_1"}, "mine", "end")
    ] * 3


async def test_every_delivery_of_a_stream_has_all_its_events() -> None:
    door = Door(turn_of(WAITING), turn_of(DONE))
    await client(door).until_complete("openai-chat", events=iter([{"n": 1}, {"n": 2}]))
    assert [body["events"] for body in door.bodies()] == [[{"n": 1}, {"n": 2}]] * 2


async def test_an_outage_of_the_door_is_waited_out_with_growing_pauses() -> None:
    down, time = httpx2.ConnectError("refused"), Time()
    door = Door(down, httpx2.Response(503, text=""), down, turn_of(DONE))
    assert (await client(door, time).until_complete("openai-chat", {})).complete
    assert time.slept == sorted(set(time.slept))
    assert len(time.slept) == 3


async def test_a_refusal_ends_the_waiting_at_once() -> None:
    door, time = Door(httpx2.Response(422, json={"code": "unknown_surface", "title": "No."})), Time()
    with pytest.raises(OncewardError, match="unknown_surface"):
        await client(door, time).until_complete("nowhere", {})
    assert (len(door.asked), time.slept) == (1, [])


async def test_when_patience_ends_the_last_answer_comes_back_incomplete() -> None:
    door, time = Door(turn_of(WAITING)), Time()
    turn = await client(door, time).until_complete("openai-chat", {}, patience_seconds=1.0)
    assert not turn.complete
    assert time.now == pytest.approx(1.0)
    assert door.bodies()[-1]["wait_seconds"] == 0


async def test_when_patience_ends_in_an_outage_the_outage_is_raised() -> None:
    time = Time()
    with pytest.raises(OncewardError, match="door_unreachable"):
        await client(Door(httpx2.ConnectError("refused")), time).until_complete("openai-chat", {}, patience_seconds=5)
    assert time.now == pytest.approx(5.0)


async def test_connections_are_given_back_at_the_end_of_the_block() -> None:
    async with client(Door(turn_of(DONE))) as onceward:
        await onceward.turn("openai-chat", {})
    with pytest.raises(RuntimeError, match="closed"):
        await onceward.turn("openai-chat", {})
