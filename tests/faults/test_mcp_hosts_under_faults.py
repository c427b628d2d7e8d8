"""A host whose connection breaks calls again under the same name and comes to the same one effect."""

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.support.mcp_host import ask, host, naming, result
from tests.support.onceward import Onceward
from tests.support.proposals import fresh
from tests.support.waiting import until
from worker.dev.layout import ROOT

Json = dict[str, Any]


@pytest.fixture
async def storeless(faulty: Onceward) -> AsyncIterator[Onceward]:
    """The same, without its PostgreSQL for a while."""
    await faulty.stack.stop("postgres")
    yield faulty
    await faulty.stack.start("postgres")


@pytest.mark.parametrize("approved", [False, True], ids=["while it waits", "while it is carried out"])
async def test_a_door_killed_before_it_answers_leaves_one_operation_and_one_effect(
    faulty: Onceward, approved: bool
) -> None:
    arguments = await faulty.provider.refund_arguments(await faulty.provider.add_order())
    request_id = fresh("request")
    call = {"name": "refund_payment", "arguments": arguments, "_meta": naming(request_id)}
    if approved:
        async with host(faulty) as client:
            await client.call_tool("refund_payment", arguments, meta=naming(request_id))
        (operation_id,) = await faulty.operations_of(request_id)
        await faulty.approve(operation_id)
    lost = asyncio.create_task(ask(faulty, "tools/call", call, tasks=not approved))
    await until(lambda: faulty.operations_of(request_id), lambda found: len(found) == 1)
    await faulty.stack.kill("api")
    await asyncio.gather(lost, return_exceptions=True)
    await faulty.stack.start("api")

    again = await result(faulty, "tools/call", call, tasks=True)
    (operation_id,) = await faulty.operations_of(request_id)
    assert operation_id in (again.get("taskId"), again.get("structuredContent", {}).get("operation_id"))
    if not approved:
        await faulty.approve(operation_id)
    await faulty.until(operation_id, "succeeded")
    done = await result(faulty, "tasks/get", {"taskId": operation_id}, tasks=True)
    assert done["result"]["structuredContent"]["status"] == "succeeded"
    assert await faulty.provider.effects(operation_id) == 1
    assert await faulty.provider.posts(operation_id) == 1


async def test_a_host_that_hangs_up_cancels_nothing(faulty: Onceward) -> None:
    arguments = await faulty.provider.refund_arguments(await faulty.provider.add_order())
    request_id = fresh("request")
    call = {"name": "refund_payment", "arguments": arguments, "_meta": naming(request_id)}
    waiting = asyncio.create_task(ask(faulty, "tools/call", call))
    await until(lambda: faulty.operations_of(request_id), lambda found: len(found) == 1)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    (operation_id,) = await faulty.operations_of(request_id)
    await faulty.approve(operation_id)
    await faulty.until(operation_id, "succeeded")
    assert await faulty.provider.effects(operation_id) == 1


async def test_a_service_that_is_down_is_a_tools_error_with_our_code(faulty: Onceward) -> None:
    order_id = await faulty.provider.add_order()
    await faulty.stack.stop("provider")
    try:
        async with host(faulty) as client:
            answer = await client.call_tool("get_order", {"order_id": order_id})
            operation_id = (answer.structured_content or {})["operation_id"]
            await faulty.until(operation_id, "failed_retryable", "failed_terminal")
            answer = await client.call_tool("get_operation", {"operation_id": operation_id})
    finally:
        await faulty.stack.start("provider")
    assert answer.is_error is True
    assert (answer.structured_content or {})["error"]["code"] == "upstream_unavailable"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "get_order", "arguments": {"order_id": "O-17"}}),
        ("tools/call", {"name": "get_operation", "arguments": {"operation_id": "op_1"}}),
        ("tools/call", {"name": "cancel_operation", "arguments": {"operation_id": "op_1"}}),
        ("tasks/get", {"taskId": "op_1"}),
        ("tasks/update", {"taskId": "op_1"}),
        ("tasks/cancel", {"taskId": "op_1"}),
    ],
    ids=lambda given: given if isinstance(given, str) else given.get("name", ""),
)
async def test_while_the_store_is_away_each_request_is_told_so_in_the_protocols_words(
    storeless: Onceward, method: str, params: Json
) -> None:
    answer = await ask(storeless, method, params, tasks=True)
    told = answer.json()["error"]
    assert answer.status_code == 200
    assert (told["code"], told["data"]["code"]) == (-32603, "upstream_unavailable")
    assert "postgres" not in answer.text.lower()


async def test_the_same_name_over_two_transports_at_once_is_one_operation(faulty: Onceward) -> None:
    arguments = await faulty.provider.refund_arguments(await faulty.provider.add_order())
    request_id = fresh("request")
    call = {"name": "refund_payment", "arguments": arguments, "_meta": naming(request_id)}
    door = {"ONCEWARD_DOOR_URL": f"{faulty.stack.links.door}/mcp", "ONCEWARD_DOOR_TOKEN": faulty.token()}
    process = StdioServerParameters(command=sys.executable, args=["-m", "worker.mcp"], env=door, cwd=ROOT)
    async with Client(process) as client:
        over_stdio = [client.call_tool("refund_payment", arguments, meta=naming(request_id)) for _ in range(5)]
        over_http = [result(faulty, "tools/call", call) for _ in range(5)]
        by_stdio, by_http = await asyncio.gather(asyncio.gather(*over_stdio), asyncio.gather(*over_http))
    told = [*((each.structured_content or {}) for each in by_stdio), *(each["structuredContent"] for each in by_http)]
    (operation_id,) = await faulty.operations_of(request_id)
    assert {each["operation_id"] for each in told} == {operation_id}
    await faulty.approve(operation_id)
    await faulty.until(operation_id, "succeeded")
    assert await faulty.provider.effects(operation_id) == 1
