"""The dashboard: what a viewer's tenant has broken, what waits there, and counts that equal the rows."""

from collections import Counter

import pytest

from adapters.http.back_office.dashboard_ports import MOST_KINDS, End, Invariant, Overview, Queue, Span
from adapters.postgres.dashboard import PostgresDashboard
from adapters.postgres.engine import Database
from tests.support.dashboards import MemoryRows, PostgresRows, Rows
from tests.support.proposals import fresh
from workflows.domain.approval import Choice
from workflows.domain.effect import ABANDONED
from workflows.domain.gate import Layer
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.principal import Principal

MINUTE, HOUR, DAY = 60.0, 3600.0, 24 * 3600.0


@pytest.fixture(params=["memory", "postgres"])
def rows(request: pytest.FixtureRequest) -> Rows:
    if request.param == "memory":
        return MemoryRows()
    owner: Database = request.getfixturevalue("owner_database")
    door: Database = request.getfixturevalue("door_database")
    return PostgresRows(owner, PostgresDashboard(door))


@pytest.fixture
def tenant() -> str:
    """One that no other test writes for."""
    return fresh("tenant")


async def look(rows: Rows, tenant: str, span: Span = Span.DAY) -> Overview:
    seen = await rows.dashboard.overview(Principal(tenant, "viewer-1", frozenset({"viewer"})), span)
    assert seen is not None
    return seen


def broken(seen: Overview) -> dict[str, Invariant]:
    return {each.name: each for each in seen.invariants if not each.holds}


async def test_where_nothing_has_happened_everything_holds_and_every_count_is_empty(rows: Rows, tenant: str) -> None:
    seen = await look(rows, tenant)
    assert seen.invariants
    assert broken(seen) == {}
    assert set(seen.under_way.states) == set(State) - ENDS
    assert set(seen.under_way.states.values()) == {Queue()}
    counted = seen.figures
    counts = (counted.ends, counted.ages, counted.decisions, counted.refusals, counted.effects, counted.corrections)
    assert [dict(count) for count in counts] == [{}] * len(counts)


async def test_an_operation_that_breaks_something_is_named_to_its_own_tenant_alone(rows: Rows, tenant: str) -> None:
    operation_id = await rows.operation(tenant, State.SUCCEEDED, ago=2 * HOUR, half_ended=True)
    seen = await look(rows, tenant)
    found = broken(seen)["half_ended_operations"]
    assert (found.broken, found.operations) == (1, (operation_id,))
    assert found.since is not None
    assert (seen.read_at - found.since).total_seconds() == pytest.approx(2 * HOUR, abs=60)
    assert broken(await look(rows, fresh("tenant"))) == {}


async def test_what_is_half_ended_is_broken_and_is_counted_neither_as_ended_nor_as_open(
    rows: Rows, tenant: str
) -> None:
    without_its_time = await rows.operation(tenant, State.SUCCEEDED, half_ended=True)
    still_open = await rows.operation(tenant, State.STARTED, half_ended=True)
    seen = await look(rows, tenant)
    assert set(broken(seen)["half_ended_operations"].operations) == {without_its_time, still_open}
    assert (dict(seen.figures.ends), dict(seen.figures.ages)) == ({}, {})


async def test_of_several_that_break_something_the_newest_is_named_first_and_the_oldest_says_since_when(
    rows: Rows, tenant: str
) -> None:
    older = await rows.operation(tenant, State.SUCCEEDED, ago=5 * HOUR, half_ended=True)
    newer = await rows.operation(tenant, State.SUCCEEDED, ago=HOUR, half_ended=True)
    seen = await look(rows, tenant)
    found = broken(seen)["half_ended_operations"]
    assert found.operations == (newer, older)
    assert found.since is not None
    assert (seen.read_at - found.since).total_seconds() == pytest.approx(5 * HOUR, abs=60)


async def test_an_effect_that_is_on_record_twice_is_broken_and_is_counted_as_more_than_one(
    rows: Rows, tenant: str
) -> None:
    operation_id = await rows.operation(tenant, State.SUCCEEDED)
    await rows.claim(operation_id, effects=2)
    seen = await look(rows, tenant)
    assert broken(seen)["effects_per_operation_and_item"].operations == (operation_id,)
    assert dict(seen.figures.effects) == {2: 1}


async def test_what_began_longer_ago_than_is_checked_is_left_to_the_command_that_looks_at_everything(
    rows: Rows, tenant: str
) -> None:
    await rows.operation(tenant, State.SUCCEEDED, ago=HOUR, begun=31 * DAY, half_ended=True)
    assert broken(await look(rows, tenant)) == {}


async def test_what_waits_is_told_by_its_state_with_the_age_of_the_oldest(rows: Rows, tenant: str) -> None:
    for ago in (30.0, 3 * HOUR):
        await rows.operation(tenant, State.UNCONFIRMED, ago=ago)
    late = await rows.operation(tenant, State.PROPOSED, ago=HOUR)
    await rows.question(late, ago=HOUR)
    await rows.message(late, late=20 * MINUTE)
    waiting = (await look(rows, tenant)).under_way
    for queue, number, oldest in (
        (waiting.states[State.UNCONFIRMED], 2, 3 * HOUR),
        (waiting.states[State.PROPOSED], 1, HOUR),
        (waiting.pending, 1, HOUR),
        (waiting.due, 1, 20 * MINUTE),
    ):
        assert queue.number == number
        assert queue.oldest_seconds == pytest.approx(oldest, abs=60)
    assert (await look(rows, fresh("tenant"))).under_way.due == Queue()


async def test_ages_fall_between_the_bounds_by_state(rows: Rows, tenant: str) -> None:
    for ago in (10.0, 70.0, 2 * HOUR, 8 * DAY):
        await rows.operation(tenant, State.MANUAL_REVIEW, ago=ago)
    await rows.operation(tenant, State.STARTED, ago=80.0)
    await rows.operation(tenant, State.SUCCEEDED, ago=80.0)
    review = {(place, State.MANUAL_REVIEW): 1 for place in (0, 1, 3, 6)}
    assert dict((await look(rows, tenant)).figures.ages) == review | {(1, State.STARTED): 1}


async def test_ends_are_counted_in_the_bar_in_which_they_fell_and_what_was_given_up_apart(
    rows: Rows, tenant: str
) -> None:
    await rows.operation(tenant, State.SUCCEEDED, ago=10 * HOUR)
    await rows.operation(tenant, State.FAILED_TERMINAL, ago=10 * HOUR)
    await rows.operation(tenant, State.FAILED_TERMINAL, ago=10 * HOUR, code=ABANDONED)
    await rows.operation(tenant, State.SUCCEEDED, ago=2 * DAY)
    day, week = (await look(rows, tenant, Span.DAY)), (await look(rows, tenant, Span.WEEK))
    assert Counter(end for _, end in day.figures.ends) == {End.SUCCEEDED: 1, End.FAILED_TERMINAL: 1, End.GIVEN_UP: 1}
    assert {(at - day.figures.begin) % Span.DAY.step for at, _ in day.figures.ends} == {day.read_at - day.read_at}
    (at,) = {at for at, _ in day.figures.ends}
    assert 9 * HOUR < (day.read_at - at).total_seconds() <= 11 * HOUR
    assert sum(number for (_, end), number in week.figures.ends.items() if end is End.SUCCEEDED) == 2


async def test_the_last_bar_is_the_one_that_goes_on(rows: Rows, tenant: str) -> None:
    for span in Span:
        seen = await look(rows, tenant, span)
        last = seen.figures.begin + (span.bars - 1) * span.step
        assert last <= seen.read_at < last + span.step


async def test_each_word_is_counted_by_how_long_after_the_question_it_came(rows: Rows, tenant: str) -> None:
    first, second = [await rows.operation(tenant, State.STARTED) for _ in range(2)]
    await rows.question(first, ago=6 * HOUR, words=((Choice.APPROVE, 30.0), (Choice.APPROVE, 2 * HOUR)))
    await rows.question(second, ago=6 * HOUR, words=((Choice.DENY, 40.0),))
    assert dict((await look(rows, tenant)).figures.decisions) == {
        (0, Choice.APPROVE): 1,
        (4, Choice.APPROVE): 1,
        (0, Choice.DENY): 1,
    }


async def test_refusals_are_counted_by_layer_and_code_and_a_question_to_people_is_none(rows: Rows, tenant: str) -> None:
    for _ in range(2):
        await rows.refusal(tenant, Layer.BUSINESS, "quote_changed")
    await rows.refusal(tenant, Layer.SCHEMA, "invalid_arguments")
    await rows.refusal(tenant, Layer.SCHEMA, "invalid_arguments", ago=3 * DAY)
    await rows.refusal(tenant, Layer.RISK, "approval_required")
    await rows.refusal(fresh("tenant"), Layer.SCHEMA, "invalid_arguments")
    figures = (await look(rows, tenant)).figures
    assert dict(figures.refusals) == {(Layer.BUSINESS, "quote_changed"): 2, (Layer.SCHEMA, "invalid_arguments"): 1}
    assert figures.other_refusals == 0


async def test_sends_and_claims_beyond_the_first_are_counted_of_what_has_ended(rows: Rows, tenant: str) -> None:
    for sends, generation in ((1, 1), (2, 3), (9, 1)):
        await rows.claim(await rows.operation(tenant, State.SUCCEEDED), sends=sends, generation=generation)
    await rows.claim(await rows.operation(tenant, State.FAILED_TERMINAL), effects=0, sends=0)
    await rows.claim(await rows.operation(tenant, State.UNCONFIRMED), effects=0)
    figures = (await look(rows, tenant)).figures
    assert dict(figures.effects) == {0: 1, 1: 3}
    assert dict(figures.sends_again) == {0: 2, 1: 1, 3: 1}
    assert dict(figures.claims_again) == {0: 3, 2: 1}


async def test_corrections_are_counted_by_tool_and_the_rarest_tools_together(rows: Rows, tenant: str) -> None:
    for place in range(MOST_KINDS + 2):
        await rows.correction(tenant, f"tool_{place:02}")
    await rows.correction(tenant, "tool_00")
    await rows.correction(fresh("tenant"), "tool_00")
    figures = (await look(rows, tenant)).figures
    assert figures.corrections["tool_00"] == 2
    assert (len(figures.corrections), figures.other_corrections) == (MOST_KINDS, 2)
