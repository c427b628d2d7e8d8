"""The gate's one sentence, over everything that it can be told."""

from dataclasses import astuple, replace
from itertools import product

import pytest

from tests.support.gate_table import ALL_WELL, ROWS
from workflows.domain.gate import Layer, Standing, Verdict, first_refusal, may_execute

EVERY_STANDING = [Standing(*flags) for flags in product([False, True], repeat=6)]


@pytest.mark.parametrize(("changes", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_handler_runs_exactly_when_the_table_says_so(changes: dict[str, bool], expected: bool) -> None:
    assert may_execute(replace(ALL_WELL, **changes)) is expected


def test_three_of_all_sixty_four_standings_let_a_call_pass() -> None:
    passing = [standing for standing in EVERY_STANDING if may_execute(standing)]
    assert len(EVERY_STANDING) == 64
    assert {astuple(standing)[4:] for standing in passing} == {(False, False), (False, True), (True, True)}
    assert {astuple(standing)[:4] for standing in passing} == {(True, True, True, True)}
    assert len(passing) == 3


@pytest.mark.parametrize("standing", [standing for standing in EVERY_STANDING if not may_execute(standing)], ids=str)
def test_a_grant_alone_opens_nothing_but_the_question_that_was_asked(standing: Standing) -> None:
    granted = replace(standing, approval_granted=True)
    others_are_content = all(astuple(standing)[:4])
    assert may_execute(granted) is others_are_content


@pytest.mark.parametrize("standing", EVERY_STANDING, ids=str)
def test_taking_anything_back_never_opens_the_gate(standing: Standing) -> None:
    if may_execute(standing):
        return
    for name in ("allowed", "schema_valid", "business_valid", "authorized", "approval_granted"):
        assert not may_execute(replace(standing, **{name: False}))


def test_the_first_layer_that_refuses_answers() -> None:
    verdicts = [
        Verdict(Layer.PARSE),
        Verdict(Layer.SCHEMA, "invalid_arguments"),
        Verdict(Layer.BUSINESS, "quote_expired"),
    ]
    assert first_refusal(verdicts) == verdicts[1]
    assert first_refusal(verdicts[:1]) is None
    assert first_refusal([]) is None
