"""Tools that the provider runs itself: it is told whether it may, and what it ran is held against that."""

import json
from typing import Any

import pytest
from sqlalchemy import select

from adapters.postgres.tables import events, hosted_calls, operations
from tests.support.onceward import ENDS, Onceward, Reply
from tests.support.proposals import fresh
from tests.support.responses import call

Json = dict[str, Any]

SURFACE = "openai-responses"
PAGE = {"page": "shop/refunds", "text": "Refunds take two days."}


def librarian(onceward: Onceward, subject: str = "user-17") -> str:
    return onceward.token(subject=subject, roles=["librarian"])


def request_to_approve(tool: str, arguments: Json | str, item_id: str, server: str = "wiki") -> Json:
    text = arguments if isinstance(arguments, str) else _written(arguments)
    return {"type": "mcp_approval_request", "id": item_id, "server_label": server, "name": tool, "arguments": text}


def ran(tool: str, under: str | None, server: str = "wiki", **more: Any) -> Json:
    item: Json = {"type": "mcp_call", "id": fresh("mcp"), "server_label": server, "name": tool, "arguments": "{}"}
    return {**item, "status": "completed", "output": "ok", "approval_request_id": under, **more}


def _written(arguments: Json) -> str:
    return "{" + ", ".join(f'"{name}": "{value}"' for name, value in arguments.items()) + "}"


async def hand_in(onceward: Onceward, *items: Json, response_id: str = "", **more: Any) -> Reply:
    response = {"id": response_id or fresh("resp"), "object": "response", "status": "completed", "output": list(items)}
    token = more.pop("token", "") or librarian(onceward)
    answer = await onceward.post({"surface": SURFACE, "response": response, **more}, token)
    assert answer.status_code == 200, answer.text
    return Reply(answer.status_code, answer.json(), SURFACE)


def verdicts_told(reply: Reply) -> list[tuple[str, bool]]:
    answers = [each for each in reply.body["answers"] if each["type"] == "mcp_approval_response"]
    return [(each["approval_request_id"], each["approve"]) for each in answers]


async def recorded(onceward: Onceward, item: Json) -> Any:
    [row] = await onceward.rows(select(hosted_calls).where(hosted_calls.c.item_id == item["id"]))
    return row


async def test_a_read_that_the_policy_knows_is_allowed_at_once(onceward: Onceward) -> None:
    asked = request_to_approve("search_pages", {"words": "refund rules"}, fresh("mcpr"))
    reply = await hand_in(onceward, asked)
    assert verdicts_told(reply) == [(asked["id"], True)]
    assert reply.complete


@pytest.mark.parametrize(
    ("tool", "arguments", "server", "code"),
    [
        ("search_pages", {"word": "refund rules"}, "wiki", "invalid_arguments"),
        ("search_pages", '{"words": "a", "words": "b"}', "wiki", "invalid_arguments_json"),
        ("delete_page", {"page": "shop/refunds"}, "wiki", "unknown_tool"),
        ("search_pages", {"words": "refund rules"}, "elsewhere", "unknown_tool"),
    ],
)
async def test_what_is_refused_is_not_allowed_and_says_why(
    onceward: Onceward, tool: str, arguments: Any, server: str, code: str
) -> None:
    asked = request_to_approve(tool, arguments, fresh("mcpr"), server)
    reply = await hand_in(onceward, asked)
    assert (verdicts_told(reply), reply.code) == ([(asked["id"], False)], code)
    assert code in reply.body["answers"][0]["reason"]


async def test_who_may_not_use_the_server_gets_nothing_allowed(onceward: Onceward) -> None:
    asked = request_to_approve("search_pages", {"words": "refund rules"}, fresh("mcpr"))
    reply = await hand_in(onceward, asked, token=onceward.token(roles=["support"]))
    assert verdicts_told(reply) == [(asked["id"], False)]


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_write_is_answered_once_a_person_has_decided_and_not_before(onceward: Onceward, allowed: bool) -> None:
    asked, response_id = request_to_approve("replace_page", PAGE, fresh("mcpr")), fresh("resp")
    waiting = await hand_in(onceward, asked, response_id=response_id)
    assert (waiting.code, verdicts_told(waiting), waiting.complete) == ("approval_required", [], False)
    [question] = await onceward.approvals(waiting.operation_id)
    assert [fact["label"] for fact in question.impact["facts"]] == ["Carried out by"]
    sent = select(operations.c.arguments).where(operations.c.operation_id == waiting.operation_id)
    assert [json.loads(row.arguments) for row in await onceward.rows(sent)] == [PAGE]
    if allowed:
        await onceward.approve(waiting.operation_id, person="approver-4")
    else:
        await onceward.deny(waiting.operation_id, "No.", person="approver-4")
    await onceward.until(waiting.operation_id, *ENDS)
    decided = await hand_in(onceward, asked, response_id=response_id)
    assert verdicts_told(decided) == [(asked["id"], allowed)]
    assert decided.complete


async def test_a_call_that_was_allowed_is_recorded_under_its_operation(onceward: Onceward) -> None:
    asked = request_to_approve("search_pages", {"words": "refund rules"}, fresh("mcpr"))
    operation_id = (await hand_in(onceward, asked)).operation_id
    item = ran("search_pages", asked["id"], arguments=asked["arguments"])
    await hand_in(onceward, item)
    row = await recorded(onceward, item)
    assert (row.operation_id, row.code, row.failed, row.tool) == (operation_id, None, False, "wiki.search_pages")
    lines = await onceward.rows(select(events.c.what).where(events.c.operation_id == operation_id))
    assert [line.what for line in lines].count("hosted.ran") == 1


async def test_each_request_to_approve_needs_a_word_of_its_own(onceward: Onceward) -> None:
    asked = [request_to_approve("replace_page", PAGE, fresh("mcpr")) for _ in range(2)]
    response_id = fresh("resp")
    waiting = await hand_in(onceward, *asked, response_id=response_id)
    first, second = (result["operation_id"] for result in waiting.body["results"])
    assert first != second
    await onceward.approve(first, person="approver-4")
    await onceward.until(second, "awaiting_approval")
    assert verdicts_told(await hand_in(onceward, *asked, response_id=response_id)) == [(asked[0]["id"], True)]


async def test_what_was_allowed_may_run_once_with_the_arguments_that_were_seen(onceward: Onceward) -> None:
    asked = request_to_approve("search_pages", {"words": "refund rules"}, fresh("mcpr"))
    await hand_in(onceward, asked)
    other = ran("search_pages", asked["id"], arguments='{"words": "salaries"}')
    allowed, again = (ran("search_pages", asked["id"], arguments=asked["arguments"]) for _ in range(2))
    for item in (other, allowed, again):
        await hand_in(onceward, item)
    assert [(await recorded(onceward, each)).code for each in (other, allowed, again)] == [
        "hosted_call_not_approved", None, "hosted_call_not_approved",
    ]  # fmt: skip


async def test_an_approval_is_for_the_agent_that_asked(onceward: Onceward) -> None:
    asked = request_to_approve("search_pages", {"words": "refund rules"}, fresh("mcpr"))
    await hand_in(onceward, asked)
    item = ran("search_pages", asked["id"], arguments=asked["arguments"])
    await hand_in(onceward, item, token=onceward.token(roles=["librarian"], agent="another-agent"))
    assert (await recorded(onceward, item)).code == "hosted_call_not_approved"


async def test_two_calls_under_one_id_are_both_recorded(onceward: Onceward) -> None:
    twins = [ran("search_pages", None), ran("replace_page", None)]
    twins[1]["id"] = twins[0]["id"]
    await hand_in(onceward, *twins)
    rows = await onceward.rows(select(hosted_calls.c.tool).where(hosted_calls.c.item_id == twins[0]["id"]))
    assert sorted(row.tool for row in rows) == ["wiki.replace_page", "wiki.search_pages"]


async def test_a_write_that_a_provider_ran_where_it_does_not_ask_was_not_allowed(onceward: Onceward) -> None:
    item = {"type": "mcp_tool_use", "id": fresh("mcp"), "name": "replace_page", "server_name": "wiki", "input": PAGE}
    message = {"id": fresh("msg"), "role": "assistant", "content": [item], "stop_reason": "end_turn"}
    await onceward.post({"surface": "anthropic-messages", "response": message}, librarian(onceward))
    assert (await recorded(onceward, item)).code == "hosted_call_not_allowed"


async def test_a_call_is_recorded_once_however_often_its_response_is_handed_in(onceward: Onceward) -> None:
    item, response_id = ran("search_pages", None), fresh("resp")
    for _ in range(3):
        await hand_in(onceward, item, response_id=response_id)
    assert (await recorded(onceward, item)).code == "hosted_call_not_approved"


@pytest.mark.parametrize("under", [None, "mcpr_never_seen"])
async def test_a_call_that_nobody_approved_is_recorded_as_such(onceward: Onceward, under: str | None) -> None:
    item = ran("replace_page", under)
    await hand_in(onceward, item)
    assert (await recorded(onceward, item)).code == "hosted_call_not_approved"


async def test_an_approval_of_one_tool_or_one_user_is_none_for_another(onceward: Onceward) -> None:
    asked = request_to_approve("search_pages", {"words": "refund rules"}, fresh("mcpr"))
    await hand_in(onceward, asked)
    other_tool, other_user = ran("replace_page", asked["id"]), ran("search_pages", asked["id"])
    await hand_in(onceward, other_tool)
    await hand_in(onceward, other_user, token=librarian(onceward, fresh("user")))
    assert [(await recorded(onceward, each)).code for each in (other_tool, other_user)] == [
        "hosted_call_not_approved"
    ] * 2


async def test_a_call_of_what_was_never_offered_is_recorded_as_such(onceward: Onceward) -> None:
    item = ran("drop_everything", None, server="elsewhere", error={"type": "http_error", "code": 500, "message": "x"})
    await hand_in(onceward, item)
    row = await recorded(onceward, item)
    assert (row.code, row.failed, row.tool) == ("hosted_call_not_allowed", True, "elsewhere.drop_everything")


async def test_a_hosted_tool_cannot_be_called_as_one_of_ours_nor_the_other_way_round(onceward: Onceward) -> None:
    token = onceward.token(roles=["librarian", "support"])
    plain = await onceward.turn(call("wiki.replace_page", PAGE), surface=SURFACE, token=token)
    assert plain.code == "unknown_tool"
    asked = request_to_approve("get_order", {"order_id": "O-17"}, fresh("mcpr"), server="shop")
    assert (await hand_in(onceward, asked, token=token)).code == "unknown_tool"


async def test_servers_are_listed_with_the_tools_of_this_caller_and_asked_about_always(onceward: Onceward) -> None:
    headers = {"Authorization": f"Bearer {librarian(onceward)}"}
    answer = await onceward.door.get("/v1/tools", params={"surface": SURFACE}, headers=headers)
    assert answer.json()["tools"] == [
        {
            "type": "mcp",
            "server_label": "wiki",
            "server_url": "https://wiki.example/mcp",
            "allowed_tools": ["search_pages", "replace_page"],
            "require_approval": "always",
        }
    ]
    answer = await onceward.door.get("/v1/tools", params={"surface": "anthropic-messages"}, headers=headers)
    [toolset] = answer.json()["tools"]
    assert (toolset["type"], toolset["configs"]) == ("mcp_toolset", {"search_pages": {"enabled": True}})
    assert answer.json()["request"] == {
        "mcp_servers": [{"type": "url", "name": "wiki", "url": "https://wiki.example/mcp"}]
    }
