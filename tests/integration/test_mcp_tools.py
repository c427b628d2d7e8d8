"""The tools that come of a configuration: what our words about them make of what a server answers."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from adapters.mcp.client.configuration import read_servers
from adapters.tools.mcp import LookupFailed, McpSettings, connect
from tests.support.mcp_servers import RESERVED, Stage, pin
from workflows.domain.contract import Idempotency
from workflows.domain.effect import Dispatch, Effect, Outcome
from workflows.domain.errors import CallRefused
from workflows.domain.impact import Resource
from workflows.domain.principal import Principal

Json = dict[str, Any]

CALLER = Principal("tenant-a", "user-17", frozenset({"support"}), agent="agent")
DISPATCH = Dispatch("op-7", "tenant-a", "key-7", 1)
ASKED = {"sku": "A-1", "quantity": 2}

FOUND = 'reference = "reference"\nreceipt = "reservation_id"\nlookup = { tool = "find", by = "reference" }\n'
LOOKUP = f'idempotency = "lookup_only"\n{FOUND}same = ["sku"]\n'
KEYED = 'idempotency = "keyed"\nkey = "reference"\nkey_lifetime_seconds = 3600\n'


@asynccontextmanager
async def made(folder: Path, said: str, *, server: str = "", tool: str = "reserve") -> AsyncIterator[tuple[Stage, Any]]:
    """The tool of the fake, with what the configuration says of it."""
    stage = Stage(folder / "stage")
    path = folder / "mcp.toml"
    command = json.dumps(list(stage.command))
    path.write_text(f"[servers.fake]\ncommand = {command}\n{server}[servers.fake.tools.{tool}]\n{said}", "utf-8")
    await pin(path, list(read_servers(path).servers.items()))
    async with connect(McpSettings(servers=path), {"PATH": "/usr/bin:/bin"}) as tools:
        yield stage, next(each for each in tools if each.contract.name == f"fake.{tool}")


async def effect_of(tool: Any, **more: Any) -> Effect:
    effect: Effect = await tool.apply(tool.contract.arguments.model_validate({**ASKED, **more}), DISPATCH)
    return effect


def whole(structured: Any = None, text: str = "", **more: Any) -> Json:
    content = [{"type": "text", "text": text}] if text else []
    return {"content": content, **({} if structured is None else {"structuredContent": structured}), **more}


async def test_the_reference_is_ours_and_the_receipt_the_servers(tmp_path: Path) -> None:
    async with made(tmp_path, LOOKUP) as (stage, tool):
        stage.then("reserve", result=whole({**RESERVED, "sku": "A-1"}))
        effect = await effect_of(tool)
    assert (effect.outcome, effect.reference) == (Outcome.APPLIED, "rs-1")
    assert stage.lines("calls")[0]["arguments"] == {**ASKED, "reference": "op-7"}


@pytest.mark.parametrize(
    ("reference", "outcome"), [("op-7", Outcome.APPLIED), ("op-8", Outcome.UNKNOWN), (None, Outcome.UNKNOWN)]
)
async def test_an_answer_may_have_to_carry_the_reference_that_was_sent(
    tmp_path: Path, reference: str | None, outcome: Outcome
) -> None:
    async with made(tmp_path, LOOKUP.replace('["sku"]', '["sku", "reference"]')) as (stage, tool):
        stage.then("reserve", result=whole({**RESERVED, "sku": "A-1", "reference": reference}))
        assert (await effect_of(tool)).outcome is outcome


@pytest.mark.parametrize("told", [{**RESERVED, "sku": "B-2"}, RESERVED])
async def test_an_answer_about_something_else_is_no_success(tmp_path: Path, told: Json) -> None:
    async with made(tmp_path, LOOKUP) as (stage, tool):
        stage.then("reserve", result=whole(told))
        effect = await effect_of(tool)
    assert (effect.outcome, effect.code) == (Outcome.UNKNOWN, "effect_mismatch")


@pytest.mark.parametrize("receipt", ["rs\0", "rs\n1", "rs\u202e1", "", "x" * 501])
async def test_a_receipt_that_nobody_could_write_down_is_none(tmp_path: Path, receipt: str) -> None:
    async with made(tmp_path, LOOKUP) as (stage, tool):
        stage.then("reserve", result=whole({"reservation_id": receipt, "sku": "A-1"}))
        effect = await effect_of(tool)
    assert (effect.outcome, effect.code) == (Outcome.UNKNOWN, "effect_mismatch")


async def test_a_look_finds_the_effect_by_our_reference(tmp_path: Path) -> None:
    async with made(tmp_path, LOOKUP) as (stage, tool):
        arguments = tool.contract.arguments.model_validate(ASKED)
        stage.then("find", result=whole({"reservation_id": "rs-9", "sku": "A-1"}))
        found = await tool.look_up(arguments, DISPATCH)
        stage.then("find", result=whole({"reservation_id": None}))
        absent = await tool.look_up(arguments, DISPATCH)
        stage.then("find", result=whole({"reservation_id": "rs-9", "sku": "B-2"}))
        another = await tool.look_up(arguments, DISPATCH)
        stage.then("find", result=whole(text="no", isError=True))
        with pytest.raises(LookupFailed):
            await tool.look_up(arguments, DISPATCH)
    assert (found.outcome, found.reference, absent) == (Outcome.APPLIED, "rs-9", None)
    assert (another.outcome, another.code) == (Outcome.UNKNOWN, "effect_mismatch")
    assert {json.dumps(each["arguments"]) for each in stage.lines("calls")} == {'{"reference": "op-7"}'}


TASK = {"resultType": "task", "taskId": "t-1", "status": "working", "pollIntervalMs": 50}
PROMISED = Dispatch("op-7", "tenant-a", "key-7", 1, task_id="t-1")
NOT_THERE = whole({"reservation_id": None})


@pytest.mark.parametrize(
    ("said", "task", "expected"),
    [
        ("", {"status": "completed", "result": whole(RESERVED)}, (Outcome.APPLIED, None)),
        ("", {"status": "completed", "result": whole({"reservation_id": 7})}, (Outcome.UNKNOWN, "effect_mismatch")),
        ("", {"status": "working"}, (Outcome.UNKNOWN, None)),
        ("", {"status": "input_required", "inputRequests": {}}, (Outcome.UNKNOWN, None)),
        ("", {"status": "failed", "error": {"code": -32602, "message": "no"}}, None),
        ("", {"status": "cancelled"}, None),
        ("", {"status": "completed", "result": whole(text="no", isError=True)}, None),
        ('errors = "definite"\n', {"status": "completed", "result": whole(text="no", isError=True)},
         (Outcome.REJECTED, "downstream_rejected")),
        ('errors = "definite"\nretry = ["busy"]\n', {"status": "completed", "result": whole(text="busy", isError=True)},
         (Outcome.REJECTED, "rate_limited")),
        (LOOKUP, {"status": "working"}, (Outcome.UNKNOWN, None)),
        (LOOKUP, {"status": "cancelled"}, None),
        (f'proof = "lookup"\n{LOOKUP}', {"status": "completed", "result": whole({**RESERVED, "sku": "A-1"})}, None),
    ],
)  # fmt: skip
async def test_a_promised_answer_says_later_what_it_would_have_said_at_once(
    tmp_path: Path, said: str, task: Json, expected: tuple[Outcome, str | None] | None
) -> None:
    async with made(tmp_path, said) as (stage, tool):
        stage.set(task=[{"taskId": "t-1", **task}])
        stage.then("find", result=NOT_THERE)
        arguments = tool.contract.arguments.model_validate(ASKED if LOOKUP in said else {**ASKED, "reference": "r"})
        found = await tool.look_up(arguments, PROMISED)
    assert (None if found is None else (found.outcome, found.code)) == expected
    assert found is None or not found.retryable
    assert stage.effects("reserve") == 0


async def test_without_a_promise_nothing_is_asked_for(tmp_path: Path) -> None:
    async with made(tmp_path, "") as (stage, tool):
        assert await tool.look_up(tool.contract.arguments.model_validate({**ASKED, "reference": "r"}), DISPATCH) is None
    assert stage.lines("tasks") == []


async def test_a_promise_is_not_asked_for_where_the_tool_is_no_longer_what_was_reviewed(tmp_path: Path) -> None:
    async with made(tmp_path, "") as (stage, tool):
        stage.set(tools=[{**each, "title": "Another"} for each in stage.now["tools"]])
        with pytest.raises(LookupFailed):
            await tool.look_up(tool.contract.arguments.model_validate({**ASKED, "reference": "r"}), PROMISED)
    assert stage.lines("tasks") == []


async def test_a_task_of_a_write_goes_on_when_nobody_waits_for_it_any_more(tmp_path: Path) -> None:
    async with made(tmp_path, "", server="deadline_seconds = 1\n") as (stage, tool):
        stage.set(task=[{"taskId": "t-1", "status": "working"}])
        stage.then("reserve", result=TASK)
        assert (await effect_of(tool, reference="r")).outcome is Outcome.UNKNOWN
    assert {method for method, _ in stage.lines("tasks")} == {"tasks/get"}


async def test_an_effect_that_exists_though_the_server_says_that_it_failed_is_found(tmp_path: Path) -> None:
    async with made(tmp_path, LOOKUP) as (stage, tool):
        stage.then("reserve", result=whole(text="failed", isError=True))
        assert (await effect_of(tool)).outcome is Outcome.UNKNOWN
        stage.then("find", result=whole({"reservation_id": "rs-1", "sku": "A-1"}))
        found = await tool.look_up(tool.contract.arguments.model_validate(ASKED), DISPATCH)
    assert found.outcome is Outcome.APPLIED
    assert stage.effects("reserve") == 1


async def test_a_key_is_sent_and_is_the_operations_own(tmp_path: Path) -> None:
    async with made(tmp_path, KEYED) as (stage, tool):
        stage.then("reserve", result=whole(RESERVED))
        assert (await effect_of(tool)).outcome is Outcome.APPLIED
        assert await tool.look_up(tool.contract.arguments.model_validate(ASKED), DISPATCH) is None
    assert tool.contract.idempotency is Idempotency.KEYED
    assert stage.lines("calls")[0]["arguments"]["reference"] == "key-7"


@pytest.mark.parametrize(
    ("said", "result", "outcome", "code", "again"),
    [
        ("", whole(text="busy", isError=True), Outcome.UNKNOWN, None, False),
        ('errors = "definite"\n', whole(text="no", isError=True), Outcome.REJECTED, "downstream_rejected", False),
        ('errors = "definite"\nretry = ["busy"]\n', whole(text="Busy.", isError=True), Outcome.REJECTED,
         "rate_limited", True),
    ],
)  # fmt: skip
async def test_what_an_error_proves_is_what_the_configuration_says(
    tmp_path: Path, said: str, result: Json, outcome: Outcome, code: str | None, again: bool
) -> None:
    async with made(tmp_path, said) as (stage, tool):
        stage.then("reserve", result=result)
        effect = await effect_of(tool, reference="r")
    assert (effect.outcome, effect.code, effect.retryable) == (outcome, code, again)


@pytest.mark.parametrize(
    ("proof", "result", "outcome"),
    [
        ("structured", whole(text="done"), Outcome.UNKNOWN),
        ("text", whole(text="done"), Outcome.APPLIED),
        ("text", whole(text="Error: 404"), Outcome.UNKNOWN),
    ],
)
async def test_what_counts_as_done_is_what_the_configuration_says(
    tmp_path: Path, proof: str, result: Json, outcome: Outcome
) -> None:
    async with made(tmp_path, f'proof = "{proof}"\n', tool="add") as (stage, tool):
        stage.then("add", result=result)
        arguments = tool.contract.arguments.model_validate({"a": 2, "b": 3})
        effect = await tool.apply(arguments, DISPATCH)
    assert effect.outcome is outcome


async def test_where_the_look_is_the_proof_no_answer_is_one(tmp_path: Path) -> None:
    async with made(tmp_path, f'proof = "lookup"\n{LOOKUP}') as (stage, tool):
        stage.then("reserve", result=whole({**RESERVED, "sku": "A-1"}))
        assert (await effect_of(tool)).outcome is Outcome.UNKNOWN


async def test_what_was_not_sent_may_be_sent_later_and_what_has_changed_may_not(tmp_path: Path) -> None:
    async with made(tmp_path, "") as (stage, tool):
        tools = stage.now["tools"]
        stage.set(tools=[{**each, "title": "Another"} for each in tools])
        changed = await effect_of(tool, reference="r")
        (stage.folder / "stage.json").unlink()
        away = await effect_of(tool, reference="r")
    assert (changed.outcome, changed.code, changed.retryable) == (Outcome.REJECTED, "tool_changed", False)
    assert (away.outcome, away.code, away.retryable) == (Outcome.REJECTED, "upstream_unavailable", True)
    assert stage.lines("calls") == []


async def test_people_are_shown_where_it_runs_and_which_definition_and_no_hint(tmp_path: Path) -> None:
    async with made(tmp_path, 'object = "sku"\n') as (_, tool):
        arguments = tool.contract.arguments.model_validate({**ASKED, "reference": "r"})
        seen = await tool.inspect(arguments, CALLER)
    assert [fact.label for fact in seen.impact.facts] == ["Carried out by", "Reviewed definition"]
    assert seen.impact.resource == Resource("fake", "A-1", "tenant-a", tool.contract.pinned)
    assert not seen.impact.reversible


async def test_a_server_of_one_tenant_has_nothing_for_another(tmp_path: Path) -> None:
    async with made(tmp_path, "", server='tenants = ["tenant-b"]\n') as (_, tool):
        seen = await tool.inspect(tool.contract.arguments.model_validate({**ASKED, "reference": "r"}), CALLER)
    assert seen.impact.resource.owner_tenant != CALLER.tenant


@pytest.mark.parametrize(
    ("result", "code"),
    [
        (whole(text="gone", isError=True), "mcp_tool_error"),
        (whole(text="we are busy", isError=True), "upstream_unavailable"),
        ({"resultType": "input_required", "inputRequests": {}, "requestState": "s"}, "mcp_input_required"),
        ({"content": "x"}, "mcp_wire_error"),
    ],
)
async def test_a_read_says_in_a_code_what_came_of_it(tmp_path: Path, result: Json, code: str) -> None:
    async with made(tmp_path, 'effect = "read"\nretry = ["busy"]\n', tool="find") as (stage, tool):
        stage.then("find", result=result)
        with pytest.raises(CallRefused) as refused:
            await tool.read(tool.contract.arguments.model_validate({"reference": "r"}), CALLER, lambda _: None)
    assert refused.value.code == code
