"""The Gemini API: `POST /v1/models/{model}:generateContent` and `:streamGenerateContent`, in `v1beta` as well."""

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from examples.scripted_model.conversation import Conversation, Proposed, Reply, Said, Words, answer, text_of
from examples.scripted_model.front import Asked, Json, Request, event, require_sound
from examples.scripted_model.fronts.google_keys import VERSIONS, require_key
from examples.scripted_model.refusal import Kind, Refused, require
from examples.scripted_model.seal import is_seal, seal

STATUSES: Final[Mapping[Kind, tuple[int, str]]] = {
    Kind.INVALID: (400, "INVALID_ARGUMENT"),
    Kind.UNAUTHENTICATED: (403, "PERMISSION_DENIED"),
    Kind.UNKNOWN_MODEL: (404, "NOT_FOUND"),
}
STREAMS: Final[Mapping[str, bool]] = {"generateContent": False, "streamGenerateContent": True}


class GeminiGenerateContent:
    """See `front.Front`."""

    paths = tuple(f"/{version}/models/{{model}}:{{method}}" for version in VERSIONS)

    def asked(self, request: Request) -> Asked:
        """Understand a request."""
        require_key(request.headers)
        require(request.body, {"contents": list})
        contents, model, method = request.body["contents"], request.path["model"], request.path["method"]
        if method not in STREAMS:
            raise Refused(f"models/{model} is not supported for {method}", Kind.UNKNOWN_MODEL)
        require_sound("gemini-generate-content", contents)
        _require_signatures(contents)
        said = [part for content in contents for part in _said(content)]
        return Asked(model, Conversation(said), _offered(request.body), contents, STREAMS[method])

    def answer(self, asked: Asked, reply: Reply) -> Json:
        """The response, whole."""
        if reply.paused:
            raise Refused("this model pauses on no Gemini API")
        content = {"role": "model", "parts": list(_parts(reply))}
        return {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
            "modelVersion": asked.model,
            "responseId": secrets.token_urlsafe(16),
        }

    def events(self, answer: Json) -> Iterable[str]:
        """The same response as the text of its server-sent events: a chunk for each part, and one that ends it."""
        candidate = answer["candidates"][0]
        for part in candidate["content"]["parts"]:
            begun = {"content": {"role": "model", "parts": [part]}, "index": 0}
            yield event(answer | {"candidates": [begun]})
        yield event(answer | {"candidates": [candidate | {"content": {"role": "model", "parts": [{"text": ""}]}}]})

    def refusal(self, refused: Refused) -> tuple[int, Json]:
        """The status and body of an error."""
        code, status = STATUSES[refused.kind]
        return code, {"error": {"code": code, "message": refused.message, "status": status}}


def _member(value: Mapping[str, Any], name: str) -> Any:
    """The API reads a name in either style, and the package writes both."""
    return value.get(name, value.get(re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name)))


def _offered(body: Mapping[str, Any]) -> frozenset[str]:
    tools = body.get("tools") or ()
    return frozenset(each["name"] for tool in tools for each in _member(tool, "functionDeclarations") or ())


def _members(content: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    found = (_member(part, name) for part in content["parts"])
    return [value for value in found if value is not None]


def _said(content: Mapping[str, Any]) -> Iterator[Said]:
    words = text_of([part for part in content["parts"] if not part.get("thought")])
    if content.get("role") == "model":
        calls = _members(content, "functionCall")
        yield Reply(words, tuple(Proposed(call.get("id", ""), call["name"], call.get("args") or {}) for call in calls))
        return
    for told in _members(content, "functionResponse"):
        response = told["response"]
        yield answer(told.get("id", ""), response.get("output", response.get("error")), failed="error" in response)
    if words:
        yield Words(words)


def _require_signatures(contents: Sequence[Mapping[str, Any]]) -> None:
    """A signature that comes back is the one that was given with its call."""
    for place, content in enumerate(contents):
        for index, part in enumerate(content["parts"]):
            call, signature = _member(part, "functionCall"), _member(part, "thoughtSignature")
            if signature is not None and not is_seal(signature, call.get("id", "") if call else ""):
                raise Refused(f"contents[{place}].parts[{index}]: Thought signature is not valid.")


def _parts(reply: Reply) -> Iterator[Json]:
    """Of calls that stand side by side the first alone is signed."""
    if reply.words:
        yield {"text": reply.words}
    for index, call in enumerate(reply.calls):
        asked = {"id": call.call_id, "name": call.tool, "args": dict(call.arguments)}
        yield {"functionCall": asked, **({} if index else {"thoughtSignature": seal(call.call_id)})}
