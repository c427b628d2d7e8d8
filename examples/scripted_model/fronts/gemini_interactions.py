"""The Gemini Interactions API: `POST /v1/interactions`, in `v1beta` as well. It keeps what it is not told to forget."""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from examples.scripted_model.conversation import Conversation, Proposed, Reply, Said, Words, answer, joined, text_of
from examples.scripted_model.front import Asked, Json, Request, event, require_sound
from examples.scripted_model.fronts.gemini_interaction_events import events_of
from examples.scripted_model.fronts.google_keys import VERSIONS, require_key
from examples.scripted_model.refusal import Kind, Refused, require
from examples.scripted_model.seal import is_seal, seal

CODES: Final[Mapping[Kind, tuple[int, str]]] = {
    Kind.INVALID: (400, "invalid_request"),
    Kind.UNAUTHENTICATED: (403, "permission_denied"),
    Kind.UNKNOWN_MODEL: (404, "not_found"),
}
MOMENT: Final = "2026-11-30T12:00:00Z"
"""Nobody reads it."""


class GeminiInteractions:
    """See `front.Front`."""

    paths = tuple(f"/{version}/interactions" for version in VERSIONS)

    def __init__(self) -> None:
        self._kept: dict[str, Sequence[Json]] = {}

    def asked(self, request: Request) -> Asked:
        """Understand a request."""
        require_key(request.headers)
        body = request.body
        require(body, {"model": str})
        steps = [*self._before(body.get("previous_interaction_id")), *_given(body.get("input"))]
        require_sound("gemini-interactions", steps)
        _require_thoughts(steps)
        offered = frozenset(tool["name"] for tool in body.get("tools") or () if tool.get("type") == "function")
        said = Conversation(joined(part for step in steps for part in _said(step)))
        stream, keep = bool(body.get("stream")), body.get("store") is not False
        return Asked(body["model"], said, offered, steps, stream, keep)

    def answer(self, asked: Asked, reply: Reply) -> Json:
        """The response, whole."""
        if reply.paused:
            raise Refused("this model pauses on no Gemini API")
        steps = list(_steps(reply))
        name = f"int_{secrets.token_hex(12)}"
        if asked.keep:
            self._kept[name] = [*asked.items, *steps]
        return {
            "id": name,
            "object": "interaction",
            "status": "requires_action" if reply.calls else "completed",
            "model": asked.model,
            "created": MOMENT,
            "updated": MOMENT,
            "steps": steps,
            "usage": {"total_tokens": 2, "total_input_tokens": 1, "total_output_tokens": 1},
        }

    def events(self, answer: Json) -> Iterable[str]:
        """The same response as the text of its server-sent events."""
        yield from (event(each, each["event_type"]) for each in events_of(answer))
        yield event("[DONE]", "done")

    def refusal(self, refused: Refused) -> tuple[int, Json]:
        """The status and body of an error."""
        status, code = CODES[refused.kind]
        return status, {"error": {"code": code, "message": refused.message}}

    def _before(self, name: str | None) -> Sequence[Json]:
        if name is not None and name not in self._kept:
            raise Refused("There is no interaction of this id.", Kind.UNKNOWN_MODEL)
        return self._kept[name] if name is not None else ()


def _given(given: Any) -> Sequence[Json]:
    """Words alone, or steps."""
    if isinstance(given, str):
        return [{"type": "user_input", "content": [{"type": "text", "text": given}]}]
    if not isinstance(given, list) or not given:
        raise Refused("input: Field required")
    return given


def _require_thoughts(steps: Sequence[Json]) -> None:
    """A thought that comes back is the one that led to the call behind it."""
    for place, (step, following) in enumerate(zip(steps, [*steps[1:], {}], strict=True)):
        if step["type"] == "thought" and not is_seal(step.get("signature"), following.get("id", "")):
            raise Refused(f"input[{place}]: The signature of a thought is not valid.")


def _said(step: Mapping[str, Any]) -> Iterator[Said]:
    match step["type"]:
        case "user_input":
            yield Words(text_of(step.get("content")))
        case "function_result":
            yield answer(step["call_id"], step["result"], failed=bool(step.get("is_error")))
        case "function_call":
            yield Reply(calls=(Proposed(step["id"], step["name"], step["arguments"]),))
        case "model_output":
            yield Reply(text_of(step.get("content")))


def _steps(reply: Reply) -> Iterator[Json]:
    if reply.words:
        yield {"type": "model_output", "content": [{"type": "text", "text": reply.words}]}
    for call in reply.calls:
        yield {"type": "thought", "signature": seal(call.call_id)}
        yield {"type": "function_call", "id": call.call_id, "name": call.tool, "arguments": dict(call.arguments)}
