"""The process that a host starts itself: nothing but the protocol on standard output, from start to end."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.support.mcp_host import NEWEST, REVISIONS
from tests.support.onceward import Onceward
from worker.dev.layout import ROOT

Json = dict[str, Any]

NOISY = """
import importlib, os, subprocess, sys, warnings

print("a library prints when it is imported")
os.write(1, b"and writes half a line, past all of Python")
subprocess.run(["echo", "its child says this"], check=True)
warnings.warn("and it is out of date", stacklevel=1)
sys.path.remove(os.path.dirname(__file__))
del sys.modules["simplejson"]
sys.modules["simplejson"] = importlib.import_module("simplejson")
"""
"""Stands in the way of a library that the process imports, and then steps aside."""


def environment(onceward: Onceward, **more: str) -> dict[str, str]:
    door = {"ONCEWARD_DOOR_URL": f"{onceward.stack.links.door}/mcp", "ONCEWARD_DOOR_TOKEN": onceward.token()}
    return {"PATH": os.environ["PATH"], **door, **more}


COMMAND = (sys.executable, "-m", "worker.mcp")


@asynccontextmanager
async def started(settings: dict[str, str]) -> AsyncIterator[asyncio.subprocess.Process]:
    """The process, with its ends in our hands."""
    streams: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "limit": 2**20}
    process = await asyncio.create_subprocess_exec(*COMMAND, cwd=ROOT, env=settings, **streams)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def answer_of(process: asyncio.subprocess.Process, line: bytes) -> Json:
    """What the process answers to a line."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + b"\n")
    return dict(json.loads(await process.stdout.readline()))


async def spoken(settings: dict[str, str], lines: list[bytes]) -> tuple[list[Json], str, int]:
    """All messages that the process has written to these lines, what it said beside, and its exit code."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        cwd=ROOT,
        env=settings,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    written, said = await process.communicate(b"".join(line + b"\n" for line in lines))
    assert written == b"" or written.endswith(b"\n")
    messages = [json.loads(line) for line in written.decode().splitlines()]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    return messages, said.decode(), process.returncode or 0


def request(number: int, method: str, **params: Any) -> bytes:
    about = {"io.modelcontextprotocol/protocolVersion": NEWEST, "io.modelcontextprotocol/clientCapabilities": {}}
    body = {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": about}}
    return json.dumps(body).encode()


async def test_whatever_is_printed_no_line_of_the_protocol_is_anything_else(onceward: Onceward, tmp_path: Path) -> None:
    (tmp_path / "simplejson.py").write_text(NOISY, encoding="utf-8")
    order_id = await onceward.provider.add_order()
    calls = [request(n, "tools/call", name="get_order", arguments={"order_id": order_id}) for n in range(100)]
    odd = [b"not JSON", b'{"a": NaN}', b"[]", b"", request(100, "tools/call", name="no_such_tool", arguments={})]
    messages, said, code = await spoken(environment(onceward, PYTHONPATH=str(tmp_path)), [*calls, *odd])

    answered = {message["id"]: message for message in messages if message["id"] is not None}
    assert answered.keys() == set(range(101))
    assert all(answered[n]["result"]["isError"] is False for n in range(100))
    assert answered[100]["error"]["code"] == -32602
    assert [message["error"]["code"] for message in messages if message["id"] is None] == [-32700, -32700, -32600]
    assert code == 0
    for noise in ("a library prints", "past all of Python", "its child says", "out of date"):
        assert noise in said


@pytest.mark.parametrize("mode", REVISIONS.values(), ids=REVISIONS)
async def test_the_official_client_calls_tools_over_it(onceward: Onceward, mode: Any) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "worker.mcp"], env=environment(onceward), cwd=ROOT
    )
    order_id = await onceward.provider.add_order()
    async with Client(server, mode=mode) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        answer = await client.call_tool("get_order", {"order_id": order_id})
    assert "refund_payment" in listed
    assert answer.structured_content is not None
    assert answer.structured_content["result"]["order_id"] == order_id


async def test_a_number_reaches_the_door_as_the_host_has_written_it(onceward: Onceward) -> None:
    exact = b'{"order_id": "O-1", "amount": 12000.00000000000000001, "currency": "KRW"}'
    line = request(1, "tools/call", name="prepare_refund", arguments={}).replace(
        b'"arguments": {}', b'"arguments": ' + exact
    )
    (message,), _, _ = await spoken(environment(onceward), [line])
    told = message["result"]["structuredContent"]["error"]
    assert (told["code"], told["details"][0]["path"]) == ("invalid_arguments", "/amount")


async def test_without_a_good_token_every_request_is_refused_in_words(onceward: Onceward) -> None:
    settings = environment(onceward, ONCEWARD_DOOR_TOKEN="made.up.token")
    (message,), _, code = await spoken(settings, [request(7, "tools/list")])
    assert (message["id"], message["error"]["data"]["code"], code) == (7, "invalid_token", 0)


async def test_a_token_in_a_file_is_read_again_for_every_message(onceward: Onceward, tmp_path: Path) -> None:
    kept = tmp_path / "token"
    kept.write_text(onceward.token() + "\n", encoding="utf-8")
    settings = environment(onceward, ONCEWARD_DOOR_TOKEN_FILE=str(kept))
    del settings["ONCEWARD_DOOR_TOKEN"]
    server = StdioServerParameters(command=sys.executable, args=["-m", "worker.mcp"], env=settings, cwd=ROOT)
    async with Client(server) as client:
        first = {tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools}
        kept.write_text(onceward.token(roles=["viewer"]), encoding="utf-8")
        second = {tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools}
    assert "refund_payment" in first
    assert "refund_payment" not in second


@pytest.mark.parametrize("written", [b"", b"\n", b"\xff\xfe", b"two words", "토큰".encode()])
async def test_a_file_that_no_longer_holds_a_token_is_told_for_each_request(
    onceward: Onceward, tmp_path: Path, written: bytes
) -> None:
    kept = tmp_path / "token"
    kept.write_text(onceward.token(), encoding="utf-8")
    settings = environment(onceward, ONCEWARD_DOOR_TOKEN_FILE=str(kept))
    del settings["ONCEWARD_DOOR_TOKEN"]
    async with started(settings) as process:
        assert "result" in await answer_of(process, request(1, "tools/list"))
        kept.write_bytes(written)
        refused = await answer_of(process, request(2, "tools/list"))
    assert (refused["id"], refused["error"]["code"]) == (2, -32003)
    assert "ONCEWARD_DOOR_TOKEN_FILE" in refused["error"]["message"]


async def test_no_proxy_of_the_environment_hears_what_goes_over_this_machine_in_the_clear(onceward: Onceward) -> None:
    """What the proxy would hear first is the user's token."""
    proxy = dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"), "http://127.0.0.1:1")
    (message,), _, _ = await spoken(environment(onceward, **proxy), [request(9, "tools/list")])
    assert "result" in message


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_ends_when_it_is_told_to_while_its_host_still_holds_on(onceward: Onceward, number: int) -> None:
    async with started(environment(onceward)) as process:
        assert "result" in await answer_of(process, request(1, "tools/list"))
        process.send_signal(number)
        async with asyncio.timeout(10):
            assert await process.wait() == 0


async def test_it_ends_when_its_host_no_longer_listens(onceward: Onceward) -> None:
    settings, (listening, told) = environment(onceward), os.pipe()
    process = await asyncio.create_subprocess_exec(*COMMAND, cwd=ROOT, env=settings, stdin=subprocess.PIPE, stdout=told)
    os.close(told)
    os.close(listening)
    assert process.stdin is not None
    process.stdin.write(request(1, "tools/list") + b"\n")
    async with asyncio.timeout(30):
        assert await process.wait() == 0


async def test_a_door_that_is_not_there_is_told_for_each_request(onceward: Onceward) -> None:
    settings = environment(onceward, ONCEWARD_DOOR_URL="http://127.0.0.1:1/mcp")
    (message,), _, _ = await spoken(settings, [request(8, "tools/list")])
    assert message["error"]["code"] == -32000


@pytest.mark.parametrize(
    ("unfit", "name"),
    [
        ({"ONCEWARD_DOOR_URL": "http://door.example.test/mcp"}, "ONCEWARD_DOOR_URL"),
        ({"ONCEWARD_DOOR_URL": "nonsense"}, "ONCEWARD_DOOR_URL"),
        ({"ONCEWARD_DOOR_TOKEN_FILE": "/nowhere"}, "ONCEWARD_DOOR_TOKEN_FILE"),
        ({"ONCEWARD_DOOR_TOKEN": "two words"}, "ONCEWARD_DOOR_TOKEN"),
        ({"ONCEWARD_DOOR_TOKEN": "토큰"}, "ONCEWARD_DOOR_TOKEN"),
    ],
)
async def test_bad_settings_end_it_in_one_sentence_beside_the_protocol(
    onceward: Onceward, unfit: dict[str, str], name: str
) -> None:
    messages, said, code = await spoken(environment(onceward) | unfit, [])
    assert (messages, code) == ([], 2)
    assert name in said
    assert "Traceback" not in said
