"""A host whose connection breaks calls again under the same name and comes to the same one effect."""

import asyncio

import pytest

from tests.support.mcp_host import ask, host, naming, result
from tests.support.onceward import Onceward
from tests.support.proposals import fresh
from tests.support.waiting import until


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
