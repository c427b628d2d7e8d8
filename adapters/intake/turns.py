"""One turn, from a provider's raw response to the messages that go back."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import structlog

from adapters.envelopes.envelope import Envelope, ReadTurn
from adapters.intake.answers import answer_to
from adapters.intake.judging import judge
from adapters.intake.ports import Budget, Inbox, Judged, Registered, Standing, Starter, Turn
from adapters.intake.surfaces import envelope_of
from adapters.intake.turn_order import started, turn_ref
from adapters.intake.watch import Watch
from workflows.domain.catalog import Catalog
from workflows.domain.errors import ResponseRefused
from workflows.domain.intent import digest
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.principal import Principal
from workflows.domain.proposal import CallResult

log = structlog.get_logger(__name__)

MOST_CALLS = 128
"""Calls in one response."""

LONGEST_ID = 4096
"""Characters of a response's or a call's id; some gateways pack a signature into it."""

SHORTEST_START = 1.0
"""Seconds that a start gets even when the caller would not wait."""


@dataclass(frozen=True)
class TurnOrder:
    """What a caller hands in. `response` is the provider's own JSON; `request_id` overrides the response's id.

    `conversation` names what belongs together for counting corrections; by default all that a user's agent asks.
    `wait_seconds` is the caller's patience. With `wait_for_people` False an operation that waits for a person is
    answered at once.
    """

    surface: str
    response: Any
    request_id: str | None = None
    wait_seconds: float = 10.0
    wait_for_people: bool = False
    conversation: str = ""


@dataclass(frozen=True)
class TurnAnswer:
    """`append`: the exact messages to add to the conversation; the last `answers` of them are ours.

    `complete`: every result is final. `paused`: the provider goes on once it has what is appended. `duplicates` names,
    by call id, the call of the same turn that a call repeats.
    """

    request_id: str
    results: Sequence[CallResult]
    append: Sequence[dict[str, Any]]
    answers: Sequence[dict[str, Any]] = ()
    paused: bool = False
    duplicates: Mapping[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether asking again could tell more."""
        return all(result.final for result in self.results)


class Turns:
    """Takes turns; the same turn may be handed in any number of times.

    `now` is the time of day by which data are fresh or stale.
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
        parallel: bool = True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._surfaces, self._catalog = surfaces, catalog
        self._inbox, self._starter, self._watch, self._now = inbox, starter, watch, now
        self._budget, self._parallel = budget, parallel

    async def take(self, principal: Principal, order: TurnOrder) -> TurnAnswer:
        """Read, judge, register, start, wait, answer.

        Raises:
            ResponseRefused: the response as a whole is unfit; nothing was registered.
        """
        envelope = envelope_of(self._surfaces, order.surface)
        # In a thread: a response may hold thousands of things to judge, and others wait to be answered.
        read, turn = await asyncio.to_thread(self._read_and_judged, envelope, principal, order)
        registered = await self._inbox.register(turn)
        await self._start(turn, registered, max(order.wait_seconds, SHORTEST_START))
        standings = await self._wait(principal, registered, order)
        results = [
            self._answer(call, found, standings.get(found.operation_id or ""))
            for call, found in zip(turn.calls, registered, strict=True)
        ]
        _trace(turn, registered, results)
        append = envelope.write(read, results)
        return TurnAnswer(
            turn.request_id, results, append, append[len(read.echo) :], read.paused, _duplicates(turn, registered)
        )

    def _answer(self, call: Judged, found: Registered, standing: Standing | None) -> CallResult:
        contract = self._catalog.find(standing.tool) if standing else None
        return answer_to(call.proposal, found, standing, contract, self._now())

    def _read_and_judged(self, envelope: Envelope, principal: Principal, order: TurnOrder) -> tuple[ReadTurn, Turn]:
        read = envelope.read(order.response)
        return read, self._judged(principal, order, read)

    def _judged(self, principal: Principal, order: TurnOrder, read: ReadTurn) -> Turn:
        request_id = order.request_id or read.request_id
        if not request_id:
            raise ResponseRefused("missing_request_id")
        _require_bounds(request_id, read)
        calls = [judge(each, position, principal, self._catalog) for position, each in enumerate(read.proposals)]
        lineage = digest([principal.tenant, principal.subject, principal.agent, order.conversation])
        return Turn(
            principal,
            order.surface,
            request_id,
            calls,
            lineage,
            # Without a name, all that an agent ever asks would be one conversation.
            self._budget if order.conversation else None,
            one_by_one=not self._parallel,
        )

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
            log.warning("start_left_to_the_relay", failures=failures, late=len(late))

    def _starts(self, turn: Turn, registered: Sequence[Registered]) -> Iterator[Coroutine[Any, Any, None]]:
        """A call by itself is started as it is; of several, the reads at once and the rest by their turn."""
        ref = turn_ref(turn, registered)
        if ref is not None:
            yield self._starter.start_turn(turn.turn_id, ref)
        for call, found in started(turn, registered):
            named = (found.operation_id or "", found.intent_hash, call.tool, turn.principal.tenant)
            if not found.writes and not turn.one_by_one:
                yield self._starter.start_read(*named)
            elif ref is None:
                yield self._starter.start_write(*named) if found.writes else self._starter.start_read(*named)

    async def _wait(
        self, principal: Principal, registered: Sequence[Registered], order: TurnOrder
    ) -> dict[str, Standing]:
        wanted = [found.operation_id for found in registered if found.operation_id]
        return await self._watch.until(
            lambda standing: _answerable(standing, order.wait_for_people), principal, wanted, order.wait_seconds
        )


def _require_bounds(request_id: str, read: ReadTurn) -> None:
    """A response is kept with every call in it, so neither may be without measure."""
    if len(read.proposals) > MOST_CALLS:
        raise ResponseRefused("too_many_calls")
    if max(map(len, (request_id, *(proposal.call_id for proposal in read.proposals)))) > LONGEST_ID:
        raise ResponseRefused("id_too_long")


def _trace(turn: Turn, registered: Sequence[Registered], results: Sequence[CallResult]) -> None:
    """One line for each call: ids, versions, verdicts and hashes; no argument and no result."""
    for call, found, result in zip(turn.calls, registered, results, strict=True):
        log.info(
            "call",
            request_id=turn.request_id,
            call_id=call.proposal.call_id,
            surface=turn.surface,
            tenant=turn.principal.tenant,
            tool=call.intent.tool if call.intent else None,
            tool_version=call.intent.tool_version if call.intent else None,
            verdicts={verdict.layer.value: verdict.code or "passed" for verdict in call.verdicts},
            receipt=found.receipt.value,
            operation_id=found.operation_id,
            intent_hash=found.intent_hash or None,
            status=result.status.value,
            code=result.error.code if result.error else None,
            final=result.final,
        )


def _duplicates(turn: Turn, registered: Sequence[Registered]) -> dict[str, str]:
    """The calls that stand for the operation of an earlier one in the same turn."""
    first: dict[str, str] = {}
    for call, found in zip(turn.calls, registered, strict=True):
        if found.operation_id is not None:
            first.setdefault(found.operation_id, call.proposal.call_id)
    return {
        found.call_id: first[found.operation_id]
        for found in registered
        if found.operation_id is not None and first[found.operation_id] != found.call_id
    }


def _answerable(standing: Standing, wait_for_people: bool) -> bool:
    """Whether waiting longer would tell nothing more; what is behind another call is answered when that one is."""
    parked = standing.state in (State.AWAITING_APPROVAL, State.MANUAL_REVIEW)
    return standing.state in ENDS or standing.behind or (parked and not wait_for_people)
