"""Our answers beside those that the provider accepted: the same calls, in the same form. What they tell is ours."""

from collections.abc import Sequence
from typing import Any

from tests.recorded.wire import Answer, Asked, Wire


def first_difference(
    wire: Wire, asked: Sequence[Asked], ours: Sequence[dict[str, Any]], accepted: Sequence[Any] | None
) -> str | None:
    """Say where our answers to `asked` are unlike the accepted ones; None: nowhere, or nothing was recorded.

    The accepted ones may hold answers to earlier calls as well; those to these calls are found by id, and where the
    provider gave none they are the last ones.
    """
    theirs = wire.answers(accepted or ())
    if not theirs or not asked:
        return None
    written = wire.answers(ours)
    if len(written) != len(asked):
        return f"{len(written)} answers to {len(asked)} calls"
    for place, (call, answer) in enumerate(zip(asked, written, strict=True)):
        match = _match(call, place - len(asked), theirs)
        difference = "no such id was answered" if match is None else _difference(wire, call, answer, match)
        if difference:
            return f"answer {place}: {difference}"
    return None


def accepted_for(wire: Wire, asked: Sequence[Asked], accepted: Sequence[Any] | None) -> list[Any] | None:
    """Return what the provider accepted for these calls alone; None: nothing, or not apart from answers to others."""
    ids = {call.call_id for call in asked}
    items = [item for item in accepted or () if any(answer.call_id in ids for answer in wire.answers([item]))]
    answered = [answer.call_id for answer in wire.answers(items)]
    return items if items and None not in ids and set(answered) == ids else None


def _match(call: Asked, place_from_end: int, theirs: Sequence[Answer]) -> Answer | None:
    if call.call_id is None:
        return theirs[place_from_end] if -place_from_end <= len(theirs) else None
    return next((answer for answer in theirs if answer.call_id == call.call_id), None)


def _difference(wire: Wire, call: Asked, ours: Answer, theirs: Answer) -> str | None:
    if ours.call_id != call.call_id:
        return "another id"
    if ours.name != theirs.name:
        return "another name"
    if ours.form != theirs.form:
        return "another form"
    missing = wire.NEEDED - ours.members.keys()
    return f"without {', '.join(sorted(missing))}" if missing else None
