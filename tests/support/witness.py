"""A witness beside the gate: knows how the world is, notes what was looked at and said, and asks the gate nothing.

What the gate must find is worked out here a second time, from the state of the world at the moment of a look.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from tests.fakes.world import Asked, World
from tests.support.truth import OURS, POLICIES, UNLIMITED, Act, Look, Question, Ticket, Truth
from workflows.domain.approval import CLEARANCE_SECONDS, Binding
from workflows.domain.contract import Contract
from workflows.domain.effect import ABANDONED, Dispatch
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.operation import Operation

A_DAY = 24 * 3600.0
LEASE_SECONDS = 12.0
WAYS_TO_BE_CALLED = ("sent unasked", "sent on one word", "sent on two", "sent again", "read")


class Witness:
    """Notes, and objects."""

    def __init__(self, world: World, contract: Contract) -> None:
        self.world, self.contract = world, contract
        self.truth = Truth()
        self.acts: dict[str, Act] = {}
        self.objections: list[str] = []
        self.calls: Counter[str] = Counter()

    # -- what is noted

    def sees(self, name: str) -> Look | None:
        """A tool is looking at the object of the act of this name now."""
        act = self._named(name)
        if act is None or self.truth.hidden == "upstream_unavailable":
            # Nothing is seen of anything that was registered, so this is no look.
            return None
        passes = self._is_offered(act) and self._is_in_order() and not self._is_forbidden(act)
        if passes and act.reserved_at is None:
            act.reserved_at = self.world.now
        binding = Binding(act.operation.intent_hash, str(self.truth.version), self.truth.policy)
        act.seen = Look(self.world.now, passes, self._people_needed(act), binding)
        for question in act.questions.values():
            question.may_be_taken_back(act.seen)
        return act.seen

    def is_told_yes(self, act: Act, look: Look | None) -> None:
        """The gate lets it pass by what it has seen; without a look it speaks of what it let pass before."""
        act.may_go_by = look or act.may_go_by

    def is_told_no(self, act: Act) -> None:
        """The gate refuses, or waits for people: nothing that was seen before opens it any more."""
        act.may_go_by = None

    def is_asked(self, act: Act, asked: Asked) -> None:
        """A question is new: it speaks of what has just been seen."""
        assert act.seen is not None, "a person is asked about what nobody has looked at"
        assert self.contract.approval is not None
        ends = act.seen.at + self.contract.approval.expires_seconds
        act.questions.setdefault(asked.approval_id, Question(act.seen.binding, max(1, act.seen.people), ends))

    # -- what is objected to

    def is_sent(self, act: Act, arguments: Mapping[str, Any], dispatch: Dispatch, ticket: Ticket) -> None:
        """A handler that changes something is being called."""
        act.sends.append(dispatch)
        people = ticket.look.people if ticket.look else 0
        self.calls[("sent unasked", "sent on one word", "sent on two")[people]] += 1
        self.calls["sent again"] += len(act.sends) > 1
        self.objections += [*self._against_the_ticket(act, ticket), *self._against_the_send(act, arguments)]
        for question in act.questions.values():
            question.used = question.used or question.grants(question.binding, ticket.claimed_at)

    def is_read(self, name: str) -> None:
        """A handler that changes nothing is being called."""
        act = self._named(name)
        self.calls["read"] += 1
        if act is None:
            self.objections.append("read what nobody has asked for")
            return
        if not self._is_offered(act):
            self.objections.append("read although it was not offered, has changed, or does not fit")
        if self._has_ended(act):
            self.objections.append("read after its end")
        act.may_be_told = self.truth.owner == OURS and self.truth.permitted and self.truth.readers_ask

    def _against_the_send(self, act: Act, arguments: Mapping[str, Any]) -> Iterator[str]:
        if self._has_ended(act):
            yield "sent after its end"
        if act.unwanted:
            yield "sent although its caller had taken it back"
        if arguments != act.operation.arguments:
            yield "sent something else than was registered"
        if len({each.idempotency_key for each in act.sends}) != 1:
            yield "another key for the same act"
        generations = [each.generation for each in act.sends]
        if sorted(set(generations)) != generations:
            yield "a generation that is not higher than the one before"

    def _against_the_ticket(self, act: Act, ticket: Ticket) -> Iterator[str]:
        if self.world.now - ticket.claimed_at >= LEASE_SECONDS:
            yield "the lease was over"
        look = ticket.look
        if look is None:
            yield "sent although nothing was looked at since the gate last said no"
            return
        if ticket.claimed_at - look.at > CLEARANCE_SECONDS:
            yield "the look was too old"
        if not look.passes:
            yield "the look must have refused"
        if look.people and not any(each.grants(look.binding, ticket.claimed_at) for each in act.questions.values()):
            yield "nobody has granted exactly this"

    def _named(self, name: str) -> Act | None:
        return next((act for act in self.acts.values() if act.name == name), None)

    # -- how the world is

    def _is_offered(self, act: Act) -> bool:
        may = self.truth.offered and "support" in act.operation.principal.roles
        return may and act.release == self.truth.release and act.as_registered

    def _is_in_order(self) -> bool:
        """The object is there, theirs, for them to use, and no rule of the business says no."""
        truth = self.truth
        return truth.hidden is None and truth.owner == OURS and truth.permitted and truth.refusal is None

    def _is_forbidden(self, act: Act) -> bool:
        """People have said no, or have let the time pass."""
        return any(each.forbids(self.world.now) for each in act.questions.values())

    def _people_needed(self, act: Act) -> int:
        """How many must approve, 0 when nobody has to."""
        policy = POLICIES[self.truth.policy]
        within = (
            (act.amount, policy.unasked_up_to),
            (self._spent(act, act.subject) + act.amount, policy.daily_unasked_up_to),
            (self._spent(act) + act.amount, policy.tenant_daily_unasked_up_to),
        )
        if all(total <= limits.get("KRW", 0) for total, limits in within) and not self._is_a_repetition(act):
            return 0
        return 2 if act.amount > policy.two_approvers_above.get("KRW", UNLIMITED) else 1

    def _spent(self, act: Act, subject: str | None = None) -> int:
        """What others have spent or reserved within a day."""
        return sum(
            each.amount
            for each in self.acts.values()
            if each is not act
            and each.reserved_at is not None
            and self.world.now - each.reserved_at < A_DAY
            and not self.is_proven_undone(each)
            and subject in (None, each.subject)
        )

    def _is_a_repetition(self, act: Act) -> bool:
        """The same has succeeded a short while ago."""
        return any(
            each.same == act.same
            and self.state(each) is State.SUCCEEDED
            and self.world.now - (self.world.kept(each.operation_id).ended_at or 0.0) < self.contract.repetition.seconds
            for each in self.acts.values()
            if each is not act
        )

    def _has_ended(self, act: Act) -> bool:
        act.ended = act.ended or self.state(act) in ENDS
        return act.ended

    def is_proven_undone(self, act: Act) -> bool:
        """It has ended without an effect; what was given up may have had one."""
        return self.state(act) in ENDS - {State.SUCCEEDED} and self._stored(act).code != ABANDONED

    def state(self, act: Act) -> State:
        """As stored."""
        return self._stored(act).state

    def _stored(self, act: Act) -> Operation:
        return self.world.kept(act.operation_id).operation
