"""Small responses on every surface, and the question before them, so that whole conversations can be put together.

They have every member that the providers' own packages ask for.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adapters import strict_json
from workflows.domain.proposal import Proposal

Json = dict[str, Any]


def chat(calls: Sequence[Proposal], words: str, turn: int) -> Json:
    asked = [
        {
            "id": call.call_id,
            "type": "function",
            "function": {"name": call.tool_name, "arguments": strict_json.dump(call.arguments)},
        }
        for call in calls
    ]
    said = {"role": "assistant", "content": words, **({"tool_calls": asked} if asked else {})}
    reason = "tool_calls" if asked else "stop"
    return {
        "id": f"chatcmpl-{turn}",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "gpt-under-test",
        "choices": [{"index": 0, "finish_reason": reason, "logprobs": None, "message": said}],
    }


def messages(calls: Sequence[Proposal], words: str, turn: int) -> Json:
    asked = [
        {"type": "tool_use", "id": call.call_id, "name": call.tool_name, "input": call.arguments} for call in calls
    ]
    return {
        "id": f"msg_{turn}",
        "type": "message",
        "role": "assistant",
        "model": "claude-under-test",
        "content": [{"type": "text", "text": words}, *asked],
        "stop_reason": "tool_use" if asked else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 40, "output_tokens": 20},
    }


def responses(calls: Sequence[Proposal], words: str, turn: int) -> Json:
    said = {
        "type": "message",
        "id": f"msg_{turn}",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": words, "annotations": []}],
    }
    asked = [
        {
            "type": "function_call",
            "id": f"fc_{call.call_id}",
            "call_id": call.call_id,
            "name": call.tool_name,
            "arguments": strict_json.dump(call.arguments),
            "status": "completed",
        }
        for call in calls
    ]
    thought = {"type": "reasoning", "id": f"rs_{turn}", "summary": [], "encrypted_content": "gAAA"}
    return {
        "id": f"resp_{turn}",
        "object": "response",
        "created_at": 1_790_000_000,
        "model": "gpt-under-test",
        "status": "completed",
        "output": [thought, said, *asked],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def contents(calls: Sequence[Proposal], words: str, turn: int) -> Json:
    """Calls have ids in every other turn; the first one is signed."""
    asked: list[Json] = [
        {"functionCall": {"name": call.tool_name, "args": call.arguments, **({"id": call.call_id} if turn % 2 else {})}}
        for call in calls
    ]
    if asked:
        asked[0]["thoughtSignature"] = "EuYB"
    content = {"role": "model", "parts": [{"text": words}, *asked]}
    return {"responseId": f"r-{turn}", "candidates": [{"index": 0, "finishReason": "STOP", "content": content}]}


def interactions(calls: Sequence[Proposal], words: str, turn: int) -> Json:
    asked = [
        {"type": "function_call", "id": call.call_id, "name": call.tool_name, "arguments": call.arguments}
        for call in calls
    ]
    said = {"type": "model_output", "content": [{"type": "text", "text": words}]}
    return {
        "id": f"int_{turn}",
        "status": "requires_action" if asked else "completed",
        "steps": [{"type": "thought", "signature": "EuYB"}, said, *asked],
    }


WHOLE: Mapping[str, Callable[[Sequence[Proposal], str, int], Json]] = {
    "openai-chat": chat,
    "anthropic-messages": messages,
    "openai-responses": responses,
    "gemini-generate-content": contents,
    "gemini-interactions": interactions,
}
"""What a model says: its calls, some words, and the number of the turn for the ids."""

QUESTION: Mapping[str, Json] = {
    "openai-chat": {"role": "user", "content": "Well?"},
    "anthropic-messages": {"role": "user", "content": "Well?"},
    "openai-responses": {"role": "user", "content": "Well?"},
    "gemini-generate-content": {"role": "user", "parts": [{"text": "Well?"}]},
    "gemini-interactions": {"type": "user_input", "content": [{"type": "text", "text": "Well?"}]},
}
