"""What has to be known of a surface to check an adapter from outside."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from adapters import strict_json
from adapters.envelopes.envelope import ReadTurn
from workflows.domain.proposal import CallResult

UNREADABLE = object()
"""Stands for arguments that are no strict JSON."""


SHAPELESS = (KeyError, TypeError, AttributeError, IndexError, ValueError)
"""What reading a response raises that has not the shape of its surface."""


@dataclass(frozen=True)
class Asked:
    """One call of a response that waits for an answer from outside. `call_id` is None where the provider gave none."""

    call_id: str | None
    name: str
    arguments: Any


@dataclass(frozen=True)
class Answer:
    """One answer, by the call that it names and by its form: `members` without what is told."""

    call_id: str | None
    name: str | None
    form: tuple[str, ...]
    members: dict[str, Any]


@dataclass(frozen=True)
class Ending:
    """How a response ended. `refusals` are the codes that are right for it; without any it has to be read."""

    refusals: frozenset[str] = frozenset()
    paused: bool = False


class Adapter(Protocol):
    """What is examined: the part of an `Envelope` that recorded traffic can say something about."""

    def read(self, response: Any) -> ReadTurn:
        """See `Envelope.read`."""

    def read_stream(self, events: Sequence[Any]) -> ReadTurn:
        """See `Envelope.read_stream`."""

    def write(self, turn: ReadTurn, results: Iterable[CallResult]) -> list[dict[str, Any]]:
        """See `Envelope.write`."""


class Wire(Protocol):
    """One surface, seen from outside. A module with these names is one."""

    @property
    def SURFACE(self) -> str: ...

    @property
    def NEEDED(self) -> frozenset[str]:
        """The members that each accepted answer has."""

    @property
    def RESUMED_BY_ECHO(self) -> bool:
        """Whether a response that paused goes on once it is sent back, rather than by a token."""

    def whole(self, events: Sequence[Any]) -> dict[str, Any] | None:
        """The response that the events make; None when they end too early."""

    def ending(self, response: dict[str, Any]) -> Ending: ...

    def pieces(self, response: dict[str, Any]) -> list[Any]:
        """Every part of the response that the model or the provider's tools have said."""

    def echoed(self, items: Sequence[dict[str, Any]]) -> list[Any]:
        """The same of what goes back."""

    def may_change(self, came: Any, went: Any) -> bool:
        """Whether a piece may go back so, other than it came."""

    def may_go(self, piece: Any) -> bool:
        """Whether a piece may be left out."""

    def asked(self, response: dict[str, Any]) -> list[Asked]: ...

    def hosted(self, response: dict[str, Any]) -> set[str]:
        """The ids of what the provider ran itself."""

    def opening(self, response: dict[str, Any]) -> list[dict[str, Any]]:
        """Something that a conversation may begin with so that this response can follow."""

    def answers(self, items: Sequence[Any]) -> list[Answer]:
        """The answers among items, in their order."""

    def official(self, item: dict[str, Any]) -> Any:
        """Validate an item by the provider's package and return what the package made of it.

        Raises:
            pydantic.ValidationError: the provider's package refuses it.
        """

    def came_well(self, response: dict[str, Any]) -> None:
        """Validate what a response says by the provider's package.

        Raises:
            pydantic.ValidationError: the provider's package refuses it, so another server's word for it is no error.
        """


def parsed(text: Any) -> Any:
    """Arguments that are sent as text; none at all are an empty object."""
    try:
        return strict_json.parse(text) if text else {}
    except strict_json.StrictJsonError:
        return UNREADABLE


def kept(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the members of these names."""
    return {name: value[name] for name in names if name in value}


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects in an array; anything else has none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
