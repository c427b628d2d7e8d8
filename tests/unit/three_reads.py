"""One turn of three reads on every surface, and its results in the reverse order."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from adapters import strict_json
from tests.unit import gemini_reads as gemini
from tests.unit import openai_responses_items as responses
from workflows.domain.proposal import CallError, CallResult, Proposal, Status

PROPOSALS = (
    Proposal("call-weather", "get_weather", {"city": "Seoul", "unit": "celsius"}),
    Proposal("call-stock", "get_stock", {"symbol": "ACME"}),
    Proposal("call-news", "get_news", {"topic": "semiconductors"}),
)

NEWS_FAILED = CallResult("call-news", "get_news", Status.FAILED_TERMINAL, error=CallError("not_found"))
STOCK_TO_RETRY = CallResult(
    "call-stock",
    "get_stock",
    Status.FAILED_RETRYABLE,
    error=CallError("upstream_unavailable", retry_after_seconds=0.5),
)
WEATHER_SUCCEEDED = CallResult(
    "call-weather", "get_weather", Status.SUCCEEDED, data={"temperature": 22, "unit": "celsius"}
)
RESULTS = (NEWS_FAILED, STOCK_TO_RETRY, WEATHER_SUCCEEDED)


def tool_use(proposal: Proposal, **more: Any) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": proposal.call_id,
        "name": proposal.tool_name,
        "input": proposal.arguments,
        **more,
    }


def message(*blocks: dict[str, Any], stop_reason: Any = "tool_use", **more: Any) -> dict[str, Any]:
    return {
        "id": "msg_17",
        "type": "message",
        "role": "assistant",
        "model": "claude-under-test",
        "content": list(blocks),
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 40, "output_tokens": 20},
        **more,
    }


def tool_call(proposal: Proposal, **more: Any) -> dict[str, Any]:
    function = {"name": proposal.tool_name, "arguments": strict_json.dump(proposal.arguments)}
    return {"id": proposal.call_id, "type": "function", "function": function, **more}


def completion(*choices: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-17",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "gpt-under-test",
        "choices": [{"index": index, "logprobs": None, **choice} for index, choice in enumerate(choices)],
        "usage": {"prompt_tokens": 40, "completion_tokens": 20, "total_tokens": 60},
    }


def choice(*calls: dict[str, Any], finish_reason: Any = "tool_calls", **more: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": None, "refusal": None, "tool_calls": list(calls), **more}
    return {"finish_reason": finish_reason, "message": said}


def message_stream(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of a message, each block with one piece."""
    ends = {"stop_reason": body["stop_reason"], "stop_sequence": body["stop_sequence"]}
    return [
        {"type": "message_start", "message": {**body, "content": [], "stop_reason": None}},
        *(event for index, block in enumerate(body["content"]) for event in block_events(index, block)),
        {"type": "message_delta", "delta": ends, "usage": {"output_tokens": 20}},
        {"type": "message_stop"},
    ]


def block_events(index: int, block: dict[str, Any], *pieces: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of one block; the pieces of text and of an input are found if none are given."""
    start, whole = emptied(block)
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": piece} for piece in pieces or whole),
        {"type": "content_block_stop", "index": index},
    ]


def emptied(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    if "input" in block:
        text = strict_json.dump(block["input"])
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": text}]
    if "text" in block:
        return {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
    return block, []


def completion_stream(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The chunks of a completion with one choice: its calls one by one, its end, its count of tokens."""
    [only] = body["choices"]
    said = {key: value for key, value in only["message"].items() if key != "tool_calls"}
    return [
        chunk(body, {"delta": said}),
        *(chunk(body, {"delta": {"tool_calls": [piece]}}) for piece in numbered(only["message"]["tool_calls"])),
        chunk(body, {"delta": {}, "finish_reason": only["finish_reason"]}),
        chunk(body, usage=body["usage"]),
    ]


def numbered(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"index": index, **call} for index, call in enumerate(calls)]


def chunk(body: dict[str, Any], *pieces: dict[str, Any], **more: Any) -> dict[str, Any]:
    kept = {key: body[key] for key in ("id", "created", "model")}
    choices = [{"index": 0, "logprobs": None, "finish_reason": None, **piece} for piece in pieces]
    return {**kept, "object": "chat.completion.chunk", "choices": choices, "usage": None, **more}


def told_in_blocks(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(block["tool_use_id"], json.loads(block["content"])["status"]) for block in messages[-1]["content"]]


def told_in_items(items: list[dict[str, Any]]) -> list[tuple[str, str]]:
    answers = [each for each in items if each["type"] == "function_call_output"]
    return [(each["call_id"], json.loads(each["output"])["status"]) for each in answers]


def told_in_messages(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(each["tool_call_id"], json.loads(each["content"])["status"]) for each in messages[1:]]


@dataclass(frozen=True)
class Example:
    """The turn of three reads as one surface has it.

    `stream` is the response streamed, and `end` the number of its last events that belong to its end: without the
    first of them it was cut. `told` reads call ids and statuses back from what is written. `unfit` is a response that
    is refused for the value at `unfit_at`.
    """

    response: dict[str, Any]
    stream: list[dict[str, Any]]
    end: int
    request_id: str
    told: Callable[[list[dict[str, Any]]], list[tuple[str, str]]]
    unfit: Any
    unfit_at: str


_MESSAGE = message({"type": "text", "text": "Three reads."}, *map(tool_use, PROPOSALS))
_GENERATED = gemini.generated(gemini.candidate({"text": "Three reads."}, *map(gemini.call_part, PROPOSALS)))
_INTERACTION = gemini.interaction(gemini.SPOKEN, *map(gemini.call_step, PROPOSALS))
_COMPLETION = completion(choice(*map(tool_call, PROPOSALS)))
_RESPONSE = responses.response(responses.TEXT, *map(responses.function_call, PROPOSALS))

EXAMPLES: dict[str, Example] = {
    "anthropic-messages": Example(
        response=_MESSAGE,
        stream=message_stream(_MESSAGE),
        end=1,
        request_id="msg_17",
        told=told_in_blocks,
        unfit={"content": "s3cret"},
        unfit_at="/content",
    ),
    "gemini-generate-content": Example(
        response=_GENERATED,
        stream=gemini.chunks_of(_GENERATED),
        end=2,
        request_id="gen-17",
        told=gemini.told_in_parts,
        unfit={"candidates": "s3cret"},
        unfit_at="/candidates",
    ),
    "gemini-interactions": Example(
        response=_INTERACTION,
        stream=gemini.events_of(_INTERACTION),
        end=1,
        request_id="int-17",
        told=gemini.told_in_steps,
        unfit={"status": "completed", "steps": "s3cret"},
        unfit_at="/steps",
    ),
    "openai-chat": Example(
        response=_COMPLETION,
        stream=completion_stream(_COMPLETION),
        end=2,
        request_id="chatcmpl-17",
        told=told_in_messages,
        unfit={"choices": "s3cret"},
        unfit_at="/choices",
    ),
    "openai-responses": Example(
        response=_RESPONSE,
        stream=responses.stream_of(_RESPONSE),
        end=1,
        request_id="resp_17",
        told=told_in_items,
        unfit={"output": "s3cret"},
        unfit_at="/output",
    ),
}

RESPONSES = {surface: example.response for surface, example in EXAMPLES.items()}
STREAMS = {surface: example.stream for surface, example in EXAMPLES.items()}
