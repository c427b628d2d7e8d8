"""From the chunks of a stream to the whole response, which alone is judged."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from adapters.envelopes.envelope import ReadTurn
from adapters.envelopes.gemini_generate_content.finish_reasons import UNSPECIFIED
from adapters.envelopes.gemini_generate_content.reading import content_of, parts_of, read, require_not_blocked
from adapters.envelopes.shape import as_objects, refuse


def read_stream(events: Sequence[Any]) -> ReadTurn:
    """Read one response from its GenerateContentResponse chunks; see `Envelope.read_stream`."""
    return read(whole(events))


def whole(events: Sequence[Any]) -> dict[str, Any]:
    """Return the GenerateContentResponse that the chunks make: every part of every chunk, none of them changed.

    Raises:
        ResponseRefused: refused_response for a blocked prompt; incomplete_response when a candidate has no end;
            malformed_envelope when the chunks are not those of one response.
    """
    candidates: dict[int, _Candidate] = {}
    head: dict[str, Any] = {}
    for position, chunk in enumerate(as_objects(events, "")):
        _require_going_on(chunk, f"/{position}")
        _keep_head(head, chunk, f"/{position}/responseId")
        for offset, piece in enumerate(_candidates_of(chunk, f"/{position}/candidates")):
            path = f"/{position}/candidates/{offset}"
            candidates.setdefault(_index(piece, path), _Candidate()).take(piece, path)
    if not candidates:
        _refuse_as_cut()
    return {**head, "candidates": [candidates[index].whole() for index in sorted(candidates)]}


def _require_going_on(chunk: dict[str, Any], path: str) -> None:
    if chunk.get("error") is not None:
        refuse("incomplete_response", f"{path}/error", "broken_off", "a response that ended by itself")
    require_not_blocked(chunk)


def _keep_head(head: dict[str, Any], chunk: dict[str, Any], path: str) -> None:
    """Keep the id, which every chunk repeats, and the last count of tokens: it counts all chunks so far.

    Two ids mean that two streams were mixed up.
    """
    given, usage = chunk.get("responseId"), chunk.get("usageMetadata")
    if given and head.setdefault("responseId", given) != given:
        refuse("malformed_envelope", path, "two_responses", "chunks of one response")
    if usage is not None:
        head["usageMetadata"] = usage


def _candidates_of(chunk: dict[str, Any], path: str) -> list[dict[str, Any]]:
    """A chunk about the use of tokens has none."""
    return [] if chunk.get("candidates") is None else as_objects(chunk["candidates"], path)


def _index(piece: dict[str, Any], path: str) -> int:
    """Servers leave the first candidate's index out."""
    index = piece.get("index", 0)
    if not isinstance(index, int):
        refuse("malformed_envelope", f"{path}/index", "wrong_type", "an integer")
    return index


def _refuse_as_cut() -> NoReturn:
    refuse("incomplete_response", "", "cut_off", "a last chunk with a finishReason")


@dataclass
class _Candidate:
    """The pieces of one candidate. `reason` is its end, `ended` whether the end follows the last part."""

    content: dict[str, Any] = field(default_factory=dict)
    parts: list[dict[str, Any]] = field(default_factory=list)
    reason: Any = None
    ended: bool = False

    def take(self, piece: dict[str, Any], path: str) -> None:
        content = content_of(piece, path)
        parts = parts_of(content, f"{path}/content/parts")
        self.content |= content
        self.parts += parts
        self.ended = self.ended and not parts
        self._take_end(piece.get("finishReason"), f"{path}/finishReason")

    def _take_end(self, reason: Any, path: str) -> None:
        if not reason or reason == UNSPECIFIED:
            return
        if self.reason not in (None, reason):
            refuse("malformed_envelope", path, "two_ends", "one finishReason")
        self.reason, self.ended = reason, True

    def whole(self) -> dict[str, Any]:
        if not self.ended:
            _refuse_as_cut()
        return {"content": self.content | {"parts": self.parts}, "finishReason": self.reason}
