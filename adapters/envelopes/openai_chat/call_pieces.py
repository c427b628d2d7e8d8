"""The pieces of the calls in a stream, sorted out to calls."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from adapters.envelopes.fragments import joined
from adapters.envelopes.shape import refuse

UNFIT: Final = "malformed_tool_calls"


@dataclass
class _Call:
    """The pieces of one call, all under the id that the first of them gave."""

    index: int
    call_id: Any = None
    pieces: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Calls:
    """The calls of one choice, piece by piece.

    A piece belongs to the call that its index names, unless it brings another id: some servers number every call 0
    and send each of them whole.
    """

    in_order: list[_Call] = field(default_factory=list)
    open_at: dict[int | None, _Call] = field(default_factory=dict)

    def take(self, piece: dict[str, Any], path: str) -> None:
        """Take one piece to its call."""
        call = self._call_of(piece, path)
        call.call_id = call.call_id or piece.get("id")
        call.pieces.append({key: value for key, value in piece.items() if key != "index"})

    def _call_of(self, piece: dict[str, Any], path: str) -> _Call:
        index, call_id = piece.get("index"), piece.get("id")
        if not isinstance(index, int | None):
            refuse(UNFIT, f"{path}/index", "wrong_type", "an integer")
        call = self.open_at.get(index)
        if call is None or (call_id and call.call_id and call_id != call.call_id):
            call = self.open_at[index] = _Call(index or 0)
            self.in_order.append(call)
        return call

    def whole(self, path: str) -> list[dict[str, Any]]:
        """Return the calls as a whole message lists them."""
        calls = sorted(self.in_order, key=lambda call: call.index)
        return [one_call(call.pieces, _named_parts(call.pieces), f"{path}/{place}") for place, call in enumerate(calls)]


def _named_parts(pieces: Sequence[dict[str, Any]]) -> list[Any]:
    return [piece[kind] for piece in pieces for kind in ("function", "custom") if kind in piece]


def one_call(pieces: Sequence[dict[str, Any]], named: Sequence[Any], path: str) -> dict[str, Any]:
    """Return the call that the pieces make; `named` are the parts of them that may say its name.

    Two names under one call mean that pieces of two calls were mixed up: which arguments are whose, nobody knows.

    Raises:
        ResponseRefused: malformed_tool_calls.
    """
    names = [part["name"] for part in named if isinstance(part, dict) and part.get("name")]
    if any(name != names[0] for name in names):
        refuse(UNFIT, path, "two_names", "one name for each call")
    call: dict[str, Any] = joined(pieces, path, UNFIT)
    return call
