"""An operator's word on what nobody else could find out: who may give it, when it counts, and that it counts once."""

import asyncio
from dataclasses import replace

import pytest

from adapters.postgres.decisions import Wake
from adapters.postgres.engine import Database
from adapters.postgres.resolutions import PostgresResolutions
from tests.support.acts import claimed, in_review
from tests.support.benches import OPERATOR, Bench, PostgresBench
from tests.support.proposals import fresh
from workflows.domain.claim import Claim
from workflows.domain.effect import ABANDONED, Effect, Outcome
from workflows.domain.errors import ResolutionRefused, StaleGeneration
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal
from workflows.domain.resolution import Finding, Resolution

HAPPENED = Resolution(Finding.HAPPENED, "The provider's support confirms it, case 17.", fresh("rf"), generation=1)
ABSENT = replace(HAPPENED, finding=Finding.DID_NOT_HAPPEN, reference="")


# -- the word, for the worker


async def test_the_word_is_there_for_the_state_that_it_was_given_on_and_no_other(bench: Bench) -> None:
    claim = await in_review(bench)
    assert await bench.resolutions.given(claim.operation_id, 1) is None
    await bench.resolve(claim.operation_id, HAPPENED)
    assert await bench.resolutions.given(claim.operation_id, 1) == HAPPENED
    assert await bench.resolutions.given(claim.operation_id, 2) is None


async def test_what_is_abandoned_stays_uncertain_and_is_closed(bench: Bench) -> None:
    claim = await in_review(bench)
    await bench.claims.abandon(claim.operation_id, 1)
    evidence = await bench.claims.evidence(claim.operation_id)
    assert evidence is not None
    assert evidence.effect is not None
    assert (evidence.effect.outcome, evidence.effect.code) == (Outcome.UNKNOWN, ABANDONED)
    assert (evidence.uncertain, evidence.generation) == (True, 2)


async def test_what_somebody_has_found_meanwhile_is_not_abandoned(bench: Bench) -> None:
    claim = await in_review(bench)
    await bench.claims.conclude_by_evidence(claim.operation_id, 1, Effect.applied("rf-204", {}))
    with pytest.raises(StaleGeneration):
        await bench.claims.abandon(claim.operation_id, 1)


async def test_what_was_proven_absent_meanwhile_is_not_abandoned(bench: Bench) -> None:
    claim = await in_review(bench)
    await bench.claims.prove_absent(claim.operation_id, 1)
    with pytest.raises(StaleGeneration):
        await bench.claims.abandon(claim.operation_id, 2)


async def test_what_a_word_says_is_not_recorded_on_a_later_state_of_the_claim(bench: Bench) -> None:
    claim = await in_review(bench)
    await bench.claims.prove_absent(claim.operation_id, 1)
    with pytest.raises(StaleGeneration):
        await bench.claims.conclude_by_evidence(claim.operation_id, 1, Effect.applied("rf-204", {}), found=False)


@pytest.mark.parametrize("word", [HAPPENED, replace(ABSENT, finding=Finding.ABANDONED)], ids=["happened", "given up"])
async def test_what_somebody_says_has_happened_or_is_given_up_is_not_freed_to_be_sent_again(
    bench: Bench, word: Resolution
) -> None:
    claim = await in_review(bench)
    await bench.resolve(claim.operation_id, replace(word, reference=fresh("rf") if word.reference else ""))
    with pytest.raises(StaleGeneration):
        await bench.claims.prove_absent(claim.operation_id, 1)


async def test_a_word_and_a_look_that_finds_nothing_do_not_pass_each_other(postgres_bench: PostgresBench) -> None:
    """Either the word is told that it has moved on, or nothing is sent against it."""
    for _ in range(10):
        claim = await in_review(postgres_bench)
        looked, said = await asyncio.gather(
            postgres_bench.claims.prove_absent(claim.operation_id, 1),
            postgres_bench.resolve(claim.operation_id, replace(ABSENT, finding=Finding.ABANDONED)),
            return_exceptions=True,
        )
        assert isinstance(looked, StaleGeneration) is not isinstance(said, ResolutionRefused)


# -- who may give it, and when


@pytest.fixture
def words(door_database: Database) -> PostgresResolutions:
    """With the rights of the back office."""
    return PostgresResolutions(door_database)


async def code_of(words: PostgresResolutions, claim: Claim, word: Resolution, operator: Principal = OPERATOR) -> str:
    with pytest.raises(ResolutionRefused) as refused:
        await words.resolve(operator, claim.operation_id, word)
    return refused.value.code


@pytest.mark.parametrize(
    ("operator", "code"),
    [
        (replace(OPERATOR, agent="support-agent"), "operator_not_allowed"),
        (replace(OPERATOR, roles=frozenset({"approver:refunds"})), "operator_not_allowed"),
        (replace(OPERATOR, subject="user-17"), "operator_not_allowed"),
        (replace(OPERATOR, tenant="tenant-b"), "not_found"),
    ],
    ids=["software", "another role", "who asked for it", "another tenant"],
)
async def test_who_may_not_resolve_changes_nothing(
    postgres_bench: PostgresBench, words: PostgresResolutions, operator: Principal, code: str
) -> None:
    claim = await in_review(postgres_bench)
    assert await code_of(words, claim, HAPPENED, operator) == code
    assert await postgres_bench.resolutions.given(claim.operation_id, 1) is None


@pytest.mark.parametrize(
    ("word", "code"),
    [
        (replace(HAPPENED, evidence=" "), "resolution_evidence_required"),
        (replace(HAPPENED, evidence="\u200b"), "resolution_evidence_required"),
        (replace(HAPPENED, reference=""), "resolution_reference_required"),
        (replace(HAPPENED, reference="\u200b"), "resolution_reference_required"),
        (replace(HAPPENED, reference="rf-204\u200b"), "resolution_reference_unclear"),
        (replace(HAPPENED, generation=7), "resolution_stale"),
    ],
    ids=["no evidence", "unseen", "no reference", "an unseen one", "one partly unseen", "another state than shown"],
)
async def test_a_word_without_grounds_or_on_another_state_does_not_count(
    postgres_bench: PostgresBench, words: PostgresResolutions, word: Resolution, code: str
) -> None:
    claim = await in_review(postgres_bench)
    assert await code_of(words, claim, word) == code
    assert await postgres_bench.resolutions.given(claim.operation_id, word.generation) is None


async def test_before_anybody_is_asked_no_word_counts(
    postgres_bench: PostgresBench, words: PostgresResolutions
) -> None:
    claim = await claimed(postgres_bench)
    assert await code_of(words, claim, HAPPENED) == "resolution_not_open"


async def test_once_it_is_certain_no_word_counts(postgres_bench: PostgresBench, words: PostgresResolutions) -> None:
    claim = await in_review(postgres_bench)
    await postgres_bench.claims.prove_absent(claim.operation_id, 1)
    assert await code_of(words, claim, replace(HAPPENED, generation=2)) == "resolution_not_open"


async def test_the_same_word_again_is_the_same_word(postgres_bench: PostgresBench, words: PostgresResolutions) -> None:
    claim, word = await in_review(postgres_bench), replace(HAPPENED, reference=fresh("rf"))
    first, again = [await words.resolve(OPERATOR, claim.operation_id, word) for _ in range(2)]
    assert first == again
    assert (await postgres_bench.found(claim.operation_id)).state is State.MANUAL_REVIEW


async def test_of_two_operators_at_once_one_counts_and_the_other_is_told(
    postgres_bench: PostgresBench, words: PostgresResolutions
) -> None:
    claim = await in_review(postgres_bench)
    other = replace(OPERATOR, subject="operator-2")
    told = await asyncio.gather(
        words.resolve(OPERATOR, claim.operation_id, replace(HAPPENED, reference=fresh("rf"))),
        words.resolve(other, claim.operation_id, ABSENT),
        return_exceptions=True,
    )
    (refused,) = [each for each in told if isinstance(each, ResolutionRefused)]
    assert refused.code == "resolution_already_given"
    assert sum(isinstance(each, Wake) for each in told) == 1


async def test_one_receipt_does_not_prove_two_effects(
    postgres_bench: PostgresBench, words: PostgresResolutions
) -> None:
    receipt = fresh("rf")
    first, second = await in_review(postgres_bench), await in_review(postgres_bench)
    await postgres_bench.claims.conclude_by_evidence(first.operation_id, 1, Effect.applied(receipt, {}))
    assert await code_of(words, second, replace(HAPPENED, reference=receipt)) == "resolution_reference_taken"


async def test_one_receipt_does_not_prove_two_effects_while_no_worker_has_acted_on_the_first_word(
    postgres_bench: PostgresBench, words: PostgresResolutions
) -> None:
    word = replace(HAPPENED, reference=fresh("rf"))
    first, second = await in_review(postgres_bench), await in_review(postgres_bench)
    await words.resolve(OPERATOR, first.operation_id, word)
    assert await code_of(words, second, word) == "resolution_reference_taken"
    # The same word again is no other one.
    await words.resolve(OPERATOR, first.operation_id, word)


async def test_one_receipt_does_not_prove_two_effects_when_both_words_are_given_at_once(
    postgres_bench: PostgresBench, words: PostgresResolutions
) -> None:
    word = replace(HAPPENED, reference=fresh("rf"))
    claims = [await in_review(postgres_bench) for _ in range(4)]
    told = await asyncio.gather(
        *(words.resolve(OPERATOR, claim.operation_id, word) for claim in claims), return_exceptions=True
    )
    assert sum(isinstance(each, Wake) for each in told) == 1
    assert {each.code for each in told if isinstance(each, ResolutionRefused)} == {"resolution_reference_taken"}


async def test_a_receipt_that_a_void_word_has_named_is_free(
    postgres_bench: PostgresBench, words: PostgresResolutions
) -> None:
    """The downstream has spoken against it, and the claim has moved on."""
    word = replace(HAPPENED, reference=fresh("rf"))
    first, second = await in_review(postgres_bench), await in_review(postgres_bench)
    await words.resolve(OPERATOR, first.operation_id, word)
    await postgres_bench.claims.conclude_by_evidence(first.operation_id, 1, Effect.applied(fresh("rf"), {}))
    assert isinstance(await words.resolve(OPERATOR, second.operation_id, word), Wake)
