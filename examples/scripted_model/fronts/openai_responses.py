"""The OpenAI Responses API: `POST /v1/responses`. It keeps every response, unless it is told not to."""

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from examples.scripted_model.conversation import Conversation, Proposed, Reply, Said, Words, answer, joined, text_of
from examples.scripted_model.front import Asked, Json, Request, event, require_sound
from examples.scripted_model.fronts import openai_errors
from examples.scripted_model.fronts.openai_response_events import events_of
from examples.scripted_model.refusal import Refused
from examples.scripted_model.seal import is_seal, seal

CREATED = 1796000000
"""Seconds since 1970; nobody reads them."""


class OpenAIResponses:
    """See `front.Front`."""

    paths = ("/v1/responses",)

    def __init__(self) -> None:
        self._kept: dict[str, Sequence[Json]] = {}

    def asked(self, request: Request) -> Asked:
        """Understand a request."""
        openai_errors.require_key(request.headers)
        body = request.body
        openai_errors.require_members(body, {"model": str})
        items = [*self._before(body.get("previous_response_id")), *_given(body.get("input"))]
        require_sound("openai-responses", items)
        _require_reasoning(items)
        offered = frozenset(tool["name"] for tool in body.get("tools") or () if tool.get("type") == "function")
        said = Conversation(joined(part for item in items for part in _said(item)))
        stream, keep = bool(body.get("stream")), body.get("store") is not False
        return Asked(body["model"], said, offered, items, stream, keep)

    def answer(self, asked: Asked, reply: Reply) -> Json:
        """The response, whole."""
        if reply.paused:
            raise Refused("this API has no pauses")
        output = list(_output(reply))
        name = f"resp_{secrets.token_hex(12)}"
        if asked.keep:
            self._kept[name] = [*asked.items, *output]
        return {
            "id": name,
            "object": "response",
            "created_at": CREATED,
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "model": asked.model,
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }

    def events(self, answer: Json) -> Iterable[str]:
        """The same response as the text of its server-sent events."""
        return (event(each, each["type"]) for each in events_of(answer))

    def refusal(self, refused: Refused) -> tuple[int, Json]:
        """The status and body of an error."""
        return openai_errors.error(refused)

    def _before(self, name: str | None) -> Sequence[Json]:
        if name is not None and name not in self._kept:
            raise Refused(f"Previous response with id '{name}' not found.")
        return self._kept[name] if name is not None else ()


def _given(given: Any) -> Sequence[Json]:
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if not isinstance(given, list) or not given:
        raise Refused("Missing required parameter: 'input'.")
    return given


def _require_reasoning(items: Sequence[Json]) -> None:
    """A call comes back with the reasoning that led to it, as it was."""
    sealed = {item["id"]: item.get("encrypted_content") for item in items if item.get("type") == "reasoning"}
    for item in items:
        if item.get("type") != "function_call" or "id" not in item:
            continue
        name = item["id"].replace("fc_", "rs_", 1)
        if not is_seal(sealed.get(name), name):
            raise Refused(
                f"Item '{item['id']}' of type 'function_call' was provided without its required 'reasoning' item: "
                f"'{name}'."
            )


def _said(item: Mapping[str, Any]) -> Iterator[Said]:
    if item.get("role") == "user":
        yield Words(text_of(item["content"]))
    elif item.get("type") == "function_call_output":
        yield answer(item["call_id"], text_of(item["output"]))
    elif item.get("type") == "function_call":
        yield Reply(calls=(Proposed(item["call_id"], item["name"], {}),))
    elif item.get("role") == "assistant":
        yield Reply(text_of(item["content"]))


def _output(reply: Reply) -> Iterator[Json]:
    if reply.words:
        text = {"type": "output_text", "text": reply.words, "annotations": []}
        yield {
            "id": f"msg_{secrets.token_hex(12)}",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [text],
        }
    for call in reply.calls:
        name = secrets.token_hex(12)
        yield {"id": f"rs_{name}", "type": "reasoning", "summary": [], "encrypted_content": seal(f"rs_{name}")}
        yield {
            "id": f"fc_{name}",
            "type": "function_call",
            "status": "completed",
            "call_id": call.call_id,
            "name": call.tool,
            "arguments": json.dumps(call.arguments),
        }
