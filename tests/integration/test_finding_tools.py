"""Tools that are not listed at once: they can be found by who may use them, and called once they were found."""

from typing import Any

import pytest

from tests.support.onceward import Onceward, Reply
from tests.support.proposals import fresh
from tests.support.responses import ALL_SURFACES, Call, call

Json = dict[str, Any]

RATE: Call = call("get_exchange_rate", {"pair": "USDKRW"})
FIND: Call = call("tool_search", {"query": "환율이 얼마야?"}, "call-search")


def analyst(onceward: Onceward) -> str:
    return onceward.token(subject=fresh("user"), roles=["analyst"])


async def code_of(onceward: Onceward, asked: Call, token: str, **more: Any) -> str | None:
    reply = await onceward.turn(asked, token=token, **more)
    error: Json = reply.only.get("error") or {}
    return error.get("code")


async def tools(onceward: Onceward, token: str, **asked: Any) -> Json:
    answer = await onceward.door.get("/v1/tools", params=asked, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200, answer.text
    body: Json = answer.json()
    return body


def names(listed: Json) -> set[str]:
    return {each.get("name") or each.get("function", {}).get("name") or each["type"] for each in listed["tools"]}


async def test_a_tool_that_was_not_found_cannot_be_called_and_begins_nothing(onceward: Onceward) -> None:
    token = analyst(onceward)
    reply = await onceward.turn(RATE, token=token)
    assert (reply.code, reply.only["operation_id"]) == ("tool_not_found_yet", None)


async def test_what_a_search_has_found_can_be_called_from_then_on_in_that_conversation(onceward: Onceward) -> None:
    token = analyst(onceward)
    found = await onceward.turn(FIND, token=token, conversation="talk-1")
    assert found.only["status"] == "succeeded"
    assert [each["name"] for each in found.only["data"]["tools"]][:1] == ["get_exchange_rate"]
    assert await code_of(onceward, RATE, token, conversation="talk-1") is None
    assert await code_of(onceward, RATE, token, conversation="talk-2") == "tool_not_found_yet"


async def test_finding_a_tool_gives_nobody_else_the_right_to_it(onceward: Onceward) -> None:
    await onceward.turn(FIND, token=analyst(onceward), conversation="talk-1")
    stranger = onceward.token(subject=fresh("user"), roles=["viewer"])
    found = await onceward.turn(FIND, token=stranger, conversation="talk-1")
    assert found.only["data"] == {"tools": []}
    assert await code_of(onceward, RATE, stranger, conversation="talk-1") == "tool_not_allowed"


@pytest.mark.parametrize("name", ["Get_Exchange_Rate", "get_exchange_rate ", "get_exchange_rates", "exchange_rate"])
async def test_a_name_that_is_nearly_right_is_unknown(onceward: Onceward, name: str) -> None:
    token = analyst(onceward)
    await onceward.turn(FIND, token=token)
    assert await code_of(onceward, call(name, {"pair": "USDKRW"}), token) == "unknown_tool"


@pytest.mark.parametrize("arguments", [{}, {"query": "x", "limit": 99}, {"pattern": "(?<=a)b"}, {"quer": "x"}, []])
async def test_a_search_that_cannot_be_made_is_refused_with_the_place(onceward: Onceward, arguments: Any) -> None:
    reply = await onceward.turn(call("tool_search", arguments), surface="gemini-interactions", token=analyst(onceward))
    told = reply.body
    assert reply.status == 422 or told["results"][0]["error"]["code"] == "invalid_arguments"


async def test_a_pattern_finds_by_name(onceward: Onceward) -> None:
    token = analyst(onceward)
    found = await onceward.turn(call("tool_search", {"pattern": "^get_.*rate$"}), token=token)
    assert [each["name"] for each in found.only["data"]["tools"]] == ["get_exchange_rate"]


DEFERRED_IS_LISTED = {"anthropic-messages"}
"""Where a search answers with references to what the request lists."""


@pytest.mark.parametrize("surface", ALL_SURFACES)
async def test_a_search_is_offered_as_each_surface_has_it_and_its_findings_work(
    onceward: Onceward, surface: str
) -> None:
    token = analyst(onceward)
    listed = names(await tools(onceward, token, surface=surface))
    assert {"get_weather", "tool_search"} <= listed
    assert ("get_exchange_rate" in listed) is (surface in DEFERRED_IS_LISTED)
    found = await onceward.turn(FIND, token=token, surface=surface)
    added = {str(each.get("name") or each.get("function", {}).get("name")) for each in found.body["tools"]}
    assert added in (set(), {"get_exchange_rate"})
    assert "get_exchange_rate" in str(found.body["append"])
    assert await code_of(onceward, RATE, token, surface=surface) is None


async def test_nobody_is_offered_a_search_who_has_nothing_to_find(onceward: Onceward) -> None:
    viewer = onceward.token(roles=["viewer"])
    assert names(await tools(onceward, viewer, surface="openai-chat")) == {"get_order"}


async def test_the_few_tools_that_fit_are_listed_alone_and_may_be_called(onceward: Onceward) -> None:
    token = analyst(onceward)
    few = await tools(onceward, token, surface="openai-chat", query="환전하려는데 환율 알려줘", limit=3)
    assert names(few) == {"get_exchange_rate"}
    assert await code_of(onceward, RATE, token) is None


@pytest.mark.parametrize(
    "asked", [{"query": "x", "limit": 11}, {"query": "x" * 1001}, {"search": "nobody"}, {"search": "provider"}]
)
async def test_a_list_that_cannot_be_made_is_refused_by_a_stable_code(onceward: Onceward, asked: Json) -> None:
    headers = {"Authorization": f"Bearer {analyst(onceward)}"}
    answer = await onceward.door.get("/v1/tools", params={"surface": "openai-chat"} | asked, headers=headers)
    assert answer.status_code == 422
    assert answer.json()["code"] in {"invalid_search", "unknown_search"}


async def test_what_the_providers_own_search_has_brought_up_may_be_called(onceward: Onceward) -> None:
    token = analyst(onceward)
    listed = await tools(onceward, token, surface="anthropic-messages", search="provider")
    marked = {each["name"]: each.get("defer_loading") for each in listed["tools"]}
    assert (marked["get_exchange_rate"], "tool_search_tool_bm25" in marked) == (True, True)
    reference = {"type": "tool_reference", "tool_name": "get_exchange_rate"}
    content = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "tool_search_tool_bm25", "input": {"query": "rate"}},
        {
            "type": "tool_search_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": {"type": "tool_search_tool_search_result", "tool_references": [reference]},
        },
        {"type": "tool_use", "id": "call-1", "name": "get_exchange_rate", "input": {"pair": "USDKRW"}},
    ]
    message = {"id": fresh("msg"), "role": "assistant", "content": content, "stop_reason": "tool_use"}
    answer = await onceward.post({"surface": "anthropic-messages", "response": message}, token)
    reply = Reply(answer.status_code, answer.json(), "anthropic-messages")
    assert reply.only["data"]["says"] == "1,391.20"
