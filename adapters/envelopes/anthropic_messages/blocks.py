"""One content block as it comes in a stream: a start, pieces, a stop."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from adapters import strict_json
from adapters.envelopes.anthropic_messages.calls import might_be_call
from adapters.envelopes.fragments import joined
from adapters.envelopes.shape import as_word, refuse
from workflows.domain.errors import Detail

UNREADABLE: Final = "INVALID_JSON"
"""Under this key the text of a broken input goes back: the provider takes an object there and nothing else."""

_INPUT: Final = "input_json_delta"
_CITATION: Final = "citations_delta"
_TEXTS: Final[Mapping[str, str]] = MappingProxyType({"text_delta": "text", "thinking_delta": "thinking"})
"""The member that each of these adds to; what else such a piece holds is no part of the block."""
_SENT_WHOLE: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {"signature_delta": frozenset({"signature"}), "compaction_delta": frozenset({"content", "encrypted_content"})}
)
"""The members that each of these replaces."""


@dataclass
class StreamedBlock:
    """A block under way. `fault` says what is wrong with its input; it is known once the block is whole."""

    start: dict[str, Any]
    pieces: list[dict[str, Any]] = field(default_factory=list)
    replaced: dict[str, Any] = field(default_factory=dict)
    input_texts: list[str] = field(default_factory=list)
    stopped: bool = False
    fault: Detail | None = None

    def take(self, delta: dict[str, Any], path: str) -> None:
        """Take one piece. A kind that is not known yet adds what it brings, but never to a call.

        Raises:
            ResponseRefused: unknown_block_type, when nobody can tell what the piece does to a call; malformed_envelope.
        """
        kind = as_word(delta.get("type"), f"{path}/type", "malformed_envelope")
        if might_be_call(self.start.get("type"), self.start):
            self._take_input(kind, delta.get("partial_json"), path)
        elif kind == _INPUT:
            refuse("malformed_envelope", f"{path}/type", "unexpected_value", "an input for a call alone")
        elif kind in _SENT_WHOLE:
            self.replaced |= {key: value for key, value in delta.items() if key in _SENT_WHOLE[kind]}
        else:
            self.pieces.append(_members(kind, delta))

    def whole(self, path: str) -> dict[str, Any]:
        """Return the block, with the input that its pieces make."""
        block: dict[str, Any] = joined([self.start, *self.pieces], path) | self.replaced
        if not self.input_texts:
            return block
        text = "".join(self.input_texts)
        return block | {"input": self._input(text) if text else block.get("input") or {}}

    def _take_input(self, kind: str, text: Any, path: str) -> None:
        if kind != _INPUT:
            refuse("unknown_block_type", f"{path}/type", "unknown_type", _INPUT)
        if not isinstance(text, str):
            refuse("malformed_envelope", f"{path}/partial_json", "wrong_type", "a string")
        self.input_texts.append(text)

    def _input(self, text: str) -> dict[str, Any]:
        try:
            value = strict_json.parse(text)
        except strict_json.StrictJsonError as error:
            self.fault = error.detail()
            return {UNREADABLE: text}
        if isinstance(value, dict):
            return value
        self.fault = Detail("", "wrong_type", "an object")
        return {UNREADABLE: text}


def _members(kind: str, delta: dict[str, Any]) -> dict[str, Any]:
    if kind == _CITATION:
        return {"citations": [delta.get("citation")]}
    if kind in _TEXTS:
        return {_TEXTS[kind]: delta.get(_TEXTS[kind])}
    return {key: value for key, value in delta.items() if key != "type"}
