"""A server over HTTP that answers badly: what it does to one call it does to no other, and to nobody's memory."""

import asyncio
import gzip
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest

from adapters.mcp.client.answers import NotSent, Uncertain
from adapters.mcp.client.server import Server
from tests.support.mcp_servers import RESERVED, REVISIONS, Stage, reached, server_of
from tests.support.waiting import until
from workflows.domain.invocation import heard_by

Json = dict[str, Any]

RESERVATION = {"sku": "A-1", "quantity": 2, "reference": "op-1"}
STREAM: Final = {"Content-Type": "text/event-stream"}
MEGABYTE: Final = "x" * 1024 * 1024


@pytest.fixture(params=REVISIONS)
async def served(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Stage, Server]]:
    """The fake over HTTP in each revision."""
    stage = Stage(tmp_path, request.param)
    async with reached(stage, "http", deadline_seconds=3) as entry, server_of(entry) as server:
        yield stage, server


def result(structured: Any) -> Json:
    return {"content": [], "structuredContent": structured}


def message(stage: Stage, told: Json) -> str:
    whole = {"resultType": "complete"} if stage.now["revision"] == REVISIONS[0] else {}
    return json.dumps({"jsonrpc": "2.0", "id": "ID", "result": {**whole, **told}}).replace('"ID"', "{id}")


async def uncertain(server: Server) -> str:
    with pytest.raises(Uncertain) as doubt:
        await server.call("reserve", RESERVATION)
    return doubt.value.code


async def is_well(stage: Stage, server: Server) -> None:
    stage.then("add", result=result({"sum": 5}))
    assert (await server.call("add", {"a": 2, "b": 3})).structured == {"sum": 5}


@pytest.mark.parametrize("status", [401, 404, 429, 503])
@pytest.mark.parametrize(
    ("kind", "body"), [("text/html", "<p>no</p>"), ("application/json", '{"detail": "no"}'), ("application/json", "")]
)
async def test_a_status_alone_does_not_prove_that_nothing_happened(
    served: tuple[Stage, Server], status: int, kind: str, body: str
) -> None:
    stage, server = served
    stage.then("reserve", raw={"status": status, "headers": {"Content-Type": kind}, "pieces": [body]})
    await uncertain(server)
    assert stage.effects("reserve") == 1
    await is_well(stage, server)


async def test_a_refusal_in_the_words_of_the_protocol_is_one_under_any_status(served: tuple[Stage, Server]) -> None:
    stage, server = served
    error = '{"jsonrpc": "2.0", "id": {id}, "error": {"code": -32602, "message": "no"}}'
    stage.then("reserve", raw={"status": 404, "pieces": [error]})
    with pytest.raises(NotSent) as refused:
        await server.call("reserve", RESERVATION)
    assert refused.value.code == "mcp_invalid_params"


@pytest.mark.parametrize("status", [200, 500])
async def test_an_answer_that_is_too_large_is_not_read_to_its_end(served: tuple[Stage, Server], status: int) -> None:
    stage, server = served
    opening = message(stage, result(RESERVED))[:-2] + ', "_meta": {"x": "'
    stage.then("reserve", raw={"status": status, "pieces": [opening, MEGABYTE], "times": 100})
    await uncertain(server)
    await until(lambda: _hung_up(stage), bool)
    assert stage.effects("reserve") == 1
    await is_well(stage, server)


async def test_an_answer_that_grows_when_it_is_unpacked_is_not_taken(served: tuple[Stage, Server]) -> None:
    stage, server = served
    packed = gzip.compress(message(stage, {**result(RESERVED), "_meta": {"x": "x" * 50_000_000}}).encode())
    headers = {"Content-Encoding": "gzip"}
    stage.then("reserve", raw={"headers": headers, "pieces": [packed.decode("latin-1")]})
    assert await uncertain(server) == "mcp_wire_error"
    assert {each.get("Accept-Encoding") for each in stage.lines("headers")} == {"identity"}
    await is_well(stage, server)


@pytest.mark.parametrize("headers", [{}, STREAM], ids=["json", "stream"])
async def test_an_answer_in_drops_is_given_up_at_the_deadline_and_left_to_nobody(
    served: tuple[Stage, Server], headers: Json
) -> None:
    stage, server = served
    stage.then("reserve", raw={"headers": headers, "pieces": [": "], "times": 10_000, "every": 0.05})
    began = time.monotonic()
    assert await uncertain(server) == "upstream_unavailable"
    assert time.monotonic() - began < 5
    await until(lambda: _hung_up(stage), bool)
    await is_well(stage, server)


async def test_a_stream_of_progress_prolongs_nothing(served: tuple[Stage, Server]) -> None:
    stage, server = served
    told = {"progressToken": "T", "progress": 1, "total": 2}
    progress = json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": told}).replace('"T"', "{id}")
    event = f"event: message\ndata: {progress}\n\n"
    stage.then("reserve", raw={"headers": STREAM, "pieces": [event], "times": 10**6, "every": 0.001})
    began = time.monotonic()
    assert await uncertain(server) == "upstream_unavailable"
    assert time.monotonic() - began < 5
    await until(lambda: _hung_up(stage), bool)
    assert stage.effects("reserve") == 1


async def test_how_far_a_call_has_come_is_heard_by_whoever_waits_and_its_words_are_not(
    served: tuple[Stage, Server],
) -> None:
    stage, server = served
    heard: list[tuple[float, float | None]] = []
    told = ['"progress": 1, "total": 4, "message": "hunter2"', '"progress": 1e999', '"progress": 2']
    opening = 'data: {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": {id}, '
    events = [f"{opening}{each}}}}}\n\n" for each in told]
    whole = f"data: {message(stage, result(RESERVED))}\n\n"
    stage.then("reserve", raw={"headers": STREAM, "pieces": [*events, whole], "every": 0.1})
    with heard_by(lambda done, total: heard.append((done, total))):
        answer = await server.call("reserve", RESERVATION)
    assert answer.structured == RESERVED
    assert heard == [(1, 4), (2, None)]


async def test_an_event_that_is_too_large_ends_its_own_call_only(served: tuple[Stage, Server]) -> None:
    stage, server = served
    stage.then("reserve", raw={"headers": STREAM, "pieces": ["data: ", MEGABYTE], "times": 100})
    await uncertain(server)
    await until(lambda: _hung_up(stage), bool)
    await is_well(stage, server)


@pytest.mark.parametrize(
    "raw",
    [
        {"status": 307, "headers": {"Location": "/elsewhere"}},
        {"status": 307, "headers": {"Location": "http://127.0.0.2:9/elsewhere"}},
        {"headers": {"Content-Length": "1000"}, "pieces": ["{"]},
        {"status": 404},
        {"headers": STREAM, "pieces": ["data: {}\n\n"]},
        {"headers": {"Content-Type": "text/html"}, "pieces": ["<p>"]},
        {"status": 202},
    ],
    ids=["redirect", "redirect elsewhere", "cut", "not found", "cut stream", "page", "accepted"],
)
async def test_a_call_that_is_answered_badly_takes_no_other_with_it(served: tuple[Stage, Server], raw: Json) -> None:
    stage, server = served
    whole = message(stage, result({"sum": 5}))
    stage.then("add", raw={"pieces": ["", whole], "every": 0.7})
    other = asyncio.create_task(server.call("add", {"a": 2, "b": 3}))
    await until(lambda: _effects(stage, "add"), bool)
    stage.then("reserve", raw=raw)
    await uncertain(server)
    assert (await other).structured == {"sum": 5}
    assert (stage.effects("reserve"), stage.effects("add")) == (1, 1)


async def _effects(stage: Stage, tool: str) -> int:
    return stage.effects(tool)


async def _hung_up(stage: Stage) -> bool:
    return bool(stage.lines("hung_up"))
