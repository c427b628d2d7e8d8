"""There is one way to a handler, and it leads through a fresh look of the gate.

The real steps are called in any order and any number, by hand or as the workflow would, while people decide, time
passes and the world changes. A witness beside the gate works out by itself what a look must have found, and objects to
every call of a handler that nothing of the kind allows (`tests.support.witness`).
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from temporalio.exceptions import ApplicationError

from tests.support.proposals import CALLER, REFUND
from tests.support.shop import LATEST_LANDING, Fate, Sight
from tests.support.truth import POLICIES, Act
from tests.support.watched import House, Place
from tests.support.witness import WAYS_TO_BE_CALLED
from workflows.domain.approval import ApprovalState, Choice
from workflows.domain.contract import Idempotency
from workflows.domain.errors import ERRORS
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.proposal import Proposal
from workflows.messages import Step

Arguments = dict[str, Any]
Change = tuple[str, Any]
"""What is otherwise, by the name of a field of `Truth`, and how."""

PENDING = ApprovalState.PENDING

PEOPLE = {
    "the user": CALLER,
    "another user": replace(CALLER, subject="user-18"),
    "one without the role": replace(CALLER, subject="user-19", roles=frozenset({"viewer"})),
}

CALLERS = st.sampled_from(["the user", "the user", *PEOPLE])
AMOUNTS = st.sampled_from([12_000, 12_000, 25_000])
FATES = st.sampled_from([*Fate, *[Fate.LANDS_AND_SAYS_SO] * 3, *[Fate.REFUSED_FOR_NOW] * 2])
UNSURE = [fate for fate in Fate if "unknown" in fate or "raises" in fate]
UNCERTAIN = st.sampled_from([*UNSURE, Fate.LANDS_LATE_UNKNOWN])
SIGHTS = st.sampled_from(Sight)
NUMBERS = st.integers(0, 3)
MOST_ACTS = 10
STEPS = st.sampled_from(["validate"] * 3 + ["apply"] * 4 + ["reconcile"] * 2 + ["read"] * 2 + ["settle"])
HAPPENINGS = STEPS | st.sampled_from(["settle", "settle", "apply", "deny", "take back"])
ORDERS = st.sampled_from(["O-17", "O-18", "O-19"])
KINDS = [kind for kind in Idempotency if kind is not Idempotency.READ]
PROMISES = st.sampled_from([*KINDS, Idempotency.KEYED])
CODES = st.sampled_from([None, "quote_expired", "upstream_unavailable", "made_up"])
BOTH = ["approver-1", "approver-2"]
APPROVERS = st.sampled_from([BOTH, BOTH, BOTH[:1], BOTH[1:], []])

AFTER_THE_LEASE, AFTER_THE_SETTLE_TIME, AFTER_THE_CLEARANCE = 13.0, 26.0, 61.0
AFTER_A_REPETITION, AFTER_GIVING_UP = 601.0, 901.0
AFTER_A_DAY, AFTER_THE_APPROVAL = 24 * 3600.0 + 1, 3 * 24 * 3600.0 + 1
PAUSES = st.sampled_from([[1.0], [1.0], [AFTER_THE_SETTLE_TIME], [AFTER_A_DAY], [AFTER_GIVING_UP, 1.0]])
SHORT = st.sampled_from([1.0, AFTER_THE_LEASE, AFTER_THE_SETTLE_TIME, AFTER_THE_CLEARANCE])
LONG = st.sampled_from([AFTER_A_REPETITION, AFTER_GIVING_UP, AFTER_A_DAY, AFTER_THE_APPROVAL])

ASKING = st.sampled_from(["strict", "in pairs", "in pairs"])
FIRST_POLICIES = st.sampled_from([*POLICIES, "strict", "in pairs", "thrifty"])
WORSE: list[Change] = [
    ("offered", False),
    ("permitted", False),
    ("readers_ask", False),
    ("refusal", "quote_expired"),
    ("hidden", "not_found"),
    ("hidden", "permission_denied"),
    ("hidden", "quote_consumed"),
    ("hidden", "upstream_unavailable"),
    ("owner", "tenant-b"),
    ("release", 2),
]
OTHER: list[Change] = [("version", 2), ("version", 3), *(("policy", policy) for policy in POLICIES)]
CHANGES = st.sampled_from(WORSE) | st.sampled_from(OTHER)

TAMPERINGS: list[Arguments] = [{}, {"amount": 0}, {"amount": 99_000}, {"order_id": "O-99"}, {"tip": 1}]
"""What somebody writes over the stored arguments; an empty one takes them all away."""


class AnyOrder(RuleBasedStateMachine):
    """Every rule is something that somebody can do; none of them knows what is allowed."""

    seen: ClassVar[Counter[str]] = Counter()
    """How handlers were called in all runs, so that a test that sees none of it does not pass."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self.proposals = 0

    @initialize(promise=PROMISES, policy=FIRST_POLICIES, fate=FATES, approvers=APPROVERS)
    def begin_with_a_refund(self, promise: Idempotency, policy: str, fate: Fate, approvers: list[str]) -> None:
        self.house = House(promise)
        self.house.change("policy", policy)
        self.house.fate = fate
        self.propose_refunds("the user", ["O-17"], 12_000, door_is_behind=False)
        self._do(self._by_hand(self.acts[0], "validate"))
        self.people_approve(0, approvers)

    def teardown(self) -> None:
        self.house.world.advance(LATEST_LANDING)
        self.every_end_is_true()
        self.seen.update(self.house.witness.calls)
        self.loop.close()

    # -- proposals

    @precondition(lambda self: self.has_room_for("refund_payment"))
    @rule(caller=CALLERS, orders=st.lists(ORDERS, min_size=1, max_size=3), amount=AMOUNTS, door_is_behind=st.booleans())
    def propose_refunds(self, caller: str, orders: list[str], amount: int, door_is_behind: bool) -> None:
        for order in orders:
            changed = {"order_id": order, "amount": amount, "quote_id": self._new("qt")}
            self._propose(Proposal("call-1", "refund_payment", REFUND | changed), caller, door_is_behind)

    @precondition(lambda self: self.has_room_for("refund_payment"))
    @rule(callers=st.lists(st.sampled_from(["the user", "another user"]), min_size=4, max_size=4))
    def many_are_tried_on_a_thrifty_day(self, callers: list[str]) -> None:
        for caller in callers:
            self._do(self._try(self._fresh_refund("thrifty", caller), "validate", "apply"))

    @precondition(lambda self: self.has_room_for("get_order"))
    @rule(caller=CALLERS, door_is_behind=st.booleans(), worse=st.none() | st.sampled_from(WORSE))
    def a_lookup_is_proposed_and_read_twice(self, caller: str, door_is_behind: bool, worse: Change | None) -> None:
        self._propose_a_lookup(caller, door_is_behind)
        for act in self.open_lookups[-1:]:
            self.loop.run(self._try_in([worse or ("version", 1)] * 2, act))

    @precondition(lambda self: self.has_room_for("get_order"))
    @rule(tampering=st.sampled_from(TAMPERINGS))
    def a_lookup_is_proposed_and_read_with_other_arguments(self, tampering: Arguments) -> None:
        self._propose_a_lookup("the user", door_is_behind=True)
        self.loop.run(self._try_with([tampering], self.acts[-1]))

    # -- steps, as the workflow and as somebody at the console starts them

    @precondition(lambda self: self.open_refunds)
    @rule(number=NUMBERS)
    def one_is_carried_on(self, number: int) -> None:
        self._do(self._carry_on(picked(self.open_refunds, number)))

    @precondition(lambda self: self.open_refunds)
    @rule(rounds=st.integers(1, 3), approvers=APPROVERS)
    def all_are_carried_on_with_peoples_blessing(self, rounds: int, approvers: list[str]) -> None:
        for act in self.open_refunds * rounds:
            self._do(self._carry_on(act))
            self.people_approve(0, approvers)

    @rule(number=NUMBERS, step=STEPS, code=CODES, is_meant=st.sampled_from([True, True, True, False]))
    def a_step_is_started_by_hand(self, number: int, step: str, code: str | None, is_meant: bool) -> None:
        act = picked(self.acts, number)
        if is_meant or step == "reconcile":
            self._do(self._by_hand(act, step, code))
        else:
            self._is_refused(act, self._by_hand(act, step, code, meaning="another"))

    @precondition(lambda self: self.open_refunds)
    @rule(number=NUMBERS, code=CODES)
    def one_is_tried_and_settled_by_hand(self, number: int, code: str | None) -> None:
        act = picked(self.open_refunds, number)
        self._do(self._try(act, "validate", "apply"))
        self._do(self._by_hand(act, "settle", code))
        self._do(self._try(act, "validate", "apply"))

    @precondition(lambda self: self.has_room_for("refund_payment"))
    @rule(fate=UNCERTAIN, then=FATES, sight=SIGHTS, pauses=PAUSES, sends_again=st.booleans(), code=CODES)
    def one_gets_lost_and_is_looked_for(
        self, fate: Fate, then: Fate, sight: Sight, pauses: list[float], sends_again: bool, code: str | None
    ) -> None:
        act, steps = self._fresh_refund("calm"), ("reconcile", "validate", "apply")[: 3 if sends_again else 1]
        self.house.fate, self.house.shop.sight = fate, sight
        self._do(self._try(act, "validate", "apply"))
        self.house.fate = then
        for pause in pauses:
            self.house.world.advance(pause)
            self._do(self._try(act, *steps))
        if act in self.doubted_acts:
            self._do(self.house.give_word(act, gives_up=False))
            self._do(self._try(act, *steps * 3))
        self._do(self._by_hand(act, "settle", code))

    @precondition(lambda self: self.open_refunds)
    @rule(number=NUMBERS, worse=st.permutations(WORSE))
    def one_is_tried_in_every_worse_world(self, number: int, worse: list[Change]) -> None:
        self.loop.run(self._try_in(worse, picked(self.open_refunds, number)))

    @precondition(lambda self: self.has_room_for("refund_payment"))
    @rule(policy=ASKING, approvers=APPROVERS, other=st.none() | st.sampled_from(OTHER), seconds=st.just(0.0) | LONG)
    def one_is_approved_and_tried(
        self, policy: str, approvers: list[str], other: Change | None, seconds: float
    ) -> None:
        act = self._fresh_refund(policy)
        self._do(self._try(act, "validate"))
        for approver in approvers:
            self._decide(act, approver, Choice.APPROVE)
        self.house.world.advance(seconds)
        self.house.change(*(other or ("version", 1)))
        self._do(self._try(act, "validate", "apply", "validate", "apply"))

    @precondition(lambda self: self.open_refunds)
    @rule(number=NUMBERS, tamperings=st.permutations(TAMPERINGS))
    def one_is_tried_with_other_arguments(self, number: int, tamperings: list[Arguments]) -> None:
        self.loop.run(self._try_with(tamperings, picked(self.open_refunds, number)))

    @precondition(lambda self: self.open_refunds)
    @rule(number=NUMBERS, seconds=SHORT | LONG, policy=st.sampled_from(list(POLICIES)), was_looked_at=st.booleans())
    def one_is_tried_later(self, number: int, seconds: float, policy: str, was_looked_at: bool) -> None:
        act = picked(self.open_refunds, number)
        if was_looked_at:
            self._do(self._by_hand(act, "validate"))
        self.house.world.advance(seconds)
        self.house.change("policy", policy)
        if not was_looked_at:
            self._do(self._by_hand(act, "validate"))
        self._do(self._by_hand(act, "apply"))

    # -- what happens beside them

    @precondition(lambda self: self.asked_acts)
    @rule(number=NUMBERS, approvers=APPROVERS)
    def people_approve(self, number: int, approvers: list[str]) -> None:
        for approver in approvers:
            if self.asked_acts:
                self._decide(picked(self.asked_acts, number), approver, Choice.APPROVE)

    @precondition(lambda self: self.asked_acts)
    @rule(number=NUMBERS)
    def a_person_denies_and_no_policy_changes_that(self, number: int) -> None:
        act = picked(self.asked_acts, number)
        self._decide(act, "approver-1", Choice.DENY)
        self.loop.run(self._try_in([("policy", policy) for policy in POLICIES], act))

    @precondition(lambda self: self.doubted_acts)
    @rule(number=NUMBERS, gives_up=st.booleans())
    def an_operator_gives_a_word(self, number: int, gives_up: bool) -> None:
        self.loop.run(self.house.give_word(picked(self.doubted_acts, number), gives_up=gives_up))

    @precondition(lambda self: len(self.open_refunds) > 1)
    @rule(number=NUMBERS)
    def a_caller_takes_it_back(self, number: int) -> None:
        self.house.take_back(picked(self.open_refunds, number))

    @rule(seconds=SHORT | LONG)
    def time_passes(self, seconds: float) -> None:
        self.house.world.advance(seconds)

    @rule(change=CHANGES)
    def the_world_changes(self, change: Change) -> None:
        self.house.change(*change)

    @rule()
    def all_is_well_again(self) -> None:
        self.house.mend()

    @rule(fate=FATES, sight=SIGHTS)
    def the_shop_answers_otherwise(self, fate: Fate, sight: Sight) -> None:
        self.house.fate, self.house.shop.sight = fate, sight

    @precondition(lambda self: self.has_room_for("refund_payment"))
    @rule(other=st.none() | NUMBERS, place=st.sampled_from(Place), what=HAPPENINGS, seconds=st.just(0.0) | SHORT)
    def something_comes_in_between(self, other: int | None, place: Place, what: str, seconds: float) -> None:
        fresh = self._fresh_refund("calm")
        act = fresh if other is None else picked(self.acts, other)

        async def happen() -> None:
            # While the gate looks no time passes: the age of a clearance is counted from when it is left.
            self.house.world.advance(0.0 if self.house.looks_at_once else seconds)
            if what == "take back":
                self.house.take_back(act)
            elif what == "deny":
                self._decide(act, "approver-1", Choice.DENY)
            else:
                await self._suffer(self._by_hand(act, what, "quote_expired"))

        self.house.meanwhile[place].append(happen)
        self._do(self._try(fresh, "validate", "apply", "reconcile"))

    # -- what holds at all times

    @invariant()
    def the_witness_has_no_objection(self) -> None:
        assert not self.house.witness.objections, self.house.witness.objections

    @invariant()
    def every_end_is_true(self) -> None:
        """At most one effect: one after a success, none after a failure unless the shop has lied.

        What is told of a read was asked about.
        """
        for act in self.house.acts.values():
            made, state = self.house.shop.made(act.operation_id), self.house.witness.state(act)
            assert made <= 1
            assert made == 0 or not self.house.witness.is_proven_undone(act) or act.operation_id in self.house.shop.lies
            if state is State.SUCCEEDED:
                assert made == 1 if act.writes else act.may_be_told

    # -- how it is done

    @property
    def acts(self) -> list[Act]:
        return list(self.house.acts.values())

    def has_room_for(self, tool: str) -> bool:
        """Runs that propose without end are slow and show nothing new."""
        return sum(act.operation.tool == tool for act in self.acts) < MOST_ACTS

    @property
    def open_refunds(self) -> list[Act]:
        return [act for act in self.acts if act.writes and self.house.witness.state(act) not in ENDS]

    @property
    def open_lookups(self) -> list[Act]:
        return [act for act in self.acts if not act.writes and self.house.witness.state(act) not in ENDS]

    @property
    def asked_acts(self) -> list[Act]:
        """Those whose question people may still answer."""
        now = self.house.world.now
        latest = [(act, self.house.world.questions(act.operation_id)[-1:]) for act in self.acts]
        return [act for act, asked in latest for each in asked if each.state is PENDING and now < each.expires_at]

    @property
    def doubted_acts(self) -> list[Act]:
        """Those that an operator is asked about."""
        return [act for act in self.acts if self.house.asks_an_operator(act)]

    def _new(self, word: str) -> str:
        self.proposals += 1
        return f"{word}-{self.proposals}"

    def _propose(self, proposal: Proposal, caller: str, door_is_behind: bool) -> None:
        proposed = self.house.proposed(proposal, PEOPLE[caller], door_is_behind=door_is_behind)
        was_let_in = self.loop.run(proposed)
        assert not was_let_in or door_is_behind or self.house.offers(PEOPLE[caller], self.house.till.contract)

    def _fresh_refund(self, policy: str, caller: str = "the user") -> Act:
        """A refund of an order of its own, with nothing in its way but this policy."""
        self.house.mend()
        self.house.change("policy", policy)
        self.propose_refunds(caller, [self._new("O")], 12_000, door_is_behind=False)
        return self.acts[-1]

    def _propose_a_lookup(self, caller: str, door_is_behind: bool) -> None:
        self._propose(Proposal("call-1", "get_order", {"order_id": self._new("R")}), caller, door_is_behind)

    async def _carry_on(self, act: Act) -> None:
        house, operation = self.house, act.operation
        judgement = await house.validate(operation)
        if judgement.step is Step.SETTLE:
            await house.settle(operation, judgement.code)
        if judgement.step is Step.GO:
            report = await house.apply(operation)
            if report.step is Step.RECONCILE:
                report = await house.reconcile(operation)
            if report.step is Step.SETTLE:
                await house.settle(operation, report.code)

    def _by_hand(self, act: Act, step: str, code: str | None = None, meaning: str = "") -> Awaitable[object]:
        match step:
            case "validate":
                return self.house.validate(act.operation, meaning)
            case "apply":
                return self.house.apply(act.operation, meaning)
            case "reconcile":
                return self.house.reconcile(act.operation)
            case "read":
                return self.house.read(act.operation, intent_hash=meaning)
            case _:
                return self.house.settle(act.operation, code, meaning)

    async def _try_in(self, worlds: list[Change], act: Act) -> None:
        """All that it takes to come to the handler, while one thing after another is different and all else is well."""
        for name, value in worlds:
            self.house.mend()
            before = getattr(self.house.witness.truth, name)
            await self._try(act, *["validate"] * act.writes)
            self.house.change(name, value)
            await self._try(act, "validate", "apply")
            self.house.change(name, before)

    async def _try_with(self, tamperings: list[Arguments], act: Act) -> None:
        """The same while other arguments are stored, be it from after the look or from before it."""
        for looked_at_before in (True, False) if act.writes else (False,):
            for arguments in tamperings:
                self.house.mend()
                await self._try(act, *["validate"] * looked_at_before)
                self.house.tamper(act, arguments)
                await self._try(act, *["validate"] * (not looked_at_before), "apply")
        self.house.mend()

    async def _try(self, act: Act, *steps: str) -> None:
        for step in steps if act.writes else ["read"] * steps.count("apply"):
            await self._suffer(self._by_hand(act, step))

    def _do(self, step: Awaitable[object]) -> None:
        self.loop.run(self._suffer(step))

    async def _suffer(self, step: Awaitable[object]) -> None:
        """A step may fail, in one of our codes or because the shop broke off; anything else is a fault of this test."""
        try:
            await step
        except ApplicationError as failure:
            if failure.type not in {*ERRORS, "illegal_transition", "ConnectionError"}:
                raise

    def _is_refused(self, act: Act, step: Awaitable[object]) -> None:
        """Whoever means something else than is stored is told so, and has changed nothing."""
        kept = self.house.world.kept(act.operation_id)
        before = replace(kept)
        with pytest.raises(ApplicationError, match="idempotency_conflict"):
            self.loop.run(self._awaited(step))
        assert kept == before

    async def _awaited(self, step: Awaitable[object]) -> None:
        await step

    def _decide(self, act: Act, approver: str, choice: Choice) -> None:
        """As the back office does: on an open question, and one vote each."""
        asked = self.house.world.questions(act.operation_id)[-1:]
        if act in self.asked_acts and approver not in asked[0].votes:
            self.house.world.decide(asked[0].approval_id, choice, approver)
            act.questions[asked[0].approval_id].hears(approver, denied=choice is Choice.DENY)


def picked(acts: list[Act], number: int) -> Act:
    return acts[number % len(acts)]


HOW = settings(max_examples=120, stateful_step_count=50, deadline=None, derandomize=True, database=None)
"""The same runs each time, so that it is a change of the gate that makes this test fail."""


@pytest.mark.timeout(600)  # A failure takes minutes to be made short.
def test_a_fresh_look_is_the_only_way_to_a_handler() -> None:
    AnyOrder.seen.clear()
    run_state_machine_as_test(AnyOrder, settings=HOW)
    assert min(AnyOrder.seen[way] for way in WAYS_TO_BE_CALLED) >= 10, AnyOrder.seen


# -- the same, thing by thing, where chance might pass one by


@contextmanager
def a_run(
    promise: Idempotency = Idempotency.KEYED,
    policy: str = "calm",
    fate: Fate = Fate.LANDS_AND_SAYS_SO,
    approvers: Sequence[str] = (),
) -> Iterator[AnyOrder]:
    """A run of somebody's choosing, judged as the others are."""
    run = AnyOrder()
    run.begin_with_a_refund(promise, policy, fate, list(approvers))
    yield run
    run.the_witness_has_no_objection()
    run.teardown()


@pytest.mark.parametrize("change", [*WORSE, *OTHER], ids=str)
def test_whatever_changes_is_seen_by_the_next_look(change: Change) -> None:
    for policy, approvers in product(POLICIES, [[], BOTH]):
        with a_run(policy=policy, approvers=approvers) as run:
            run.loop.run(run._try_in([change] * 2, run.acts[0]))
            run.a_lookup_is_proposed_and_read_twice("the user", True, change)


@pytest.mark.parametrize("first", POLICIES)
def test_neither_time_nor_another_policy_makes_more_of_a_look_or_a_word(first: str) -> None:
    seconds = (1.0, AFTER_THE_CLEARANCE, AFTER_A_DAY, AFTER_THE_APPROVAL)
    for approvers, pause, policy, was_looked_at in product([[], BOTH[:1], BOTH], seconds, POLICIES, (True, False)):
        with a_run(policy=first, approvers=approvers) as run:
            run.one_is_tried_later(0, pause, policy, was_looked_at)


@pytest.mark.parametrize("tampering", TAMPERINGS, ids=str)
def test_nothing_but_what_was_registered_is_carried_out(tampering: Arguments) -> None:
    for policy, approvers in product(POLICIES, [[], BOTH]):
        with a_run(policy=policy, approvers=approvers) as run:
            run.loop.run(run._try_with([tampering], run.acts[0]))
            run.a_lookup_is_proposed_and_read_with_other_arguments(tampering)


@pytest.mark.parametrize("place", Place)
def test_nothing_that_comes_in_between_opens_another_way(place: Place) -> None:
    whats = ("validate", "apply", "reconcile", "settle", "read", "deny", "take back")
    seconds = (0.0, AFTER_THE_LEASE, AFTER_THE_SETTLE_TIME, AFTER_THE_CLEARANCE)
    for fate, what, pause in product((Fate.LANDS_AND_SAYS_SO, Fate.REFUSED_FOR_NOW, Fate.LOST_UNKNOWN), whats, seconds):
        with a_run(fate=fate) as run:
            run.something_comes_in_between(None, place, what, pause)


@pytest.mark.parametrize("promise", KINDS)
@pytest.mark.parametrize("fate", UNSURE)
def test_what_got_lost_is_made_once_at_most_and_its_end_is_true(promise: Idempotency, fate: Fate) -> None:
    pauses = ([1.0], [AFTER_THE_SETTLE_TIME], [AFTER_A_DAY], [AFTER_GIVING_UP, 1.0])
    thens = (Fate.LANDS_AND_SAYS_SO, Fate.LANDS_UNKNOWN)
    for then, sight, pause, sends_again in product(thens, Sight, pauses, (True, False)):
        with a_run(promise) as run:
            run.one_gets_lost_and_is_looked_for(fate, then, sight, pause, sends_again, "quote_expired")
