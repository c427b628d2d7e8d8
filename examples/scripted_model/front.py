"""What is the same on every API: what a front has to be, and server-sent events."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from adapters.envelopes.transcript import TranscriptRefused
from adapters.envelopes.transcript import require_sound as require_provider_would_take
from examples.scripted_model.conversation import Conversation, Reply
from examples.scripted_model.refusal import Refused

Json = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """A request as it came. `path` holds what the route has taken out of the path."""

    headers: Mapping[str, str]
    path: Mapping[str, str]
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    """A request that was understood.

    `items` is the conversation in the API's own form, with the part that the API had kept; `keep`: it shall keep this
    one as well.
    """

    model: str
    conversation: Conversation
    offered: frozenset[str]
    items: Sequence[Any]
    stream: bool = False
    keep: bool = False


class Front(Protocol):
    """One provider's API."""

    @property
    def paths(self) -> Sequence[str]:
        """Where it is, as routes."""

    def asked(self, request: Request) -> Asked:
        """Understand a request.

        Raises:
            Refused: the API would refuse it.
        """

    def answer(self, asked: Asked, reply: Reply) -> Json:
        """The response, whole."""

    def events(self, answer: Json) -> Iterable[str]:
        """The same response as the text of its server-sent events."""

    def refusal(self, refused: Refused) -> tuple[int, Json]:
        """The status and body of an error."""


def require_sound(surface: str, items: Any) -> None:
    """Refuse a conversation that the real API would refuse."""
    try:
        require_provider_would_take(surface, items)
    except TranscriptRefused as refused:
        raise Refused(str(refused)) from None


def event(data: Any, name: str | None = None) -> str:
    """One server-sent event."""
    return (f"event: {name}\n" if name else "") + f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"


def halves(text: str) -> tuple[str, str]:
    """A text in two pieces, as a stream brings it."""
    return text[: len(text) // 2], text[len(text) // 2 :]
