"""From the events of a stream to the whole interaction, which alone is judged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NoReturn

from adapters.envelopes.envelope import ReadTurn
from adapters.envelopes.gemini_interactions.assembly import StepAssembly
from adapters.envelopes.gemini_interactions.reading import read
from adapters.envelopes.gemini_interactions.statuses import GOING_ON
from adapters.envelopes.shape import as_object, as_objects, as_word, refuse

CREATED: Final = "interaction.created"
CONTINUED: Final = "requires_continuation"
DECISIVE: Final = ("type", "id", "call_id", "name", "server_name", "arguments", "signature")
"""Members of a step that say what is done and what must be sent back."""


def read_stream(events: Sequence[Any]) -> ReadTurn:
    """Read one response from its InteractionSSEEvents; see `Envelope.read_stream`."""
    return read(whole(events))


def whole(events: Sequence[Any]) -> dict[str, Any]:
    """Return the interaction that the events make.

    A client that goes on after `requires_continuation` has several interactions in one stream: their steps follow
    each other, and all else is the last one's.

    Raises:
        ResponseRefused: incomplete_response when the stream was cut or broken off; otherwise events that do not fit
            together.
    """
    hops = [_Hop()]
    for position, event in enumerate(as_objects(events, "")):
        kind = as_word(event.get("event_type"), f"/{position}/event_type", "malformed_envelope")
        if kind == CREATED and hops[-1].begun:
            hops[-1].require_continued(f"/{position}")
            hops.append(_Hop(len(hops[-1].steps) + hops[-1].offset))
        hops[-1].take(kind, event, f"/{position}")
    interactions = [hop.whole() for hop in hops]
    return {**interactions[-1], "steps": [step for each in interactions for step in each["steps"]]}


@dataclass
class _Hop:
    """The events of one interaction. `offset` is the number of steps before it."""

    offset: int = 0
    created: bool = False
    ids: list[Any] = field(default_factory=list)
    statuses: list[Any] = field(default_factory=list)
    steps: dict[int, StepAssembly] = field(default_factory=dict)
    completed: dict[str, Any] | None = None

    @property
    def begun(self) -> bool:
        return bool(self.created or self.steps or self.completed is not None)

    def take(self, kind: str, event: dict[str, Any], path: str) -> None:
        if kind.startswith("step."):
            self._require_open(path)
        if kind in TAKERS:
            TAKERS[kind](self, event, path)
        elif kind.startswith("step."):  # of what else is told nothing here depends
            refuse("malformed_envelope", f"{path}/event_type", "unknown_event", "events that this surface defines")

    def require_continued(self, path: str) -> None:
        if self.completed is None:
            _refuse_as_cut()
        if self.completed.get("status") != CONTINUED:
            refuse("malformed_envelope", path, "two_responses", "events of one response")

    def whole(self) -> dict[str, Any]:
        if self.completed is None or not all(step.stopped for step in self.steps.values()):
            _refuse_as_cut()
        self._require_one_end(self.completed.get("status"))
        streamed = [step.whole() for step in self.steps.values()]
        return {**self.completed, "steps": _agreed(streamed, self.completed.get("steps"))}

    def take_created(self, event: dict[str, Any], path: str) -> None:
        self.created = True
        self._take_id(as_object(event.get("interaction"), f"{path}/interaction").get("id"), path)

    def take_status(self, event: dict[str, Any], path: str) -> None:
        self._take_id(event.get("interaction_id"), path)
        self.statuses.append(event.get("status"))

    def take_start(self, event: dict[str, Any], path: str) -> None:
        """Steps are numbered one after the other; a gap would be a step that was lost."""
        index = event.get("index")
        if not isinstance(index, int) or (self.steps and index != next(reversed(self.steps)) + 1):
            refuse("malformed_envelope", f"{path}/index", "out_of_order", "the index after that of the step before")
        place = f"/steps/{self.offset + len(self.steps)}"
        self.steps[index] = StepAssembly(place, as_object(event.get("step"), f"{path}/step"))

    def take_delta(self, event: dict[str, Any], path: str) -> None:
        self._started(event, path).take(as_object(event.get("delta"), f"{path}/delta"))

    def take_stop(self, event: dict[str, Any], path: str) -> None:
        self._started(event, path).stopped = True

    def take_completed(self, event: dict[str, Any], path: str) -> None:
        self._require_open(path)
        self.completed = as_object(event.get("interaction"), f"{path}/interaction")
        self._take_id(self.completed.get("id"), path)

    def take_error(self, _: dict[str, Any], path: str) -> None:
        refuse("incomplete_response", path, "broken_off", "a response that ended by itself")

    def _started(self, event: dict[str, Any], path: str) -> StepAssembly:
        index = event.get("index")
        step = self.steps.get(index) if isinstance(index, int) else None
        if step is None or step.stopped:
            refuse("malformed_envelope", f"{path}/index", "step_not_open", "a step that has started and not stopped")
        return step

    def _take_id(self, given: Any, path: str) -> None:
        if given and self.ids and given != self.ids[0]:
            refuse("malformed_envelope", path, "two_responses", "events of one response")
        self.ids += [given] if given else []

    def _require_open(self, path: str) -> None:
        if self.completed is not None:
            refuse("malformed_envelope", path, "after_the_end", "no step after interaction.completed")

    def _require_one_end(self, status: Any) -> None:
        if self.statuses and self.statuses[-1] not in (*GOING_ON, status):
            refuse("malformed_envelope", "/status", "two_ends", "the status of interaction.status_update")


TAKERS: Final[Mapping[str, Callable[[_Hop, dict[str, Any], str], None]]] = MappingProxyType(
    {
        CREATED: _Hop.take_created,
        "interaction.status_update": _Hop.take_status,
        "interaction.completed": _Hop.take_completed,
        "step.start": _Hop.take_start,
        "step.delta": _Hop.take_delta,
        "step.stop": _Hop.take_stop,
        "error": _Hop.take_error,
    }
)


def _refuse_as_cut() -> NoReturn:
    refuse("incomplete_response", "", "cut_off", "interaction.completed after the end of every step")


def _agreed(streamed: list[dict[str, Any]], given: Any) -> list[dict[str, Any]]:
    """Return the steps. The last event seldom has them; where it does, both must say the same of what is done."""
    if not given:
        return streamed
    steps = as_objects(given, "/steps")
    if streamed and [_decisive(step) for step in streamed] != [_decisive(step) for step in steps]:
        refuse("malformed_envelope", "/steps", "two_versions", "the steps that were streamed")
    return steps


def _decisive(step: dict[str, Any]) -> list[Any]:
    return [step.get(member) for member in DECISIVE]
