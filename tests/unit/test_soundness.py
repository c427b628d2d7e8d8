"""The words and the exit code of `python -m worker verify`, with given numbers."""

import json

import pytest

from adapters.postgres.backlog import OPEN_STATES, Backlog, Held, Open, Waiting
from adapters.postgres.invariants import Measured, Spread
from worker.soundness import Soundness
from worker.telling import age
from workflows.domain.lifecycle import State

ONE_EACH = Measured("terminal_results_per_operation", 0, spread=Spread(1, 1), groups=1200)
TWO_RESULTS = Measured("terminal_results_per_operation", 2, ("op_1", "op_2"), Spread(0, 2), 1200)
NO_CALL = Measured("handler_calls_after_refusal", 0)
ONE_CALL = Measured("handler_calls_after_refusal", 1, ("op_3",))
NONE_THERE = Measured("hosted_calls_not_allowed", 0)
TWO_THERE = Measured("hosted_calls_not_allowed", 2, ("openai-responses wiki.replace_page mcp_1",))

NOTHING = {state: Open() for state in OPEN_STATES}
POISONED = Held(17, "event", "op_4", "undeliverable", 3 * 24 * 3600.0)
FAILING = Held(18, "nudge", "op_5", "RPCError", 90.0)


def looked(*invariants: Measured, operations: int = 1234, **backlog: object) -> Soundness:
    found: dict[str, object] = {"states": NOTHING, **backlog}
    return Soundness(operations, invariants, Backlog(**found))  # type: ignore[arg-type]


def in_review(number: int) -> dict[State, Open]:
    return {**NOTHING, State.MANUAL_REVIEW: Open(Waiting(number, 7200.0), 1, number - 1, 0)}


def said(found: Soundness) -> str:
    return "\n".join(found.lines())


def test_when_everything_holds_the_verdict_is_sound() -> None:
    sound = looked(ONE_EACH, NO_CALL, states=in_review(3))
    assert sound.sentence == "verify: sound, 1234 operations, 3 in manual review"
    assert (sound.exit_code, list(sound.lines())[-1]) == (0, sound.sentence)


def test_without_anything_at_all_it_is_sound() -> None:
    empty = looked(operations=0)
    assert (empty.sentence, empty.exit_code) == ("verify: sound, 0 operations, 0 in manual review", 0)


def test_notices_that_are_not_taken_are_named_and_break_nothing() -> None:
    failing = Held(19, "approval.asked for chat", "op_6", "status 500", 7200.0)
    lost = Held(20, "operation.ended for mail", "op_7", "status 410", 90.0)
    dead = looked(not_taken=Waiting(3, 7200.0), given_up=Waiting(1, 90.0), refusals=(failing,), lost=(lost,))
    told = said(dead)
    assert "not taken yet                      3, the oldest for 2 h" in told
    assert "message 19: approval.asked for chat of op_6, status 500, for 2 h" in told
    assert "message 20: operation.ended for mail of op_7, status 410, for 1 min" in told
    assert "python -m worker.relay --retell RECEIVER" in told
    assert dead.exit_code == 0


def test_what_is_broken_is_named_in_the_verdict() -> None:
    broken = looked(TWO_RESULTS, ONE_CALL)
    assert broken.sentence == ("verify: BROKEN: terminal results per operation (2), handler calls after refusal (1)")
    assert (broken.exit_code, list(broken.lines())[-1]) == (1, broken.sentence)


def test_one_that_is_broken_breaks_it_beside_others_that_hold() -> None:
    assert looked(ONE_EACH, ONE_CALL).sentence == "verify: BROKEN: handler calls after refusal (1)"


def test_what_a_provider_did_breaks_the_verdict_and_is_told_as_its_doing() -> None:
    theirs = looked(ONE_EACH, TWO_THERE, states=in_review(3))
    assert theirs.sentence == (
        "verify: NOT OUR DOING: a provider ran what it was not allowed to (2); "
        "our own rows are sound, 1234 operations, 3 in manual review"
    )
    assert theirs.exit_code == 1
    told = said(theirs)
    assert "hosted calls not allowed           2, 2 broken: openai-responses wiki.replace_page mcp_1" in told
    assert "It was the provider's own doing" in told


def test_what_a_provider_did_hides_nothing_that_is_broken_here() -> None:
    assert looked(ONE_CALL, TWO_THERE).sentence == (
        "verify: BROKEN: handler calls after refusal (1); a provider ran what it was not allowed to (2)"
    )


def test_as_long_as_no_provider_did_wrong_nobody_speaks_of_it() -> None:
    well = looked(ONE_EACH, NONE_THERE)
    assert (well.sentence, well.exit_code) == ("verify: sound, 1234 operations, 0 in manual review", 0)
    assert "provider" not in said(well)


def test_each_invariant_has_a_line_with_its_figures() -> None:
    lines = said(looked(ONE_EACH, ONE_CALL)).splitlines()
    assert "      ok  terminal results per operation     1 / 1 of 1200" in lines
    assert "  BROKEN  handler calls after refusal        1, 1 broken: op_3" in lines


def test_what_is_stuck_is_told_and_breaks_nothing() -> None:
    stuck = looked(
        ONE_EACH,
        states=in_review(3),
        overdue=Waiting(2, 7200.0),
        failing=Waiting(1, 90.0),
        failures=(FAILING,),
        set_aside=Waiting(1, 3 * 24 * 3600.0),
        poison=(POISONED,),
    )
    told = said(stuck)
    assert (
        "manual review                      3, the oldest for 2 h; 1 within an hour, 2 within a day, 0 longer" in told
    )
    assert "overdue" in told
    assert "message 18: nudge of op_5, RPCError, for 1 min" in told
    assert "message 17: event of op_4, undeliverable, for 3 d" in told
    assert "These are never tried again" in told
    assert stuck.exit_code == 0


def test_without_poison_nobody_is_told_what_to_do_about_it() -> None:
    assert "never tried again" not in said(looked(ONE_EACH))


def test_as_json_it_tells_the_same() -> None:
    told = json.loads(json.dumps(looked(TWO_RESULTS, NO_CALL, states=in_review(3), poison=(POISONED,)).figures()))
    assert (told["verdict"], told["sound"]) == ("verify: BROKEN: terminal results per operation (2)", False)
    assert told["operations"] == 1234
    assert told["invariants"][0] == {
        "name": "terminal_results_per_operation",
        "broken": 2,
        "examples": ["op_1", "op_2"],
        "spread": {"least": 0, "most": 2},
        "groups": 1200,
        "holds": False,
        "elsewhere": False,
    }
    assert told["invariants"][1]["spread"] is None
    assert told["backlog"]["states"]["manual_review"]["waiting"] == {"number": 3, "oldest_seconds": 7200.0}
    assert told["backlog"]["poison"][0]["operation_id"] == "op_4"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (59.9, "59 s"), (60.0, "1 min"), (3599.0, "59 min"), (3600.0, "1 h"), (90_000.0, "1 d")],
)
def test_an_age_is_told_in_its_largest_whole_unit(seconds: float, words: str) -> None:
    assert age(seconds) == words
