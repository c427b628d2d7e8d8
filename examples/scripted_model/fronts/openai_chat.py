"""The OpenAI Chat Completions API: `POST /v1/chat/completions`."""

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from examples.scripted_model.conversation import Conversation, Proposed, Reply, Said, Words, answer, text_of
from examples.scripted_model.front import Asked, Json, Request, event, halves, require_sound
from examples.scripted_model.fronts import openai_errors
from examples.scripted_model.refusal import Refused

CREATED = 1796000000
"""Seconds since 1970; nobody reads them."""


class OpenAIChat:
    """See `front.Front`."""

    paths = ("/v1/chat/completions",)

    def asked(self, request: Request) -> Asked:
        """Understand a request."""
        openai_errors.require_key(request.headers)
        body = request.body
        openai_errors.require_members(body, {"model": str, "messages": list})
        require_sound("openai-chat", body["messages"])
        said = [part for message in body["messages"] for part in _said(message)]
        offered = frozenset(tool["function"]["name"] for tool in body.get("tools") or () if "function" in tool)
        return Asked(body["model"], Conversation(said), offered, body["messages"], bool(body.get("stream")))

    def answer(self, asked: Asked, reply: Reply) -> Json:
        """The response, whole."""
        if reply.paused:
            raise Refused("this API has no pauses")
        calls = {"tool_calls": [_call(call) for call in reply.calls]} if reply.calls else {}
        message = {"role": "assistant", "content": reply.words or None, "refusal": None, "annotations": [], **calls}
        finish_reason = "tool_calls" if reply.calls else "stop"
        return {
            "id": f"chatcmpl-{secrets.token_hex(12)}",
            "object": "chat.completion",
            "created": CREATED,
            "model": asked.model,
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }

    def events(self, answer: Json) -> Iterable[str]:
        """The same response as the text of its server-sent events."""
        (choice,) = answer["choices"]
        head = {name: answer[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
        begun = [(delta, None) for delta in _deltas(choice["message"])]
        for delta, finish_reason in (*begun, ({}, choice["finish_reason"])):
            yield event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})
        yield event("[DONE]")

    def refusal(self, refused: Refused) -> tuple[int, Json]:
        """The status and body of an error."""
        return openai_errors.error(refused)


def _said(message: Mapping[str, Any]) -> Iterator[Said]:
    match message["role"]:
        case "user":
            yield Words(text_of(message["content"]))
        case "assistant":
            calls = (call for call in message.get("tool_calls") or () if "function" in call)
            proposed = (Proposed(call["id"], call["function"]["name"], {}) for call in calls)
            yield Reply(text_of(message.get("content")), tuple(proposed))
        case "tool":
            yield answer(message["tool_call_id"], text_of(message["content"]))


def _call(call: Proposed) -> Json:
    function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
    return {"id": call.call_id, "type": "function", "function": function}


def _deltas(message: Json) -> Iterator[Json]:
    """The words and the arguments of each call in pieces; a call's id and name come with its first."""
    yield {"role": "assistant", "content": None, "refusal": None}
    for piece in halves(message["content"] or ""):
        if piece:
            yield {"content": piece}
    for index, call in enumerate(message.get("tool_calls", ())):
        begun = call | {"index": index, "function": call["function"] | {"arguments": ""}}
        yield {"tool_calls": [begun]}
        for piece in halves(call["function"]["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
