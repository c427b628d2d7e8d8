"""Any MCP host has our tools, each behind the same gate, and comes to the same one effect."""

import json
from typing import Any

import pytest
from mcp import MCPError
from sqlalchemy import select

from adapters.postgres.tables import calls
from tests.support.mcp_host import REVISIONS, TASKS, ask, host, naming, result
from tests.support.onceward import Onceward
from tests.support.proposals import fresh

Json = dict[str, Any]

every_revision = pytest.mark.parametrize("mode", REVISIONS.values(), ids=REVISIONS)


async def refund(onceward: Onceward) -> Json:
    """The arguments of a refund on an order of its own."""
    return await onceward.provider.refund_arguments(await onceward.provider.add_order())


def told(answer: Any) -> Json:
    """What the host's model reads; its text says the same."""
    assert answer.structured_content == json.loads(answer.content[0].text)
    return dict(answer.structured_content)


@every_revision
async def test_a_host_is_told_of_the_tools_of_its_user_and_of_no_others(onceward: Onceward, mode: str) -> None:
    async with host(onceward, mode=mode) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    async with host(onceward, onceward.token(roles=["viewer"]), mode) as client:
        viewers = {tool.name for tool in (await client.list_tools()).tools}

    assert {"get_order", "prepare_refund", "refund_payment", "get_operation", "cancel_operation"} <= listed.keys()
    assert viewers == {"get_order", "get_operation", "cancel_operation"}
    read, write = listed["get_order"], listed["refund_payment"]
    assert read.annotations is not None
    assert write.annotations is not None
    assert (read.annotations.read_only_hint, write.annotations.read_only_hint) == (True, False)
    assert write.input_schema["additionalProperties"] is False
    assert write.output_schema is not None
    assert set(write.output_schema["required"]) == {"status"}


async def test_a_list_is_fresh_for_a_while_and_for_its_user_alone(onceward: Onceward) -> None:
    listed = await result(onceward, "tools/list", {})
    assert (listed["cacheScope"], listed["ttlMs"]) == ("private", 60_000)
    discovered = await result(onceward, "server/discover", {})
    assert not discovered["capabilities"]["tools"].get("listChanged")
    assert discovered["capabilities"]["extensions"] == {TASKS: {}}


@every_revision
async def test_a_read_is_answered_in_the_declared_form(onceward: Onceward, mode: str) -> None:
    order_id = await onceward.provider.add_order()
    async with host(onceward, mode=mode) as client:
        await client.list_tools()  # the client then holds each answer to the declared form
        answer = await client.call_tool("get_order", {"order_id": order_id})
    assert answer.is_error is False
    assert told(answer)["status"] == "succeeded"
    assert told(answer)["result"]["order_id"] == order_id


@every_revision
async def test_a_refund_waits_is_approved_and_is_told_with_its_receipt(onceward: Onceward, mode: str) -> None:
    arguments = await refund(onceward)
    async with host(onceward, mode=mode) as client:
        await client.list_tools()
        waiting = await client.call_tool("refund_payment", arguments)
        operation_id = told(waiting)["operation_id"]
        assert waiting.is_error is False
        assert told(waiting)["status"] == "waiting"
        assert told(waiting)["waiting"]["code"] == "approval_required"
        assert "get_operation" in told(waiting)["next_step"]

        assert (await onceward.approve(operation_id)).status_code == 200
        await onceward.until(operation_id, "succeeded")
        done = await client.call_tool("get_operation", {"operation_id": operation_id})
    (made,) = (await onceward.provider.ledger(operation_id))["refunds"]
    assert done.is_error is False
    assert told(done)["result"]["refund_id"] == made["refund_id"]


async def test_a_host_that_polls_is_given_a_task_and_its_result(onceward: Onceward) -> None:
    call = {"name": "refund_payment", "arguments": await refund(onceward)}
    task = await result(onceward, "tools/call", call, tasks=True)
    operation_id = task["taskId"]
    assert (task["resultType"], task["status"]) == ("task", "working")
    assert "approve" in task["statusMessage"]

    assert (await onceward.approve(operation_id)).status_code == 200
    await onceward.until(operation_id, "succeeded")
    done = await result(onceward, "tasks/get", {"taskId": operation_id}, tasks=True)
    (made,) = (await onceward.provider.ledger(operation_id))["refunds"]
    assert (done["resultType"], done["status"]) == ("complete", "completed")
    assert done["result"]["isError"] is False
    assert done["result"]["structuredContent"]["result"]["refund_id"] == made["refund_id"]


async def test_a_task_that_is_cancelled_in_time_sends_nothing_and_says_so(onceward: Onceward) -> None:
    call = {"name": "refund_payment", "arguments": await refund(onceward)}
    operation_id = (await result(onceward, "tools/call", call, tasks=True))["taskId"]
    await result(onceward, "tasks/cancel", {"taskId": operation_id}, tasks=True)

    await onceward.until(operation_id, "failed_terminal")
    task = await result(onceward, "tasks/get", {"taskId": operation_id}, tasks=True)
    assert task["status"] == "cancelled"
    assert await onceward.provider.posts(operation_id) == 0


async def test_no_task_is_given_to_a_host_that_did_not_ask_for_one(onceward: Onceward) -> None:
    answer = await ask(onceward, "tasks/get", {"taskId": "op_unknown"})
    assert answer.json()["error"]["code"] == -32021
    unknown = await ask(onceward, "tasks/get", {"taskId": "op_unknown"}, tasks=True)
    assert unknown.json()["error"]["code"] == -32602


async def test_a_wish_to_cancel_by_the_tool_tells_what_came_of_it(onceward: Onceward) -> None:
    async with host(onceward) as client:
        operation_id = told(await client.call_tool("refund_payment", await refund(onceward)))["operation_id"]
        answer = await client.call_tool("cancel_operation", {"operation_id": operation_id})
        ended = await client.call_tool("get_operation", {"operation_id": operation_id})
    assert answer.is_error is False
    assert told(answer)["cancellation"]["code"] == "canceled"
    assert ended.is_error is True
    assert told(ended)["error"]["code"] == "canceled"
    assert await onceward.provider.posts(operation_id) == 0


# -- the identity of a request


async def test_the_same_request_id_again_is_the_same_operation_and_one_effect(onceward: Onceward) -> None:
    arguments, named = await refund(onceward), naming(fresh("request"))
    async with host(onceward) as client:
        first = told(await client.call_tool("refund_payment", arguments, meta=named))
    async with host(onceward) as client:
        second = told(await client.call_tool("refund_payment", arguments, meta=named))
        assert first["operation_id"] == second["operation_id"]
        await onceward.approve(first["operation_id"])
        await onceward.until(first["operation_id"], "succeeded")
        third = told(await client.call_tool("refund_payment", arguments, meta=named))
    assert (third["status"], third["operation_id"]) == ("succeeded", first["operation_id"])
    assert await onceward.provider.effects(first["operation_id"]) == 1


async def test_the_same_request_id_with_other_arguments_is_refused_and_changes_nothing(onceward: Onceward) -> None:
    arguments, named = await refund(onceward), naming(fresh("request"))
    async with host(onceward) as client:
        first = told(await client.call_tool("refund_payment", arguments, meta=named))
        other = await client.call_tool("refund_payment", arguments | {"amount": 11_000}, meta=named)
        still = told(await client.call_tool("refund_payment", arguments, meta=named))
    assert other.is_error is True
    assert told(other)["error"]["code"] == "idempotency_conflict"
    assert still == first


async def test_another_users_request_of_the_same_id_is_another_operation(onceward: Onceward) -> None:
    named = naming(fresh("request"))
    async with host(onceward) as client:
        mine = told(await client.call_tool("refund_payment", await refund(onceward), meta=named))
    async with host(onceward, onceward.token(subject="user-18")) as client:
        theirs = told(await client.call_tool("refund_payment", await refund(onceward), meta=named))
    assert mine["status"] == theirs["status"] == "waiting"
    assert mine["operation_id"] != theirs["operation_id"]


async def test_an_unnamed_call_that_is_repeated_while_it_waits_is_the_one_that_waits(onceward: Onceward) -> None:
    arguments = await refund(onceward)
    async with host(onceward) as client:
        first = told(await client.call_tool("refund_payment", arguments))
        second = told(await client.call_tool("refund_payment", arguments))
    assert first["operation_id"] == second["operation_id"]
    await onceward.approve(first["operation_id"])
    await onceward.until(first["operation_id"], "succeeded")
    assert await onceward.provider.effects(first["operation_id"]) == 1


@pytest.mark.parametrize("name", ["", "x" * 201, "line\nbreak", 7, {"a": 1}])
async def test_a_request_id_that_is_none_is_refused_before_anything(onceward: Onceward, name: Any) -> None:
    call = {"name": "get_order", "arguments": {"order_id": "O-17"}, "_meta": naming(name)}
    answer = await ask(onceward, "tools/call", call)
    assert answer.json()["error"]["code"] == -32602


# -- what is no success


@every_revision
@pytest.mark.parametrize("name", ["no_such_tool", "refund_payment", "tool_search"])
async def test_a_tool_that_this_user_was_not_offered_is_an_error_of_the_protocol_and_on_record(
    onceward: Onceward, mode: str, name: str
) -> None:
    async with host(onceward, onceward.token(roles=["viewer"]), mode) as client:
        with pytest.raises(MCPError) as refused:
            await client.call_tool(name, {})
    assert refused.value.code == -32602


@pytest.mark.parametrize("name", ["no_such_tool", "refund_payment"])
async def test_however_often_it_is_called_nobody_learns_whether_there_is_such_a_tool(
    onceward: Onceward, name: str
) -> None:
    token = onceward.token(roles=["viewer"], subject=fresh("user"))
    answers = [
        (await ask(onceward, "tools/call", {"name": name, "arguments": {}}, token=token)).json() for _ in range(6)
    ]
    assert {answer["error"]["code"] for answer in answers} == {-32602}
    assert {answer["error"]["data"]["code"] for answer in answers} == {"unknown_tool"}


@every_revision
async def test_arguments_that_do_not_fit_are_a_tools_error_that_says_where(onceward: Onceward, mode: str) -> None:
    async with host(onceward, mode=mode) as client:
        answer = await client.call_tool("get_order", {"order_id": 17})
    assert answer.is_error is True
    assert told(answer)["error"]["code"] == "invalid_arguments"
    assert told(answer)["error"]["details"][0]["path"] == "/order_id"
    assert "operation_id" not in told(answer)


async def test_what_the_business_refuses_is_a_tools_error_and_never_sent(onceward: Onceward) -> None:
    async with onceward.provider.switched(quote_seconds=0):
        arguments = await refund(onceward)
    async with host(onceward) as client:
        answer = await client.call_tool("refund_payment", arguments)
    assert answer.is_error is True
    assert told(answer)["error"]["code"] == "quote_expired"
    assert await onceward.provider.posts(told(answer)["operation_id"]) == 0


async def test_an_operation_of_somebody_else_is_as_if_it_were_not(onceward: Onceward) -> None:
    async with host(onceward) as client:
        operation_id = told(await client.call_tool("refund_payment", await refund(onceward)))["operation_id"]
    for stranger in ({"tenant": "tenant-b"}, {"subject": "user-18"}):
        token = onceward.token(**stranger)
        async with host(onceward, token) as client:
            for tool in ("get_operation", "cancel_operation"):
                answer = await client.call_tool(tool, {"operation_id": operation_id})
                assert answer.is_error is True
                assert told(answer)["error"]["code"] == "not_found"
        for method in ("tasks/get", "tasks/cancel", "tasks/update"):
            asked = await ask(onceward, method, {"taskId": operation_id}, token=token, tasks=True)
            assert asked.json()["error"]["code"] == -32602
    assert await onceward.state(operation_id) == "awaiting_approval"


async def test_a_call_by_mcp_is_kept_like_any_other(onceward: Onceward) -> None:
    request_id = fresh("request")
    async with host(onceward) as client:
        answer = told(await client.call_tool("refund_payment", await refund(onceward), meta=naming(request_id)))
    (kept,) = await onceward.rows(select(calls).where(calls.c.request_id == request_id))
    assert (kept.surface, kept.operation_id, kept.tool) == ("mcp", answer["operation_id"], "refund_payment")


async def test_a_host_that_asks_for_progress_hears_of_it_until_the_answer(onceward: Onceward) -> None:
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with host(onceward) as client:
        operation_id = told(await client.call_tool("refund_payment", await refund(onceward)))["operation_id"]
        await client.call_tool("get_operation", {"operation_id": operation_id}, progress_callback=hear)
    assert len(heard) >= 2
    assert heard == sorted(set(heard))
