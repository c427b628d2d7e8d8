"""Finding out what an uncertain send came to."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from activities.reconcile import LEASE_PAUSE_SECONDS, MANUAL_LOOK_SECONDS, WORD_LOOK_SECONDS
from tests.fakes.resolutions import MemoryResolutions
from tests.fakes.world import Entry
from tests.support.acts import ATTEMPT_SECONDS, LEASE_SECONDS, binding_of, claimed, proposed
from tests.support.steps import CONSUMED, REFUNDED, Stage, sent, shipped
from workflows.domain.approval import Clearance
from workflows.domain.contract import Idempotency, Limits, Recovery
from workflows.domain.effect import Effect
from workflows.domain.gate import Layer, Verdict
from workflows.domain.impact import Money
from workflows.domain.lifecycle import State
from workflows.domain.operation import Operation
from workflows.domain.reconciliation import LOOKUP_FAILED
from workflows.domain.resolution import Finding, Resolution
from workflows.messages import Report, Step

SETTLED = 20.0
"""Later than a late commit is possible, sooner than anybody gives up."""

GIVEN_UP = 901.0


async def test_what_was_never_claimed_goes_to_the_gate() -> None:
    stage = Stage()

    assert await stage.reconcile(await proposed(stage)) == Report(Step.VALIDATE)
    assert stage.till.looks == 0


async def test_what_is_on_record_is_not_looked_for() -> None:
    stage = Stage()
    operation = await sent(stage, REFUNDED)

    assert await stage.reconcile(operation) == Report(Step.SETTLE, generation=1)
    assert stage.till.looks == 0


@pytest.mark.parametrize("found", [REFUNDED, CONSUMED], ids=["applied", "refused"])
async def test_what_is_found_goes_on_record(found: Effect) -> None:
    stage = Stage()
    operation = await sent(stage, Effect.unknown())
    stage.till.finds = found

    assert await stage.reconcile(operation) == Report(Step.SETTLE, generation=2)
    evidence = await stage.evidence(operation)
    assert (evidence.effect, evidence.generation) == (found, 2)


async def test_what_is_proven_absent_may_be_sent_again() -> None:
    stage = Stage()
    operation = await sent(stage, Effect.unknown())
    stage.world.advance(SETTLED)

    assert await stage.reconcile(operation) == Report(Step.SEND_AGAIN, "proven_absent", generation=2)
    evidence = await stage.evidence(operation)
    assert (evidence.uncertain, evidence.generation, evidence.effect) == (False, 2, None)


async def test_too_early_a_look_that_finds_nothing_proves_nothing() -> None:
    stage = Stage()
    operation = await sent(stage, Effect.unknown())
    stage.world.advance(5.0)

    assert await stage.reconcile(operation) == Report(Step.RECONCILE, "reconciliation_pending", 5.0, 1)
    assert (await stage.evidence(operation)).uncertain


async def test_while_an_owner_lives_its_send_is_not_called_absent() -> None:
    stage = Stage()
    claim = await claimed(stage)
    operation = await stage.operations.load(claim.operation_id)
    await stage.claims.begin_send(claim, -SETTLED)

    assert (await stage.reconcile(operation)).step is Step.RECONCILE
    assert (await stage.evidence(operation)).uncertain


async def test_what_nobody_has_sent_goes_back_to_the_gate_without_a_look() -> None:
    stage = Stage()
    claim = await claimed(stage)
    operation = await stage.operations.load(claim.operation_id)

    assert await stage.reconcile(operation) == Report(Step.SEND_AGAIN, "proven_absent", LEASE_PAUSE_SECONDS, 1)
    stage.world.advance(SETTLED)
    assert await stage.reconcile(operation) == Report(Step.SEND_AGAIN, "proven_absent", 0.0, 1)
    assert stage.till.looks == 0


async def test_a_tool_that_is_gone_does_not_keep_a_person_from_being_asked() -> None:
    stage = Stage()
    operation = await sent(stage, Effect.unknown())
    stage.world.advance(5_000)
    stage.till.contract = replace(stage.till.contract, name="pay_money_back")

    assert (await stage.reconcile(operation)).needs_person
    assert (await stage.found(operation.operation_id)).state is State.MANUAL_REVIEW


async def test_with_the_budget_spent_and_nothing_done_it_ends_as_refused() -> None:
    stage = Stage()
    stage.till.contract = replace(stage.till.contract, limits=Limits(sends=1))
    operation = await sent(stage, Effect.unknown())
    stage.world.advance(SETTLED)

    assert await stage.reconcile(operation) == Report(Step.SETTLE, generation=2)
    assert (await stage.evidence(operation)).effect == Effect.rejected("upstream_unavailable")


@pytest.mark.parametrize("idempotency", [Idempotency.NONE, Idempotency.LOOKUP_ONLY])
@pytest.mark.parametrize("seconds", [SETTLED, GIVEN_UP])
async def test_what_cannot_be_repeated_harmlessly_is_never_sent_again(idempotency: Idempotency, seconds: float) -> None:
    stage = Stage()
    stage.till.contract = replace(stage.till.contract, idempotency=idempotency)
    operation = await sent(stage, Effect.unknown())
    stage.world.advance(seconds)

    report = await stage.reconcile(operation)

    assert (report.step, report.needs_person) == (Step.RECONCILE, seconds == GIVEN_UP)
    assert (await stage.evidence(operation)).uncertain


def downstream_has_not_finished(stage: Stage) -> None:
    stage.till.finds = Effect.unknown()


def the_look_fails(stage: Stage) -> None:
    stage.till.finds = ConnectionError()


def the_arguments_no_longer_fit(stage: Stage) -> None:
    stage.till.contract = replace(stage.till.contract, arguments=shipped("get_order").arguments)


@pytest.mark.parametrize("happens", [downstream_has_not_finished, the_look_fails, the_arguments_no_longer_fit])
async def test_a_person_is_asked_once_looking_has_lasted_too_long(happens: Callable[[Stage], None]) -> None:
    stage = Stage()
    operation = await sent(stage, Effect.unknown())
    happens(stage)
    stage.world.advance(SETTLED)

    assert not (await stage.reconcile(operation)).needs_person
    assert (await stage.found(operation.operation_id)).state is State.UNCONFIRMED

    stage.world.advance(GIVEN_UP - SETTLED)
    late = await stage.reconcile(operation)

    assert (late.step, late.pause_seconds, late.needs_person) == (Step.RECONCILE, MANUAL_LOOK_SECONDS, True)
    assert (await stage.found(operation.operation_id)).state is State.MANUAL_REVIEW
    assert (await stage.evidence(operation)).uncertain


async def test_absence_is_not_concluded_over_a_claim_that_was_taken_during_the_look() -> None:
    stage = Stage()
    operation = await sent(stage, Effect.unknown())
    stage.world.advance(SETTLED)
    stage.till.meanwhile = stage.taken_over(operation)

    assert await stage.reconcile(operation) == Report(Step.RECONCILE, pause_seconds=1.0, generation=1)
    assert (await stage.evidence(operation)).uncertain


# -- an operator's word


HAPPENED = Resolution(Finding.HAPPENED, "The provider's support confirms it.", "rf-204", generation=1)
ABSENT = replace(HAPPENED, finding=Finding.DID_NOT_HAPPEN, reference="")
ABANDONED = replace(ABSENT, finding=Finding.ABANDONED)


async def in_review(stage: Stage) -> Operation:
    """A refund that was sent once under a key that is forgotten by now, and that an operator is asked about."""
    stage.till.contract = replace(stage.till.contract, idempotency=Idempotency.LOOKUP_ONLY)
    operation = await sent(stage, Effect.unknown())
    stage.world.advance(GIVEN_UP)
    assert (await stage.reconcile(operation)).needs_person
    return operation


async def ending_of(stage: Stage, operation: Operation) -> tuple[str, str | None]:
    ending = await stage.settle(operation)
    return ending.state, ending.code


async def test_what_an_operator_says_has_happened_is_the_outcome_under_its_reference() -> None:
    stage = Stage()
    operation = await in_review(stage)
    await stage.resolve(operation.operation_id, HAPPENED)

    assert await stage.reconcile(operation) == Report(Step.SETTLE, generation=2)
    assert await ending_of(stage, operation) == ("succeeded", None)
    assert (await stage.operations.load(operation.operation_id)).reference == "rf-204"
    assert len(stage.till.sent) == 0


async def test_what_an_operator_says_has_not_happened_goes_through_the_gate_and_is_sent_once_more() -> None:
    stage = Stage()
    stage.till.contract = replace(stage.till.contract, limits=Limits(sends=1))
    operation = await in_review(stage)
    await stage.resolve(operation.operation_id, ABSENT)

    assert await stage.reconcile(operation) == Report(Step.SEND_AGAIN, "proven_absent", generation=2)
    assert (await stage.validate(operation)).step is Step.GO
    assert (await stage.apply(operation)).step is Step.SETTLE
    assert await ending_of(stage, operation) == ("succeeded", None)
    assert len(stage.till.sent) == 1


async def test_what_an_operator_gives_up_ends_without_being_called_undone() -> None:
    stage = Stage()
    operation = await in_review(stage)
    await stage.spendings.reserve(operation, Money(12_000, "KRW"), 600.0)
    await stage.resolve(operation.operation_id, ABANDONED)

    assert await stage.reconcile(operation) == Report(Step.SETTLE, generation=2)
    assert await ending_of(stage, operation) == ("failed_terminal", "outcome_abandoned")
    # What may have left counts as spent.
    assert not stage.world.spent[operation.operation_id].released
    assert (await stage.apply(operation)).step is Step.SETTLE
    assert stage.till.sent == []


@pytest.mark.parametrize("word", [HAPPENED, ABSENT, ABANDONED], ids=lambda word: word.finding.value)
async def test_what_the_downstream_says_outranks_an_operators_word(word: Resolution) -> None:
    stage = Stage()
    operation = await in_review(stage)
    await stage.resolve(operation.operation_id, word)
    stage.till.finds = Effect.applied("rf-999", {})

    await stage.reconcile(operation)

    evidence = await stage.evidence(operation)
    assert evidence.effect is not None
    assert evidence.effect.reference == "rf-999"


async def test_what_the_downstream_has_taken_and_not_finished_is_not_sent_again_on_anybodys_word() -> None:
    stage = Stage()
    operation = await in_review(stage)
    await stage.resolve(operation.operation_id, ABSENT)
    stage.till.finds = Effect.unknown("rf-pending")

    assert (await stage.reconcile(operation)).step is Step.RECONCILE
    assert (await stage.evidence(operation)).uncertain


async def test_what_the_downstream_calls_pending_is_not_made_a_success_by_a_word() -> None:
    stage = Stage()
    operation = await in_review(stage)
    await stage.resolve(operation.operation_id, HAPPENED)
    stage.till.finds = Effect.unknown("rf-7")

    assert (await stage.reconcile(operation)).step is Step.RECONCILE
    assert (await stage.evidence(operation)).effect is None


async def test_a_word_that_is_overtaken_says_nothing_of_the_later_send() -> None:
    """While it is read, another worker proves the send absent, and a new one is on its way."""
    stage = Stage()
    operation = await in_review(stage)
    await stage.resolve(operation.operation_id, ABSENT)

    class Overtaken(MemoryResolutions):
        async def given(self, operation_id: str, generation: int, item: str = "") -> Resolution | None:
            word = await super().given(operation_id, generation, item)
            await stage.claims.prove_absent(operation_id, 1)
            await stage.operations.record(operation, [Verdict(Layer.RISK)], Clearance(binding_of(operation)))
            claim = await stage.claims.acquire(operation_id, "successor", LEASE_SECONDS)
            await stage.claims.begin_send(claim, ATTEMPT_SECONDS)
            return word

    stage.resolutions = Overtaken(stage.world)
    assert (await stage.reconcile(operation)).step is Step.RECONCILE
    evidence = await stage.evidence(operation)
    assert (evidence.effect, evidence.uncertain, evidence.generation) == (None, True, 3)


async def test_a_word_counts_also_when_nobody_can_look() -> None:
    stage = Stage()
    operation = await in_review(stage)
    await stage.resolve(operation.operation_id, HAPPENED)
    stage.till.finds = ConnectionError("reset")

    assert await stage.reconcile(operation) == Report(Step.SETTLE, generation=2)


async def test_that_it_did_not_happen_counts_only_once_a_look_has_found_nothing() -> None:
    """Otherwise the gate would meet our own effect, refuse, and the end would be told as nothing done."""
    stage = Stage()
    operation = await in_review(stage)
    await stage.resolve(operation.operation_id, ABSENT)
    stage.till.finds = ConnectionError("reset")

    assert await stage.reconcile(operation) == Report(Step.RECONCILE, LOOKUP_FAILED, WORD_LOOK_SECONDS, 1)
    assert (await stage.evidence(operation)).uncertain
    stage.till.finds = None
    assert await stage.reconcile(operation) == Report(Step.SEND_AGAIN, "proven_absent", generation=2)


async def asked_while_nobody_could_look(stage: Stage) -> Operation:
    """A refund under a key that the downstream still knows; as soon as it can be looked for, a repeat is harmless."""
    operation = await sent(stage, Effect.unknown())
    stage.till.finds = ConnectionError("reset")
    stage.world.advance(GIVEN_UP)
    assert (await stage.reconcile(operation)).needs_person
    stage.till.finds = None
    return operation


@pytest.mark.parametrize(
    ("word", "ending"),
    [(HAPPENED, ("succeeded", None)), (ABANDONED, ("failed_terminal", "outcome_abandoned"))],
    ids=["it happened", "given up"],
)
async def test_nothing_is_sent_against_a_word_because_a_look_finds_nothing_under_our_key(
    word: Resolution, ending: tuple[str, str | None]
) -> None:
    """What happened on the telephone has another key, and the page has promised that nothing more is sent."""
    stage = Stage()
    operation = await asked_while_nobody_could_look(stage)
    await stage.resolve(operation.operation_id, word)

    assert await stage.reconcile(operation) == Report(Step.SETTLE, generation=2)
    assert await ending_of(stage, operation) == ending
    assert stage.till.sent == []


async def test_a_word_that_comes_while_a_look_finds_nothing_is_not_passed_over() -> None:
    stage = Stage()
    operation = await asked_while_nobody_could_look(stage)

    class Late(MemoryResolutions):
        async def given(self, operation_id: str, generation: int, item: str = "") -> Resolution | None:
            word = await super().given(operation_id, generation, item)
            await stage.resolve(operation_id, ABANDONED)
            return word

    stage.resolutions = Late(stage.world)
    assert (await stage.reconcile(operation)).step is Step.RECONCILE
    assert (await stage.evidence(operation)).uncertain
    assert await stage.reconcile(operation) == Report(Step.SETTLE, generation=2)


async def test_that_it_did_not_happen_counts_for_one_more_send_also_where_a_repeat_is_harmless() -> None:
    stage = Stage()
    stage.till.contract = replace(stage.till.contract, limits=Limits(sends=1))
    operation = await asked_while_nobody_could_look(stage)
    await stage.resolve(operation.operation_id, ABSENT)

    assert await stage.reconcile(operation) == Report(Step.SEND_AGAIN, "proven_absent", generation=2)


@pytest.mark.parametrize("idempotency", [Idempotency.LOOKUP_ONLY, Idempotency.NONE])
async def test_that_it_did_not_happen_waits_until_the_last_send_can_no_longer_arrive(idempotency: Idempotency) -> None:
    """An item that was sent a moment ago is in doubt beside one that operators are asked about."""
    stage = Stage()
    operation = await in_review(stage)
    stage.till.contract = replace(stage.till.contract, idempotency=idempotency, recovery=Recovery(settle_seconds=30.0))
    stage.world.claims[operation.operation_id].last_sent_at = stage.world.now - 10.0
    await stage.resolve(operation.operation_id, ABSENT)

    assert await stage.reconcile(operation) == Report(Step.RECONCILE, "absence_not_proven", 20.0, 1)
    assert (await stage.evidence(operation)).uncertain
    stage.world.advance(20.0)
    assert (await stage.reconcile(operation)).step is Step.SEND_AGAIN


async def test_how_long_it_is_looked_for_is_counted_from_the_last_send() -> None:
    """The ones before it were refused or proven absent: what is looked for is a moment old, whatever came before."""
    stage = Stage()
    operation = await sent(stage, Effect.unknown())
    stage.till.finds = ConnectionError("reset")
    stage.world.advance(GIVEN_UP)
    stage.world.claims[operation.operation_id].last_sent_at = stage.world.now - 5.0

    assert await stage.reconcile(operation) == Report(Step.RECONCILE, "reconciliation_pending", 5.0, 1)
    assert (await stage.found(operation.operation_id)).state is State.UNCONFIRMED


NOTHING_TO_LOOK_FOR = Recovery(give_up_seconds=1.0)


async def promised(stage: Stage) -> Operation:
    """An act of which nothing can be found but the answer that was promised."""
    stage.till.contract = replace(stage.till.contract, idempotency=Idempotency.NONE, recovery=NOTHING_TO_LOOK_FOR)
    operation = await sent(stage, Effect.unknown())
    stage.world.entries.append(Entry(operation.operation_id, 1, task_id="t-1"))
    stage.world.advance(60.0)
    return operation


@pytest.mark.parametrize("finds", [Effect.unknown(), ConnectionError("reset")])
async def test_an_answer_that_was_promised_is_asked_for_before_a_person_is(finds: Effect | Exception) -> None:
    stage = Stage()
    operation = await promised(stage)
    stage.till.finds = finds

    assert await stage.reconcile(operation) == Report(Step.RECONCILE, "reconciliation_pending", 60.0, 1)
    stage.world.advance(GIVEN_UP)
    assert (await stage.reconcile(operation)).needs_person


async def test_where_nothing_comes_of_a_promise_a_person_is_asked_at_once() -> None:
    stage = Stage()
    operation = await promised(stage)
    stage.till.finds = None

    assert (await stage.reconcile(operation)).needs_person


async def test_no_word_stands_for_an_answer_that_was_promised_and_cannot_be_asked_for_just_now() -> None:
    stage = Stage()
    operation = await promised(stage)
    stage.till.finds = ConnectionError("reset")
    stage.world.advance(GIVEN_UP)
    assert (await stage.reconcile(operation)).needs_person
    await stage.resolve(operation.operation_id, ABSENT)

    assert (await stage.reconcile(operation)).step is Step.RECONCILE
    stage.till.finds = REFUNDED
    assert (await stage.reconcile(operation)).step is Step.SETTLE
    assert stage.till.sent == []


async def test_that_it_did_not_happen_counts_at_once_where_nobody_could_ever_look() -> None:
    stage = Stage()
    operation = await in_review(stage)
    stage.till.contract = replace(stage.till.contract, idempotency=Idempotency.NONE)
    await stage.resolve(operation.operation_id, ABSENT)
    stage.till.finds = AttributeError("look_up")

    assert await stage.reconcile(operation) == Report(Step.SEND_AGAIN, "proven_absent", generation=2)


async def test_a_word_on_an_earlier_state_of_the_claim_counts_for_nothing() -> None:
    stage = Stage()
    operation = await in_review(stage)
    await stage.resolve(operation.operation_id, replace(HAPPENED, generation=7))

    assert (await stage.reconcile(operation)).needs_person


@pytest.mark.parametrize(
    ("idempotency", "finds", "why"),
    [
        (Idempotency.LOOKUP_ONLY, None, "absence_not_proven"),
        (Idempotency.NONE, None, "absence_not_proven"),
        (Idempotency.KEYED, None, "downstream_key_expired"),
        (Idempotency.KEYED, Effect.unknown("rf-1"), "downstream_pending"),
        (Idempotency.KEYED, Effect.unknown("rf-1", "effect_mismatch"), "effect_mismatch"),
        (Idempotency.FENCED, ConnectionError("reset"), "lookup_failed"),
    ],
)
async def test_an_operator_is_told_why_they_are_asked(
    idempotency: Idempotency, finds: Effect | Exception | None, why: str
) -> None:
    stage = Stage()
    stage.till.contract = replace(
        stage.till.contract, idempotency=idempotency, recovery=Recovery(key_lifetime_seconds=60.0)
    )
    stage.till.finds = finds
    operation = await sent(stage, Effect.unknown())
    stage.world.advance(GIVEN_UP)

    assert await stage.reconcile(operation) == Report(Step.RECONCILE, why, MANUAL_LOOK_SECONDS, 1, needs_person=True)
