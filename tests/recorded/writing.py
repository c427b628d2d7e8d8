"""What is lost when answers are written."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any, Final

from pydantic import ValidationError

from adapters import strict_json
from adapters.envelopes.envelope import ReadTurn
from adapters.envelopes.transcript import TranscriptRefused, require_sound
from tests.recorded.answers import accepted_for, first_difference
from tests.recorded.exchange import Exchange
from tests.recorded.loss import Loss
from tests.recorded.wire import Adapter, Wire
from workflows.domain.proposal import CallError, CallResult, Proposal, Status

MADE_UP: Final[Sequence[Any]] = (
    {"status": "succeeded", "data": {"note": "Ünïcode „quoted“\n", "count": 2**60, "items": [None, True, ""]}},
    {"status": "failed_retryable", "code": "upstream_unavailable"},
    {"status": "succeeded", "data": "plain words"},
    {"status": "failed_terminal", "code": "not_found"},
    {"status": "succeeded", "data": None},
)
"""Results for the calls of a response, one after the other and again from the first."""


def require_written(exchange: Exchange, adapter: Adapter, wire: Wire, response: dict[str, Any], turn: ReadTurn) -> None:
    """Write made-up results to all calls of a turn and compare: with the turn, the package, the rules, the recording.

    Raises:
        Loss: the first that is found.
    """
    results = [_result(proposal, made_up) for proposal, made_up in zip(turn.proposals, cycle(MADE_UP))]
    items = [_as_sent(item) for item in adapter.write(turn, reversed(results))]
    echo, answers = items[: len(turn.echo)], items[len(turn.echo) :]
    if echo != [_as_sent(item) for item in turn.echo]:
        raise Loss("the echo does not go first, unchanged")
    _require_official_answers(answers, wire)
    _require_official_echo(echo, response, wire)
    if wire.RESUMED_BY_ECHO or not turn.paused:
        _require_sound(wire, [*wire.opening(response), *items], "unsound")
    if answers:
        _require_like_accepted(exchange.followup, wire, response, echo, answers)


def _require_like_accepted(
    accepted: Sequence[Any] | None,
    wire: Wire,
    response: dict[str, Any],
    echo: Sequence[dict[str, Any]],
    answers: Sequence[dict[str, Any]],
) -> None:
    """Compare with the answers that the provider took, and hold the rules themselves to them."""
    asked = wire.asked(response)
    difference = first_difference(wire, asked, answers, accepted)
    if difference:
        raise Loss(f"followup: {difference}")
    taken = accepted_for(wire, asked, accepted)
    if taken:
        _require_sound(wire, [*wire.opening(response), *echo, *taken], "followup: accepted, and here called unsound")


def _require_sound(wire: Wire, conversation: Sequence[dict[str, Any]], words: str) -> None:
    try:
        require_sound(wire.SURFACE, conversation)
    except TranscriptRefused as refused:
        raise Loss(f"{words}: {refused.code} at {refused.path}") from None


def _result(proposal: Proposal, made_up: Any) -> CallResult:
    status = Status(made_up["status"])
    if status is Status.SUCCEEDED:
        return CallResult(proposal.call_id, proposal.tool_name, status, data=made_up["data"])
    return CallResult(proposal.call_id, proposal.tool_name, status, error=CallError(made_up["code"]))


def _as_sent(item: dict[str, Any]) -> Any:
    """As the provider's package would get it: JSON, in which a `Decimal` is a number like any other."""
    return _with_floats(strict_json.parse(strict_json.dump(item), limit=2**30))


def _with_floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_floats(item) for item in value]
    return value if isinstance(value, str | int | None) else float(value)


def _require_official_answers(answers: Sequence[dict[str, Any]], wire: Wire) -> None:
    """The package takes each answer, and knows every member of it."""
    for place, answer in enumerate(answers):
        try:
            kept = wire.official(answer)
        except (ValidationError, ValueError):
            raise Loss(f"the package refuses answer {place}") from None
        if kept != answer:
            raise Loss(f"the package does not know all of answer {place}")


def _require_official_echo(echo: Sequence[dict[str, Any]], response: dict[str, Any], wire: Wire) -> None:
    """A server that takes liberties with the surface takes back what the package would not know."""
    try:
        wire.came_well(_as_sent(response))
    except ValidationError:
        return
    for place, item in enumerate(echo):
        try:
            wire.official(item)
        except (ValidationError, ValueError):
            raise Loss(f"the package refuses item {place} of the echo") from None
