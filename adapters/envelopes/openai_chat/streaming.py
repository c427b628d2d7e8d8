"""From the chunks of a stream to the whole response, which alone is judged."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from adapters.envelopes.envelope import ReadTurn
from adapters.envelopes.fragments import joined, last_said
from adapters.envelopes.openai_chat.call_pieces import UNFIT, Calls, one_call
from adapters.envelopes.openai_chat.calls import has_legacy_call
from adapters.envelopes.openai_chat.reading import read
from adapters.envelopes.shape import as_object, as_objects, refuse

_CALLS: Final = frozenset({"tool_calls", "function_call"})


def read_stream(events: Sequence[Any]) -> ReadTurn:
    """Read one response from its ChatCompletionChunks; see `Envelope.read_stream`."""
    return read(whole(events))


def whole(events: Sequence[Any]) -> dict[str, Any]:
    """Return the ChatCompletion that the chunks make.

    Raises:
        ResponseRefused: `incomplete_response` when a choice has no end; otherwise pieces that do not fit together.
    """
    choices: dict[int, _Choice] = {}
    chunks = as_objects(events, "")
    _require_one_response(chunks)
    for position, chunk in enumerate(chunks):
        _require_no_error(chunk, f"/{position}/error")
        for offset, piece in enumerate(_choices_of(chunk, f"/{position}/choices")):
            path = f"/{position}/choices/{offset}"
            choices.setdefault(_index(piece, path), _Choice()).take(piece, path)
    if not choices:
        refuse("incomplete_response", "", "cut_off", "a chunk with a finish_reason")
    in_order = [choices[index] for index in sorted(choices)]
    return {**_head(chunks), "choices": [choice.whole(f"/choices/{place}") for place, choice in enumerate(in_order)]}


def _require_one_response(chunks: Sequence[dict[str, Any]]) -> None:
    """Refuse chunks of two responses: their pieces bear the same places. A chunk about filters may have no id."""
    if len({chunk["id"] for chunk in chunks if isinstance(chunk.get("id"), str) and chunk["id"]}) > 1:
        refuse("malformed_envelope", "", "two_responses", "the chunks of one response")


def _require_no_error(chunk: dict[str, Any], path: str) -> None:
    if chunk.get("error") is not None:
        refuse("incomplete_response", path, "broken_off", "a response that ended by itself")


def _choices_of(chunk: dict[str, Any], path: str) -> list[dict[str, Any]]:
    """A chunk about the use of tokens or about filters has none."""
    return [] if chunk.get("choices") is None else as_objects(chunk["choices"], path)


def _index(piece: dict[str, Any], path: str) -> int:
    index = piece.get("index", 0)
    if not isinstance(index, int):
        refuse("malformed_envelope", f"{path}/index", "wrong_type", "an integer")
    return index


def _head(chunks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what every chunk repeats as the first one said it, and the last count of tokens."""
    head: dict[str, Any] = {}
    for chunk in chunks:
        head |= {key: value for key, value in chunk.items() if not head.get(key)}
    return head | {"object": "chat.completion", "usage": last_said(chunk.get("usage") for chunk in chunks)}


@dataclass
class _Choice:
    """The pieces of one choice. `reasons` are the ends that were said, `ended` whether one follows the last call."""

    deltas: list[dict[str, Any]] = field(default_factory=list)
    beside: list[dict[str, Any]] = field(default_factory=list)
    calls: Calls = field(default_factory=Calls)
    legacy: list[dict[str, Any]] = field(default_factory=list)
    reasons: list[Any] = field(default_factory=list)
    ended: bool = False

    def take(self, piece: dict[str, Any], path: str) -> None:
        """Take one piece."""
        delta = _delta(piece, path)
        self.beside.append({key: value for key, value in piece.items() if key not in ("delta", "finish_reason")})
        self.deltas.append({key: value for key, value in delta.items() if key not in _CALLS})
        self._take_calls(delta, f"{path}/delta")
        self._take_end(piece.get("finish_reason"), f"{path}/finish_reason")

    def _take_calls(self, delta: dict[str, Any], path: str) -> None:
        calls = as_objects(delta.get("tool_calls") or [], f"{path}/tool_calls", UNFIT)
        for offset, piece in enumerate(calls):
            self.calls.take(piece, f"{path}/tool_calls/{offset}")
        if has_legacy_call(delta):
            self.legacy.append(as_object(delta["function_call"], f"{path}/function_call", UNFIT))
        if calls or has_legacy_call(delta):
            self.ended = False

    def _take_end(self, reason: Any, path: str) -> None:
        """Some servers say the end twice, or with each whole call; two different ends cannot both be true."""
        if not reason:
            return
        if self.reasons and reason != self.reasons[0]:
            refuse("malformed_envelope", path, "two_ends", "one finish_reason")
        self.reasons.append(reason)
        self.ended = True

    def whole(self, path: str) -> dict[str, Any]:
        """Return the choice as a whole response lists it, if it has come to its end."""
        if not self.ended:
            refuse("incomplete_response", "", "cut_off", "a chunk with a finish_reason")
        message = joined(self.deltas, f"{path}/message")
        if self.calls.in_order:
            message["tool_calls"] = self.calls.whole(f"{path}/message/tool_calls")
        if self.legacy:
            message["function_call"] = one_call(self.legacy, self.legacy, f"{path}/message/function_call")
        return {**joined(self.beside, path), "finish_reason": self.reasons[0], "message": message}


def _delta(piece: dict[str, Any], path: str) -> dict[str, Any]:
    """A piece about filters alone has none; a choice sent whole would hold calls that nobody collects."""
    if piece.get("delta") is not None:
        return as_object(piece["delta"], f"{path}/delta")
    if "message" in piece:
        refuse("malformed_envelope", f"{path}/message", "unexpected_value", "a delta")
    return {}
