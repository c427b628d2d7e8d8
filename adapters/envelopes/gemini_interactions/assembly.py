"""One step of a stream, from its start and its deltas."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from types import MappingProxyType
from typing import Any, Final

from adapters import strict_json
from adapters.envelopes.gemini_interactions.steps import CALL, PROVIDER_RUN, RESULTS, SEARCH
from adapters.envelopes.shape import as_object, as_objects, as_word, refuse

ARGUMENTS: Final = "arguments_delta"
SIGNATURE: Final = "thought_signature"
SUMMARY: Final = "thought_summary"
TEXT: Final = "text"
ANNOTATIONS: Final = "text_annotation_delta"
CONTENT: Final = frozenset({TEXT, ANNOTATIONS, "audio", "document", "image", "video"})
OWN_KIND: Final = PROVIDER_RUN | RESULTS | {SEARCH}
"""Deltas that bear the type of their step and have some of its members."""

KNOWN: Final = CONTENT | OWN_KIND | {ARGUMENTS, SIGNATURE, SUMMARY}

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass
class StepAssembly:
    """A step that has started. `path` is where it will stand in the whole interaction."""

    path: str
    start: dict[str, Any]
    deltas: list[dict[str, Any]] = field(default_factory=list)
    stopped: bool = False

    def take(self, delta: dict[str, Any]) -> None:
        """Take one delta.

        Raises:
            ResponseRefused: unknown_block_type; the delta may change a call, and what it left out would be lost.
        """
        kind = as_word(delta.get("type"), f"{self.path}/type", "malformed_envelope")
        if kind not in KNOWN or (kind in OWN_KIND and kind != self.start.get("type")):
            refuse("unknown_block_type", self.path, "unknown_delta", "deltas that this surface defines for the step")
        self.deltas.append(delta)

    def whole(self) -> dict[str, Any]:
        """Return the step as the whole interaction has it; nothing that came is changed.

        Raises:
            ResponseRefused: malformed_tool_calls or malformed_envelope, when the deltas make no such step.
        """
        return {
            **_grown(self.start, self._of(self.start.get("type"))),
            **self._content(),
            **self._summary(),
            **self._signature(),
            **self._arguments(),
        }

    def _of(self, kind: Any) -> list[dict[str, Any]]:
        return [delta for delta in self.deltas if delta["type"] == kind]

    def _content(self) -> Mapping[str, Any]:
        pieces = [delta for delta in self.deltas if delta["type"] in CONTENT]
        return {"content": _items(self.start.get("content"), pieces, f"{self.path}/content")} if pieces else _NOTHING

    def _summary(self) -> Mapping[str, Any]:
        given = [delta.get("content") for delta in self.deltas if delta["type"] == SUMMARY]
        pieces = [as_object(piece, f"{self.path}/summary") for piece in given if piece is not None]
        return {"summary": _items(self.start.get("summary"), pieces, f"{self.path}/summary")} if pieces else _NOTHING

    def _signature(self) -> Mapping[str, Any]:
        """Two of them cannot both be sent back, and which one the provider would want nobody knows."""
        given = [self.start.get("signature"), *(d.get("signature") for d in self.deltas if d["type"] == SIGNATURE)]
        said = [signature for signature in given if signature]
        if any(signature != said[0] for signature in said):
            refuse("malformed_envelope", f"{self.path}/signature", "two_signatures", "one signature for each step")
        return {"signature": said[0]} if said else _NOTHING

    def _arguments(self) -> Mapping[str, Any]:
        """Without any piece the arguments are those of the start; a call that has none there has none at all."""
        text = self._arguments_text()
        begun = self.start.get("arguments")
        if not text:
            return {"arguments": {}} if self.start.get("type") == CALL and begun is None else _NOTHING
        arguments = self._parsed(text)
        if begun and begun != arguments:
            refuse("malformed_tool_calls", f"{self.path}/arguments", "two_arguments", "arguments of one call")
        return {"arguments": arguments}

    def _arguments_text(self) -> str:
        pieces = [delta.get("arguments") for delta in self.deltas if delta["type"] == ARGUMENTS]
        return _text([piece for piece in pieces if piece is not None], f"{self.path}/arguments", "malformed_tool_calls")

    def _parsed(self, text: str) -> Any:
        """Arguments that are no strict JSON have no object that could be echoed, so the response has no form."""
        try:
            return strict_json.parse(text)
        except strict_json.StrictJsonError as error:
            refuse("malformed_tool_calls", f"{self.path}/arguments", error.code, strict_json.EXPECTED[error.code])


def _text(pieces: Sequence[Any], path: str, code: str = "malformed_envelope") -> str:
    if not all(isinstance(piece, str) for piece in pieces):
        refuse(code, path, "wrong_type", "pieces of text")
    return "".join(pieces)


def _items(begun: Any, pieces: Iterable[dict[str, Any]], path: str) -> list[dict[str, Any]]:
    """Return the items of a content: text goes on in the last item if that is text, and annotations belong to it."""
    items = [] if begun is None else as_objects(begun, path)
    for is_text, group in groupby(pieces, lambda piece: piece.get("type") in (TEXT, ANNOTATIONS)):
        if is_text:
            _go_on(items, list(group), path)
        else:
            items.extend(group)
    return items


def _go_on(items: list[dict[str, Any]], pieces: list[dict[str, Any]], path: str) -> None:
    if items and items[-1].get("type") == TEXT:
        pieces = [items.pop(), *pieces]
    if pieces[0].get("type") != TEXT:
        refuse("malformed_envelope", path, "no_text", "text before its annotations")
    texts = [piece for piece in pieces if piece["type"] == TEXT]
    said = {key: value for piece in texts for key, value in piece.items()}
    text = _text([piece.get("text") for piece in texts], path)
    items.append({**said, "text": text, **_annotations(pieces, path)})


def _annotations(pieces: Iterable[dict[str, Any]], path: str) -> Mapping[str, Any]:
    lists = [piece["annotations"] for piece in pieces if piece.get("annotations")]
    return {"annotations": [each for given in lists for each in as_objects(given, path)]} if lists else _NOTHING


def _grown(start: dict[str, Any], deltas: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the step with the members of its deltas, each put together from all that was said of it."""
    said: dict[str, list[Any]] = {}
    for piece in (start, *deltas):
        for key, value in piece.items():
            said.setdefault(key, []).append(value)
    return {key: _joined(key, values) for key, values in said.items()}


def _joined(key: str, values: Sequence[Any]) -> Any:
    """Return what arrays, objects and the text of a result grow to, else the last value; null says nothing."""
    given = [value for value in values if value is not None]
    if all(isinstance(value, dict) for value in given):
        return {name: item for value in given for name, item in value.items()} if given else None
    if all(isinstance(value, list) for value in given):
        return [item for value in given for item in value]
    return "".join(given) if key == "result" and all(isinstance(value, str) for value in given) else given[-1]
