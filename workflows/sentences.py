"""What a workflow's page says: what is waited for, since when and until when, what to do and what not to do.

Markdown, as the console shows it. Ids, roles, tools, codes and times only: it is read by everybody who may use the
console. Nothing here is a command, so words may change at any time; a history does not hold them.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

NEAR = 4
"""The deadline of a question is near when the last fourth of its time has begun."""

CHECKING = "Checking the call against the current state. Nothing is sent by this step."
RECORDING = "Recording the result."

NOTHING_TO_DO = "nothing, it goes on by itself"
NEVER_BY_HAND = "send it to the downstream by hand: whatever is looked up next would find two"

REASONS = {
    "lookup_failed": "the downstream could not be asked",
    "downstream_pending": "the downstream has taken it and not finished",
    "downstream_key_expired": "it was not found, and the downstream has forgotten the key, so a second send could "
    "double it",
    "absence_not_proven": "it was not found, and nothing protects a second send",
    "effect_mismatch": "what is found under our key is not what was asked for",
}
"""Why an operator is asked."""


def making(progress: str) -> str:
    """The effect is being made; `progress` is that of a batch."""
    how_far = f" So far: {progress}." if progress else ""
    return f"Making the effect: the right to it is taken, and it may have happened.{how_far}"


def approval(who: str, since: datetime, now: datetime, until: datetime) -> str:
    """People are asked."""
    remind = until - (until - since) / NEAR
    return _page(
        f"Waiting for {who} since {at(since)}. Nothing has been sent.",
        deadline=f"{at(until)}; after it this ends as `approval_expired`",
        remind_them="**now, the deadline is near**" if now >= remind else f"from {at(remind)} on",
        to_do="they approve or deny it in the back office, on this operation's page",
        not_to_do="try to decide it here: a signal, a reset or an end of this workflow decides nothing",
    )


def earlier_call(what: str, since: datetime, next_look: datetime) -> str:
    """An earlier call of the same turn is open."""
    return _page(
        f"Waiting for {what} since {at(since)}. Nothing has been sent.",
        next_look=at(next_look),
        to_do="see what the earlier one waits for; the workflow of the turn (`turn_…`) names it",
        not_to_do="start or reset this one to hurry it: the gate lets it pass in its turn only",
    )


def looking(since: datetime, next_look: datetime | None, progress: str) -> str:
    """Something was sent, and what came of it is being found out."""
    how_far = f" Of the batch: {progress}." if progress else ""
    return _page(
        f"The outcome is not known since {at(since)}: it was sent, and no certain answer came.{how_far} "
        "It is looked up at the downstream; nothing is sent meanwhile.",
        next_look=at(next_look) if next_look else "now",
        to_do=f"{NOTHING_TO_DO}. Many of these at once mean that the downstream is in trouble: call them",
        not_to_do=NEVER_BY_HAND,
    )


def review(code: str | None, since: datetime, next_look: datetime) -> str:
    """An operator is asked."""
    why = f" Why: {REASONS[code]} (`{code}`)." if code in REASONS else f" Why: `{code}`."
    return _page(
        f"Waiting for an operator since {at(since)}: the outcome could not be found out.{why} "
        "Nothing is sent meanwhile.",
        next_look=f"{at(next_look)}; the signal `onceward.nudge` makes it now",
        to_do="look in the downstream, then say on this operation's page in the back office what you found, with "
        "evidence",
        not_to_do=NEVER_BY_HAND,
    )


def resting(code: str | None, since: datetime, until: datetime, progress: str) -> str:
    """The downstream is left alone for a while."""
    how_far = f" Of the batch: {progress}." if progress else ""
    return _page(
        f"Leaving the downstream alone since {at(since)} (`{code}`). Of what was tried last nothing has "
        f"happened.{how_far}",
        next_try=at(until),
        to_do=NOTHING_TO_DO,
        not_to_do="reset this workflow: the next try would come before the pause that was asked for is over",
    )


def ended(state: str, code: str | None) -> str:
    """It is over."""
    return f"Ended: {state}{f' ({code})' if code else ''}."


def reading(place: int, number: int) -> str:
    """A turn whose reads go one after another."""
    return f"Reading one after another: {place} of {number}. The writes come after them."


def following(number: int, since: datetime) -> str:
    """A turn whose reads are not over."""
    return _page(
        f"Waiting for {number} {'read' if number == 1 else 'reads'} of the same turn since {at(since)}; "
        "then come the writes.",
        to_do=f"{NOTHING_TO_DO}: a read is given up after two minutes",
    )


def writing(place: int, tools: Sequence[str], operation_id: str, since: datetime) -> str:
    """A turn one of whose writes is under way."""
    after = ", ".join(f"`{tool}`" for tool in tools[place:])
    return _page(
        f"Waiting for write {place} of {len(tools)}, `{tools[place - 1]}`, since {at(since)}: `{operation_id}`.",
        then=f"{after}, each once the one before it has succeeded" if after else "the turn is over",
        to_do="see the page of that workflow: it says what it waits for",
        not_to_do="end this workflow to stop a write: that has a route of its own, and the relay takes this up again",
    )


def at(moment: datetime) -> str:
    """As people on call in several places read it."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def after(now: datetime, seconds: float) -> datetime:
    """The moment so many seconds later."""
    return now + timedelta(seconds=seconds)


def _page(first: str, **points: str) -> str:
    """A sentence, and a list of points by their names."""
    return "\n".join(
        [first, "", *(f"* {name.replace('_', ' ').capitalize()}: {said}." for name, said in points.items())]
    )
