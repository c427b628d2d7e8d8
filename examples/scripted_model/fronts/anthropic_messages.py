"""The Anthropic Messages API: `POST /v1/messages`."""

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from examples.scripted_model.conversation import Conversation, Proposed, Reply, Said, Words, answer, text_of
from examples.scripted_model.front import Asked, Json, Request, event, halves
from examples.scripted_model.fronts.anthropic_rules import blocks_of, require_sound
from examples.scripted_model.refusal import Kind, Refused, require

TYPES: Final[Mapping[Kind, str]] = {
    Kind.INVALID: "invalid_request_error",
    Kind.UNAUTHENTICATED: "authentication_error",
    Kind.UNKNOWN_MODEL: "not_found_error",
}


class AnthropicMessages:
    """See `front.Front`."""

    paths = ("/v1/messages",)

    def asked(self, request: Request) -> Asked:
        """Understand a request."""
        _require_headers(request.headers)
        body = request.body
        require(body, {"model": str, "max_tokens": int, "messages": list})
        require_sound(body["messages"])
        said = [part for message in body["messages"] for part in _said(message)]
        offered = frozenset(tool["name"] for tool in body.get("tools") or ())
        return Asked(body["model"], Conversation(said), offered, body["messages"], bool(body.get("stream")))

    def answer(self, asked: Asked, reply: Reply) -> Json:
        """The response, whole."""
        return {
            "id": f"msg_{secrets.token_hex(12)}",
            "type": "message",
            "role": "assistant",
            "model": asked.model,
            "content": list(_blocks(reply)),
            "stop_reason": "pause_turn" if reply.paused else "tool_use" if reply.calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }

    def events(self, answer: Json) -> Iterable[str]:
        """The same response as the text of its server-sent events."""
        start = {"type": "message_start", "message": answer | {"content": [], "stop_reason": None}}
        stopped = {name: answer[name] for name in ("stop_reason", "stop_sequence")}
        blocks = [each for index, block in enumerate(answer["content"]) for each in _block_events(index, block)]
        end = {"type": "message_delta", "delta": stopped, "usage": {"output_tokens": 1}}
        return [event(each, each["type"]) for each in (start, *blocks, end, {"type": "message_stop"})]

    def refusal(self, refused: Refused) -> tuple[int, Json]:
        """The status and body of an error."""
        error = {"type": TYPES[refused.kind], "message": refused.message}
        return refused.kind.value, {"type": "error", "error": error, "request_id": f"req_{secrets.token_hex(12)}"}


def _require_headers(headers: Mapping[str, str]) -> None:
    # Any credential will do, in either of the two ways in which the API takes one.
    if not headers.get("authorization") and not headers.get("x-api-key"):
        raise Refused("Authorization or x-api-key header is required", Kind.UNAUTHENTICATED)
    if not headers.get("anthropic-version"):
        raise Refused("anthropic-version: header is required")


def _said(message: Mapping[str, Any]) -> Iterator[Said]:
    blocks = blocks_of(message)
    words = text_of([block for block in blocks if block["type"] == "text"])
    if message["role"] == "assistant":
        calls = (Proposed(b["id"], b["name"], b["input"]) for b in blocks if b["type"] == "tool_use")
        yield Reply(words, tuple(calls))
        return
    for block in blocks:
        if block["type"] == "tool_result":
            told = text_of(block.get("content"))
            yield answer(block["tool_use_id"], told, failed=bool(block.get("is_error")))
    if words:
        yield Words(words)


def _blocks(reply: Reply) -> Iterator[Json]:
    if reply.words:
        yield {"type": "text", "text": reply.words}
    if reply.paused:
        search = f"srvtoolu_{secrets.token_hex(12)}"
        yield {"type": "server_tool_use", "id": search, "name": "web_search", "input": {"query": "refunds"}}
        yield {"type": "web_search_tool_result", "tool_use_id": search, "content": []}
    for call in reply.calls:
        yield {"type": "tool_use", "id": call.call_id, "name": call.tool, "input": dict(call.arguments)}


def _block_events(index: int, block: Json) -> Iterator[Json]:
    """A block's text or input comes in pieces; what the provider adds itself comes whole."""
    match block["type"]:
        case "text":
            empty: Json = {"text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in halves(block["text"])]
        case "tool_use":
            empty, written = {"input": {}}, json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in halves(written)]
        case _:
            empty, deltas = {}, []
    yield {"type": "content_block_start", "index": index, "content_block": block | empty}
    yield from ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
    yield {"type": "content_block_stop", "index": index}
