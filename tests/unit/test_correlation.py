"""Results are matched by call id alone: one for each proposal, whatever the order of arrival."""

import random
from dataclasses import replace
from typing import Any, cast

import pytest

from adapters.envelopes import SURFACES
from tests.unit.three_reads import NEWS_FAILED, PROPOSALS, RESPONSES, RESULTS, STOCK_TO_RETRY, WEATHER_SUCCEEDED
from workflows.domain.errors import CorrelationBroken
from workflows.domain.proposal import CallError, CallResult, Proposal, Status, require_complete_correlation

STILL_RUNNING = CallResult(
    "call-weather", "get_weather", cast(Status, "started"), error=CallError("operation_in_progress")
)
UNASKED = CallResult("call-extra", "get_weather", Status.SUCCEEDED, data={})

BROKEN_SETS = [
    ("missing_result", (STOCK_TO_RETRY, WEATHER_SUCCEEDED)),
    ("missing_result", ()),
    ("duplicate_result", (NEWS_FAILED, *RESULTS)),
    ("extra_result", (*RESULTS, UNASKED)),
    ("tool_name_mismatch", (NEWS_FAILED, STOCK_TO_RETRY, replace(WEATHER_SUCCEEDED, tool_name="get_stock"))),
    ("non_terminal_result", (NEWS_FAILED, STOCK_TO_RETRY, STILL_RUNNING)),
]


def test_results_come_back_in_the_order_of_their_proposals() -> None:
    assert require_complete_correlation(PROPOSALS, RESULTS) == [WEATHER_SUCCEEDED, STOCK_TO_RETRY, NEWS_FAILED]


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize(("code", "results"), BROKEN_SETS)
def test_a_broken_set_of_results_is_never_written(surface: str, code: str, results: tuple[CallResult, ...]) -> None:
    turn = SURFACES[surface].read(RESPONSES[surface])
    with pytest.raises(CorrelationBroken) as broken:
        SURFACES[surface].write(turn, results)
    assert broken.value.code == code


@pytest.mark.parametrize(
    ("status", "error"), [(Status.SUCCEEDED, CallError("not_found")), (Status.FAILED_TERMINAL, None)]
)
def test_a_result_cannot_hold_data_and_error_or_neither(status: Status, error: CallError | None) -> None:
    with pytest.raises(CorrelationBroken):
        CallResult("call-news", "get_news", status, error=error)


@pytest.mark.parametrize("surface", SURFACES)
def test_a_thousand_finish_orders_give_one_and_the_same_transcript(surface: str) -> None:
    envelope = SURFACES[surface]
    turn = envelope.read(RESPONSES[surface])
    expected = envelope.write(turn, RESULTS)
    chance = random.Random(32)
    finished = list(RESULTS)
    for _ in range(1_000):
        chance.shuffle(finished)
        assert envelope.write(turn, finished) == expected


def test_two_calls_of_one_tool_are_told_apart_by_id() -> None:
    asked = [Proposal(f"c{number}", "get_order", {"order": f"o-{number}"}) for number in range(8)]
    finished: list[Any] = [CallResult(p.call_id, p.tool_name, Status.SUCCEEDED, data=p.arguments) for p in asked]
    chance = random.Random(32)
    for _ in range(1_000):
        chance.shuffle(finished)
        answered = require_complete_correlation(asked, finished)
        assert [(result.call_id, result.data) for result in answered] == [(p.call_id, p.arguments) for p in asked]
