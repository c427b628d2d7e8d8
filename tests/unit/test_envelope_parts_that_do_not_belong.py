"""Streams of two responses, and calls or responses that say of themselves that they are not whole."""

from typing import Any

import pytest

from adapters.envelopes import openai_chat, openai_responses
from workflows.domain.errors import ResponseRefused

Json = dict[str, Any]


def chunk(response_id: str, finish: str | None = None, **piece: Any) -> Json:
    calls = {"tool_calls": [{"index": 0, **piece}]} if piece else {}
    return {"id": response_id, "choices": [{"index": 0, "delta": calls, "finish_reason": finish}]}


def refusal_of(read: Any, given: Any) -> tuple[str, str]:
    with pytest.raises(ResponseRefused) as refused:
        read(given)
    return refused.value.code, refused.value.details[0].code


def test_the_chunks_of_two_responses_are_no_stream() -> None:
    begun = chunk("c1", id="a", function={"name": "get_order", "arguments": "{}"})
    mixed = [begun, chunk("c2", id="b", function={"name": "refund", "arguments": "{"}), chunk("c1", "tool_calls")]
    assert refusal_of(openai_chat.read_stream, mixed) == ("malformed_envelope", "two_responses")


def test_a_chunk_without_an_id_belongs_to_the_response_around_it() -> None:
    begun = chunk("c1", id="a", function={"name": "get_order", "arguments": "{}"})
    assert len(openai_chat.read_stream([chunk(""), begun, chunk("c1", "tool_calls")]).proposals) == 1


def test_a_response_with_an_error_beside_its_calls_is_not_run() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "get_order", "arguments": "{}"}}
    choice = {"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}
    broken = {"id": "c1", "choices": [choice], "error": {"message": "overloaded"}}
    assert refusal_of(openai_chat.read, broken) == ("incomplete_response", "broken_off")


def test_a_custom_call_that_is_not_completed_is_not_run() -> None:
    item = {"type": "custom_tool_call", "call_id": "c", "name": "query", "input": "select", "status": "incomplete"}
    response = {"id": "r", "status": "completed", "output": [item]}
    assert refusal_of(openai_responses.read, response) == ("incomplete_response", "cut_off")
