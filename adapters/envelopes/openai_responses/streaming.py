"""From the events of a stream to the whole response, which alone is judged."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from adapters.envelopes.envelope import ReadTurn
from adapters.envelopes.openai_responses.items import APPROVAL
from adapters.envelopes.openai_responses.reading import read
from adapters.envelopes.shape import as_list, as_object, as_objects, as_word, refuse, require_one_of

LAST_EVENTS: Final[Mapping[str, str]] = MappingProxyType(
    {"response.completed": "completed", "response.incomplete": "incomplete", "response.failed": "failed"}
)
"""The events that end a stream, and the status of the response in each."""

_ADDED: Final = "response.output_item.added"
_DONE: Final = "response.output_item.done"
_BROKEN_OFF: Final = "error"
_HEEDED: Final = frozenset({_ADDED, _DONE, _BROKEN_OFF, *LAST_EVENTS})


def read_stream(events: Sequence[Any]) -> ReadTurn:
    """Read one Response from its events; see `Envelope.read_stream`. Places are those in the response sent whole."""
    return read(whole(events))


def whole(events: Sequence[Any]) -> dict[str, Any]:
    """Return the Response that the events make.

    Raises:
        ResponseRefused: `incomplete_response` when the last event is missing; otherwise events that do not agree.
    """
    seen = _Seen()
    for position, event in enumerate(as_objects(events, "")):
        kind = as_word(event.get("type"), f"/{position}/type", "malformed_envelope")
        if kind in _HEEDED:
            seen.take(kind, event, f"/{position}")
        elif "item" in event:  # it might bring a call
            refuse("unknown_block_type", f"/{position}/type", "unknown_type", "an event that this surface defines")
    return seen.response()


@dataclass
class _Seen:
    """What the events have told so far: the items by their index in the output, and the response of the last event."""

    added: set[int] = field(default_factory=set)
    done: dict[int, dict[str, Any]] = field(default_factory=dict)
    last: dict[str, Any] | None = None
    last_path: str = ""

    def take(self, kind: str, event: dict[str, Any], path: str) -> None:
        if kind == _BROKEN_OFF:
            refuse("incomplete_response", path, "broken_off", "a response that ended by itself")
        if self.last is not None:
            refuse("malformed_envelope", path, "after_the_end", "one response in a stream, and nothing behind it")
        if kind in LAST_EVENTS:
            self._take_last(kind, event, f"{path}/response")
        elif kind == _ADDED:
            self.added.add(_index(event, path))
        else:
            self._take_done(event, path)

    def response(self) -> dict[str, Any]:
        """Return the response of the last event; its output agrees with the items before, or they stand in for it.

        Where both tell an item its own event counts: the package says that its reasoning is the one to send back.
        """
        if self.last is None:
            refuse("incomplete_response", "", "cut_off", " or ".join(LAST_EVENTS))
        path, output = f"{self.last_path}/output", self.last.get("output")
        if output in (None, []):
            return self.last | {"output": self._finished(path)}
        return self.last | {"output": self._agreed(as_list(output, path), path)}

    def _take_last(self, kind: str, event: dict[str, Any], path: str) -> None:
        response, status = as_object(event.get("response"), path), LAST_EVENTS[kind]
        require_one_of(response.get("status"), (None, status), f"{path}/status")
        self.last, self.last_path = response | {"status": status}, path

    def _take_done(self, event: dict[str, Any], path: str) -> None:
        index, item = _index(event, path), as_object(event.get("item"), f"{path}/item")
        if not _same(item, self.done.setdefault(index, item)):
            refuse("malformed_envelope", f"{path}/output_index", "duplicate", "one item for each index")

    def _agreed(self, output: list[Any], path: str) -> list[Any]:
        """Return `output` with the finished items in their places; all of them must stand there, in their order."""
        rest = deque(self.done[index] for index in sorted(self.done))
        agreed = [rest.popleft() if rest and _same(rest[0], told) else told for told in output]
        if rest:
            refuse("malformed_envelope", path, "differs_from_events", "the items of the events before")
        return agreed

    def _finished(self, path: str) -> list[dict[str, Any]]:
        """Return the finished items for an output that was left out: all of them, so that no call gets lost."""
        indexes = sorted(self.done)
        if not self.added <= self.done.keys() or indexes != list(range(len(indexes))):
            refuse("incomplete_response", path, "cut_off", "every item of the output")
        return [self.done[index] for index in indexes]


def _index(event: dict[str, Any], path: str) -> int:
    index = event.get("output_index")
    if not isinstance(index, int):
        refuse("malformed_envelope", f"{path}/output_index", "wrong_type", "an integer")
    return index


def _same(item: dict[str, Any], other: Any) -> bool:
    return isinstance(other, dict) and _meant(item) == _meant(other)


def _meant(item: dict[str, Any]) -> dict[str, Any]:
    """Return what two tellings of one item share: some servers seal ids and reasoning anew for each event."""
    sealed = {"encrypted_content", "id"}
    if item.get("type") == APPROVAL:  # is answered by its own id
        sealed = {"encrypted_content"}
    return {key: value for key, value in item.items() if key not in sealed}
