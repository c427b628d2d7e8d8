"""What `python -m worker verify` has found of everything that was ever done, in words and figures, and its verdict."""

import asyncio
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from adapters.postgres.backlog import Backlog, Held, Open, PostgresBacklog, Waiting
from adapters.postgres.engine import UNANSWERED, Database
from adapters.postgres.invariants import Measured, PostgresInvariants
from adapters.postgres.totals import PostgresTotals
from worker.audit_verdict import LogVerdict, looked_over
from worker.settings import Settings
from worker.telling import BROKEN, SOUND, age
from workflows.domain.errors import InvalidConfiguration, StoreUnavailable
from workflows.domain.lifecycle import State

WIDTH = 34
"""Columns for the name of a line."""

POISON = (
    "These are never tried again: the relay does not know their kind or misses something in them, most often because",
    "it is older than what wrote them. Bring it up to date. A start needs nothing more: the relay starts every open",
    "operation in its turn. For a nudge, send the signal onceward.nudge to the workflow of that id in the Temporal",
    "console: it says no more than to look again. What an event tells, tell by hand whoever waits for it.",
)

LOST = (
    "These are not delivered again by themselves. See what is wrong at the receiver, then put them back with",
    "python -m worker.relay --retell RECEIVER. What they tell stands on the operations' pages too.",
)

NOT_OURS = (
    "It was the provider's own doing. Each is told by its surface, the tool and the id that the call has in the",
    "provider's response, the newest first. Nothing here can undo it or takes it off this list: look on the server",
    "that the tool is on, and see what the agent offers its provider and how.",
)

WHAT_OTHERS_DID = {"hosted_calls_not_allowed": "a provider ran what it was not allowed to"}


@dataclass(frozen=True)
class Soundness:
    """Everything at one moment, or a few seconds apart."""

    operations: int
    invariants: tuple[Measured, ...]
    backlog: Backlog
    log: LogVerdict = field(default_factory=LogVerdict)

    @property
    def broken(self) -> tuple[Measured, ...]:
        """The invariants that do not hold."""
        return tuple(each for each in self.invariants if not each.holds)

    @property
    def sentence(self) -> str:
        """The verdict; what others have done breaks it too, and is told apart from what we have."""
        invariants = (f"{_words(each.name)} ({each.broken})" for each in self.broken if not each.elsewhere)
        ours = ", ".join((*invariants, *self.log.faults))
        theirs = ", ".join(f"{WHAT_OTHERS_DID[each.name]} ({each.broken})" for each in self.broken if each.elsewhere)
        if ours:
            return f"verify: BROKEN: {ours}{f'; {theirs}' if theirs else ''}"
        in_review = self.backlog.states[State.MANUAL_REVIEW].waiting.number
        sound = f"sound, {self.operations} operations, {in_review} in manual review"
        return f"verify: NOT OUR DOING: {theirs}; our own rows are {sound}" if theirs else f"verify: {sound}"

    @property
    def exit_code(self) -> int:
        """For whoever asked."""
        return BROKEN if self.broken or self.log.faults else SOUND

    def lines(self) -> Iterator[str]:
        """For a person; the verdict is the last one."""
        yield "What must hold"
        yield from (_invariant(each) for each in self.invariants)
        if any(each.elsewhere for each in self.broken):
            yield from (f"{'':10}{words}" for words in NOT_OURS)
        yield "Under way"
        yield from (_open(state, found) for state, found in self.backlog.states.items())
        yield _line("questions to people", _waiting(self.backlog.pending))
        yield _line("questions and grants overdue", _waiting(self.backlog.overdue))
        yield "Outbox"
        yield from _outbox(self.backlog)
        yield "Notices"
        yield from _notices(self.backlog)
        yield "Soundness log"
        yield from _log(self.log)
        yield self.sentence

    def figures(self) -> dict[str, Any]:
        """For a program: the same as JSON values."""
        return {
            "verdict": self.sentence,
            "sound": self.exit_code == SOUND,
            "operations": self.operations,
            "invariants": [_figures(each) for each in self.invariants],
            "backlog": asdict(self.backlog),
            "audit_log": self.log.figures(),
        }


def examined(settings: Settings) -> Soundness:
    """Look over everything; reads only, and may take a while where there is much.

    Raises:
        InvalidConfiguration: the database does not answer, or this role cannot read its tables.
    """
    return asyncio.run(_examined(settings))


async def _examined(settings: Settings) -> Soundness:
    database = Database(settings.postgres_dsn.get_secret_value(), application_name="onceward-verify", pool_size=1)
    try:
        await database.require()
        invariants = await PostgresInvariants(database).all()
        backlog = await PostgresBacklog(database).read()
        log = await looked_over(database)
        return Soundness(await PostgresTotals(database).operations(), invariants, backlog, log)
    except StoreUnavailable:
        raise InvalidConfiguration(UNANSWERED) from None
    finally:
        await database.close()


def _invariant(measured: Measured) -> str:
    number = str(measured.broken)
    if measured.spread is not None:
        number = f"{measured.spread.least} / {measured.spread.most} of {measured.groups}"
    line = f"{'ok' if measured.holds else 'BROKEN':>8}  {_words(measured.name):<{WIDTH}} {number}"
    return line if measured.holds else f"{line}, {measured.broken} broken: {', '.join(measured.examples)}"


def _figures(measured: Measured) -> dict[str, Any]:
    spread = None if measured.spread is None else measured.spread._asdict()
    return {**asdict(measured), "spread": spread, "holds": measured.holds, "elsewhere": measured.elsewhere}


def _open(state: State, found: Open) -> str:
    line = _line(_words(state.value), _waiting(found.waiting))
    if state not in (State.UNCONFIRMED, State.MANUAL_REVIEW) or not found.waiting.number:
        return line
    return f"{line}; {found.within_an_hour} within an hour, {found.within_a_day} within a day, {found.longer} longer"


def _outbox(backlog: Backlog) -> Iterator[str]:
    yield _line("due", _waiting(backlog.due))
    yield _line("failing", _waiting(backlog.failing))
    yield from map(_held, backlog.failures)
    yield _line("set aside", _waiting(backlog.set_aside))
    yield from map(_held, backlog.poison)
    if backlog.poison:
        yield from (f"{'':10}{words}" for words in POISON)


def _notices(backlog: Backlog) -> Iterator[str]:
    yield _line("not taken yet", _waiting(backlog.not_taken))
    yield from map(_held, backlog.refusals)
    yield _line("given up", _waiting(backlog.given_up))
    yield from map(_held, backlog.lost)
    if backlog.lost:
        yield from (f"{'':10}{words}" for words in LOST)


def _log(log: LogVerdict) -> Iterator[str]:
    yield _line("chains", f"{len(log.chains)}, {log.length} lines")
    yield from (f"{'BROKEN':>8}  {fault}" for fault in log.faults)
    yield from log.waiting()


def _held(message: Held) -> str:
    about = f"message {message.message_id}: {message.kind} of {message.operation_id}"
    return f"{'':10}{about}, {message.failure or 'no failure noted'}, for {age(message.seconds)}"


def _line(name: str, figures: str) -> str:
    return f"{'':10}{name:<{WIDTH}} {figures}"


def _waiting(waiting: Waiting) -> str:
    return f"{waiting.number}, the oldest for {age(waiting.oldest_seconds)}" if waiting.number else "0"


def _words(name: str) -> str:
    return name.replace("_", " ")
