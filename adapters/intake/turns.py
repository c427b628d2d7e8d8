"""One turn, from a provider's raw response to the messages that go back."""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from adapters.envelopes.envelope import Envelope, ReadTurn
from adapters.intake import hosted, trace
from adapters.intake.answers import answer_to
from adapters.intake.judging import judge
from adapters.intake.lineage import lineage_of
from adapters.intake.offers import Offers
from adapters.intake.ports import Budget, Inbox, Judged, Registered, Standing, Starter, Turn
from adapters.intake.room import UNLIMITED, Place, Room
from adapters.intake.searches import Searched, Searches, is_search
from adapters.intake.surfaces import envelope_of
from adapters.intake.turn_order import Started, started, turn_id, turn_ref
from adapters.intake.watch import Watch
from workflows.domain.catalog import Catalog
from workflows.domain.errors import Detail, ResponseRefused
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.principal import Principal
from workflows.domain.proposal import CallResult
from workflows.messages import TurnRef

MOST_CALLS = 128
"""Calls in one response."""

LONGEST_ID = 4096
"""Characters of a response's or a call's id; some gateways pack a signature into it."""

SHORTEST_START = 1.0
"""Seconds that a start gets even when the caller would not wait."""


@dataclass(frozen=True)
class TurnOrder:
    """What a caller hands in. `response` is the provider's own JSON; `request_id` overrides the response's id.

    `events` are those of the response's stream, in its place. `output_limit` is the number of tokens that the request
    allowed. `conversation` names what belongs together for counting
    corrections; by default all that a user's agent asks. `wait_seconds` is the caller's patience. With
    `wait_for_people` False an operation that waits for a person is answered at once. `namespace`: whose ids the
    response has, where they are not its provider's.
    """

    surface: str
    response: Any = None
    output_limit: int | None = None
    events: Sequence[Any] | None = None
    request_id: str | None = None
    wait_seconds: float = 10.0
    wait_for_people: bool = False
    conversation: str = ""
    namespace: str = ""


@dataclass(frozen=True)
class TurnAnswer:
    """`append`: the exact messages to add to the conversation; the last `answers` of them are ours.

    `complete`: every result is final. `paused`: the provider goes on once it has what is appended. `tools` are
    definitions that belong into the next request, found by a search of this turn. `duplicates` names, by call id, the
    call of the same turn that a call repeats.
    """

    request_id: str
    results: Sequence[CallResult]
    append: Sequence[dict[str, Any]]
    answers: Sequence[dict[str, Any]] = ()
    paused: bool = False
    tools: Sequence[dict[str, Any]] = ()
    duplicates: Mapping[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether asking again could tell more."""
        return all(result.final for result in self.results)


class Turns:
    """Takes turns; the same turn may be handed in any number of times.

    `now` is the time of day by which data are fresh or stale. Without `parallel` nothing of a turn runs side by side.
    """

    def __init__(
        self,
        surfaces: Mapping[str, Envelope],
        catalog: Catalog,
        inbox: Inbox,
        starter: Starter,
        watch: Watch,
        budget: Budget | None = None,
        *,
        offers: Offers,
        searches: Searches,
        parallel: bool = True,
        room: Room | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._surfaces, self._catalog = surfaces, catalog
        self._inbox, self._starter, self._watch, self._now = inbox, starter, watch, now
        self._budget, self._parallel = budget, parallel
        self._offers, self._searches, self._room = offers, searches, room or Room(UNLIMITED)
        self._any_deferred = any(contract.deferred for contract in catalog.all())

    async def take(self, principal: Principal, order: TurnOrder) -> TurnAnswer:
        """Read, judge, register, start, wait, answer.

        Raises:
            ResponseRefused: the response as a whole is unfit; nothing was registered.
            Overloaded: there is no place for it now; nothing was registered.
        """
        envelope = envelope_of(self._surfaces, order.surface)
        async with self._room.place(principal.tenant) as place:
            return await self._taken(envelope, principal, order, place)

    async def _taken(self, envelope: Envelope, principal: Principal, order: TurnOrder, place: Place) -> TurnAnswer:
        known = await self._known(lineage_of(principal, order.conversation))
        # In a thread: a response may hold thousands of things to judge, and others wait to be answered.
        read, turn = await asyncio.to_thread(self._read_and_judged, envelope, principal, order, known)
        found = await self._search(principal, turn, read)
        registered = await self._inbox.register(turn)
        await self._start(turn, registered, max(order.wait_seconds, SHORTEST_START))
        standings = await self._wait(principal, registered, order, place)
        answered = [
            self._answer(call, each, standings.get(each.operation_id or ""))
            for call, each in zip(turn.calls, registered, strict=True)
        ]
        trace.calls(turn, registered, answered)
        append = envelope.write(read, [*answered, *(each.result for each in found)])
        return TurnAnswer(
            turn.request_id,
            _in_order(read, [*answered, *(each.result for each in found)]),
            append,
            append[len(read.echo) :],
            read.paused,
            [definition for each in found for definition in each.add],
            _duplicates(registered),
        )

    async def _known(self, lineage: str) -> frozenset[str]:
        """The tools that the conversation has found, where there are any to be found."""
        return await self._inbox.discovered(lineage) if self._any_deferred else frozenset()

    def _answer(self, call: Judged, found: Registered, standing: Standing | None) -> CallResult:
        contract = self._catalog.find(standing.tool) if standing else None
        return answer_to(call.proposal, found, standing, contract, self._now())

    def _read_and_judged(
        self, envelope: Envelope, principal: Principal, order: TurnOrder, known: frozenset[str]
    ) -> tuple[ReadTurn, Turn]:
        read = envelope.read(order.response) if order.events is None else envelope.read_stream(order.events)
        return read, self._judged(principal, order, read, known)

    def _judged(self, principal: Principal, order: TurnOrder, read: ReadTurn, known: frozenset[str]) -> Turn:
        request_id = order.request_id or read.request_id
        if not request_id:
            raise ResponseRefused("missing_request_id")
        _require_bounds(request_id, read)
        _require_not_at_the_limit(read, order.output_limit)
        found = self._offers.named(read.found)
        calls = [
            judge(each, position, principal, self._catalog, self._offers.meant(order.surface, each), known | found)
            for position, each in enumerate(read.proposals)
            if not is_search(each)
        ]
        return Turn(
            principal,
            order.surface,
            request_id,
            calls,
            lineage_of(principal, order.conversation),
            # Without a name, all that an agent ever asks would be one conversation.
            self._budget if order.conversation else None,
            one_by_one=not self._parallel,
            hosted=[hosted.seen(each, principal, self._catalog) for each in read.hosted],
            found=found,
            namespace=order.namespace,
        )

    async def _search(self, principal: Principal, turn: Turn, read: ReadTurn) -> list[Searched]:
        """Answer the searches of the turn; what they bring up may be called from now on."""
        # In a thread as well: words are compared with every tool that the caller may use.
        asked = list(filter(is_search, read.proposals))
        searched = await asyncio.to_thread(self._searches.answers, principal, turn.surface, asked)
        await self._inbox.discover(turn.lineage, {name for each in searched for name in each.names})
        return searched

    async def _start(self, turn: Turn, registered: Sequence[Registered], patience: float) -> None:
        """Start what is registered; what this fails to start in time, the relay or the next delivery will."""
        starts = [asyncio.create_task(start) for start in self._starts(turn, registered)]
        if not starts:
            return
        done, late = await asyncio.wait(starts, timeout=patience)
        for start in late:
            start.cancel()
        failures = [type(start.exception()).__name__ for start in done if start.exception()]
        if failures or late:
            trace.left_to_the_relay(failures, len(late))

    def _starts(self, turn: Turn, registered: Sequence[Registered]) -> Iterator[Coroutine[Any, Any, Any]]:
        """A call by itself is started as it is; of several, the reads at once and the rest by their turn."""
        ref, found = turn_ref(turn, registered), started(turn, registered)
        reads = [_named(turn, each) for each in found if not each[1].writes]
        writes = [_named(turn, each) for each in found if each[1].writes]
        if ref is not None and turn.one_by_one:
            yield self._start_one_by_one(ref, reads)
            return
        yield from (self._starter.start_read(*read) for read in reads)
        if ref is None:
            yield from (self._starter.start_write(*write) for write in writes)
        else:
            yield self._starter.start_turn(turn_id(ref), ref)

    async def _start_one_by_one(self, ref: TurnRef, reads: Sequence[tuple[str, str, str, str]]) -> None:
        """The turn carries its reads too; one that it gave up is started by itself once the turn is over."""
        if not await self._starter.start_turn(turn_id(ref), ref):
            for read in reads:
                await self._starter.start_read(*read)

    async def _wait(
        self, principal: Principal, registered: Sequence[Registered], order: TurnOrder, place: Place
    ) -> dict[str, Standing]:
        wanted = [found.operation_id for found in registered if found.operation_id]

        def enough(standing: Standing) -> bool:
            return _answerable(standing, order.wait_for_people)

        def seen(standings: Collection[Standing]) -> None:
            if all(map(_in_hand, standings)):
                place.leave()

        return await self._watch.until(enough, principal, wanted, order.wait_seconds, seen)


def _named(turn: Turn, each: Started) -> tuple[str, str, str, str]:
    """As `Starter` takes it."""
    call, found = each
    return found.operation_id or "", found.intent_hash, call.tool, turn.principal.tenant


def _in_order(read: ReadTurn, results: Sequence[CallResult]) -> list[CallResult]:
    by_id = {result.call_id: result for result in results}
    return [by_id[proposal.call_id] for proposal in read.proposals]


def _require_bounds(request_id: str, read: ReadTurn) -> None:
    """A response is kept with every call in it, so neither may be without measure."""
    if len(read.proposals) + len(read.hosted) > MOST_CALLS:
        raise ResponseRefused("too_many_calls")
    ids = (request_id, *(each.call_id for each in read.proposals), *(each.item_id for each in read.hosted))
    if max(map(len, ids)) > LONGEST_ID:
        raise ResponseRefused("id_too_long")


def _require_not_at_the_limit(read: ReadTurn, told: int | None) -> None:
    """Some servers end a call that the limit cut off as if it were whole, and its text may still parse."""
    limit = read.spent.allowed if told is None else told
    if read.proposals and limit is not None and read.spent.tokens is not None and read.spent.tokens >= limit:
        raise ResponseRefused("incomplete_response", [Detail("", "at_the_limit", "fewer tokens than were allowed")])


def _duplicates(registered: Sequence[Registered]) -> dict[str, str]:
    """The calls that stand for the operation of an earlier one in the same turn."""
    first: dict[str, str] = {}
    for found in registered:
        if found.operation_id is not None:
            first.setdefault(found.operation_id, found.call_id)
    return {
        found.call_id: first[found.operation_id]
        for found in registered
        if found.operation_id is not None and first[found.operation_id] != found.call_id
    }


def _in_hand(standing: Standing) -> bool:
    """Whether it waits for no worker of ours; for people and for the downstream it may wait as long as it likes."""
    return standing.state is not State.PROPOSED or standing.behind


def _answerable(standing: Standing, wait_for_people: bool) -> bool:
    """Whether waiting longer would tell nothing more; what is behind another call is answered when that one is."""
    parked = standing.state in (State.AWAITING_APPROVAL, State.MANUAL_REVIEW)
    return standing.state in ENDS or standing.behind or (parked and not wait_for_people)
