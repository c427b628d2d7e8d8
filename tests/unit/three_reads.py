"""One turn of three reads on every surface, and its results in the reverse order."""

from typing import Any

from adapters import strict_json
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


RESPONSES: dict[str, dict[str, Any]] = {
    "anthropic-messages": message({"type": "text", "text": "Three reads."}, *map(tool_use, PROPOSALS)),
    "openai-chat": completion(choice(*map(tool_call, PROPOSALS))),
}
