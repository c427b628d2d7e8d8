"""What a host's call is read as, and how it is answered, without any server."""

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any
from unittest.mock import Mock

import pytest
from jsonschema import Draft202012Validator
from mcp import MCPError
from mcp_types.methods import validate_server_result

from adapters.envelopes import mcp
from adapters.mcp.server.answers import fitted, output_schema, output_schema_of
from adapters.mcp.server.asking import asked
from adapters.mcp.server.server import without_internals
from adapters.mcp.server.words import CAPABILITIES, REQUEST_ID, TASKS
from adapters.strict_json import parse
from tests.support.contracts import CONTRACTS
from tests.support.proposals import CALLER
from workflows.domain.errors import ERRORS, ResponseRefused
from workflows.domain.proposal import CallError, CallResult, Status

Json = dict[str, Any]

CALL = {"request_id": "r-1", "call_id": "c-1", "name": "get_order", "arguments": {"order_id": "O-17"}}
REVISIONS = ("2026-07-28", "2025-11-25", "2025-06-18")
DATA = {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}


def answer(**result: Any) -> Json:
    (written,) = mcp.write(mcp.read(CALL), [CallResult("c-1", "get_order", **result)])
    return written


def failed(code: str, status: Status = Status.FAILED_TERMINAL, *, final: bool = True) -> Json:
    return answer(status=status, error=CallError(code, operation_id="op_1"), operation_id="op_1", final=final)


def test_a_call_is_one_proposal_with_its_numbers_as_they_were_written() -> None:
    given = parse('{"amount": 12000.00000000000000001, "count": 9007199254740993}')
    (proposal,) = mcp.read({**CALL, "arguments": given}).proposals
    assert proposal.arguments == {"amount": Decimal("12000.00000000000000001"), "count": 9007199254740993}
    assert (proposal.call_id, proposal.tool_name, proposal.fault) == ("c-1", "get_order", None)


@pytest.mark.parametrize("nonsense", [None, "", [], {}, {**CALL, "name": ""}, {**CALL, "arguments": []}])
def test_what_is_no_call_is_refused(nonsense: Any) -> None:
    with pytest.raises(ResponseRefused):
        mcp.read(nonsense)
    with pytest.raises(ResponseRefused):
        mcp.read_stream([nonsense])


def test_a_success_tells_the_data_and_where_they_come_from() -> None:
    told = answer(status=Status.SUCCEEDED, data={"amount": Decimal("1.10"), "note": None}, operation_id="op_1")
    assert told["isError"] is False
    assert json.loads(told["content"][0]["text"])["result"] == {"amount": 1.1, "note": None}
    assert '"amount":1.10' in told["content"][0]["text"]
    assert told["structuredContent"]["result"] == {"amount": 1.1, "note": None}


@pytest.mark.parametrize("code", ["approval_required", "operation_in_progress", "reconciliation_pending"])
def test_waiting_is_no_error_and_says_what_to_do(code: str) -> None:
    told = failed(code, Status.FAILED_RETRYABLE, final=False)
    assert told["isError"] is False
    assert told["structuredContent"]["status"] == "waiting"
    assert told["structuredContent"]["waiting"]["code"] == code
    assert "get_operation" in told["structuredContent"]["next_step"]
    assert "error" not in told["structuredContent"]


@pytest.mark.parametrize("code", ERRORS)
def test_an_end_without_success_is_an_error_with_our_code(code: str) -> None:
    told = failed(code)
    assert told["isError"] is True
    assert told["structuredContent"]["error"]["code"] == code


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("code", ERRORS)
def test_every_answer_has_the_form_of_the_protocol_and_the_declared_one(revision: str, code: str) -> None:
    for told in (failed(code), failed(code, Status.FAILED_RETRYABLE, final=False)):
        body = told if revision == REVISIONS[0] else {k: v for k, v in told.items() if k != "resultType"}
        validate_server_result("tools/call", revision, body)
        assert Draft202012Validator(output_schema(DATA)).is_valid(told["structuredContent"])


@pytest.mark.parametrize("name", CONTRACTS)
def test_every_shipped_tool_declares_a_form_that_is_a_schema(name: str) -> None:
    schema = output_schema_of(CONTRACTS[name])
    Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"


def test_data_that_do_not_have_the_declared_form_are_told_beside_it() -> None:
    told = fitted(answer(status=Status.SUCCEEDED, data={"old": 1}, operation_id="op_1"), output_schema(DATA))
    assert told["structuredContent"]["loose_result"] == {"old": 1}
    assert "result" not in told["structuredContent"]
    assert json.loads(told["content"][0]["text"]) == told["structuredContent"]


def test_data_that_were_cut_are_never_called_the_result() -> None:
    told = answer(status=Status.SUCCEEDED, data={}, operation_id="op_1", about={"truncated": True})
    assert told["structuredContent"]["loose_result"] == {}


# -- who names a request


def named(key: Any) -> Json:
    return {"name": "get_order", "_meta": {REQUEST_ID: key}}


def test_without_a_name_each_call_has_ids_of_its_own() -> None:
    call = asked({"name": "get_order"}, "2026-07-28")
    first, second = call.response(CALLER), call.response(CALLER)
    assert first["request_id"] != second["request_id"]
    assert first["arguments"] == {}


def test_a_name_gives_the_same_ids_to_the_same_user_and_agent_alone() -> None:
    call = asked(named("thread-7"), "2026-07-28")
    mine = call.response(CALLER)
    assert mine == call.response(replace(CALLER, roles=frozenset({"other"})))
    for other in (replace(CALLER, subject="user-18"), replace(CALLER, agent="another")):
        assert call.response(other)["call_id"] != mine["call_id"]


@pytest.mark.parametrize("key", ["", "x" * 201, "a\nb", 7, True, [], {}])
def test_a_name_that_is_none_is_refused(key: Any) -> None:
    with pytest.raises(MCPError) as refused:
        asked(named(key), "2026-07-28")
    assert refused.value.code == -32602


@pytest.mark.parametrize(
    ("meta", "version", "takes"),
    [
        ({CAPABILITIES: {"extensions": {TASKS: {}}}}, "2026-07-28", True),
        ({CAPABILITIES: {"extensions": {TASKS: {}}}}, "2025-11-25", False),
        ({CAPABILITIES: {"extensions": {TASKS: None}}}, "2026-07-28", False),
        ({CAPABILITIES: {"extensions": []}}, "2026-07-28", False),
        ({CAPABILITIES: "all"}, "2026-07-28", False),
        ({}, "2026-07-28", False),
    ],
)
def test_a_host_polls_only_where_this_request_says_so(meta: Json, version: str, takes: bool) -> None:
    assert asked({"name": "get_order", "_meta": meta}, version).takes_tasks is takes


async def test_a_surprise_of_ours_is_told_without_its_words() -> None:
    async def fails(_: Any) -> Any:
        raise RuntimeError("s3cret")

    with pytest.raises(MCPError) as refused:
        await without_internals(Mock(method="tools/call"), fails)
    assert refused.value.code == -32603
    assert "s3cret" not in repr(refused.value.error)
