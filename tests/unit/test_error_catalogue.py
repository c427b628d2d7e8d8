"""The error catalogue: every code that a caller can see stands in it, and says what to do next."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from activities.validate import ENDED_APPROVALS
from adapters.downstream.payments import REFUSALS
from adapters.intake.answers import OPEN_CODES
from adapters.postgres.decisions import CLOSED_CODES
from workflows.domain.effect import ABANDONED
from workflows.domain.errors import ERRORS, ErrorEntry, Kind, NextAction
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.proposal import CallError

REPOSITORY = Path(__file__).parents[2]
OURS = ("workflows", "activities", "adapters", "worker")
THIN_CLIENT = REPOSITORY / "adapters" / "client"
"""Runs at the caller's: what it cannot say is between it and the door, and no code of ours."""
FOR_DEVELOPERS = [REPOSITORY / "adapters" / "envelopes" / name for name in ("strict", "transcript")]
"""Say why a schema has no strict form, or what a provider would refuse in a conversation; no caller is told."""

CODE_AT: dict[str, int] = {
    "CallRefused": 0,
    "ResponseRefused": 0,
    "DecisionRefused": 0,
    "RequeueRefused": 0,
    "OncewardError": 0,
    "CallError": 0,
    "refuse": 0,
    "rejected": 0,
    "Verdict": 1,
    "Judgement": 1,
    "_refused_with": 1,
    "Settlement": 1,
    "failed_with": 0,
}
"""Where in a call of that name a code stands."""


@dataclass(frozen=True)
class Use:
    """A code written down in a call."""

    code: str
    place: str


def uses() -> Iterator[Use]:
    for folder in OURS:
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            if any(path.is_relative_to(folder) for folder in (THIN_CLIENT, *FOR_DEVELOPERS)):
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call):
                    yield from uses_in(node, path)


def uses_in(node: ast.Call, path: Path) -> Iterator[Use]:
    place = f"{path.relative_to(REPOSITORY)}:{node.lineno}"
    position = CODE_AT.get(name_of(node.func))
    given = [] if position is None else node.args[position : position + 1]
    given += [keyword.value for keyword in node.keywords if keyword.arg == "code" and position is not None]
    for value in given:
        for leaf in ast.walk(value):
            if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str) and leaf.value:
                yield Use(leaf.value, place)


def name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


USES = list(uses())


def test_the_scan_finds_the_codes_that_it_should() -> None:
    found = {use.code for use in USES}
    assert {"not_found", "invalid_arguments", "unknown_tool", "tool_changed", "earlier_write_not_done"} <= found
    assert {"duplicate_call_id", "missing_request_id", "decision_reason_required", "upstream_unavailable"} <= found


@pytest.mark.parametrize("use", USES, ids=lambda use: f"{use.place} {use.code}")
def test_a_code_in_the_program_stands_in_the_catalogue(use: Use) -> None:
    assert use.code in ERRORS


@pytest.mark.parametrize(
    "table", [ENDED_APPROVALS, CLOSED_CODES, OPEN_CODES, REFUSALS], ids=["ended", "closed", "open", "refusals"]
)
def test_a_code_in_a_table_stands_in_the_catalogue(table: dict[object, str]) -> None:
    assert set(table.values()) <= ERRORS.keys()


@pytest.mark.parametrize(("code", "entry"), ERRORS.items())
def test_an_entry_says_in_a_sentence_what_it_means(code: str, entry: ErrorEntry) -> None:
    assert entry.meaning.endswith(".")
    assert entry.meaning[0].isupper()
    assert code.replace("_", "").isalpha()


@pytest.mark.parametrize("code", ERRORS)
def test_every_code_can_be_told_to_a_model(code: str) -> None:
    body = CallError(code).as_json()
    assert body["code"] == code
    assert NextAction(body["next_action"])
    assert Kind(body["kind"])
    assert body["message"]


def test_what_may_have_happened_is_never_to_be_issued_again() -> None:
    for code, entry in ERRORS.items():
        if entry.kind is Kind.UNCONFIRMED:
            # What an operator has given up is over: nobody will ever know more.
            given_up = code == ABANDONED
            assert entry.next_action is (NextAction.ASK_USER if given_up else NextAction.WAIT_AND_QUERY)
            assert "Do not issue it again" in entry.meaning


def test_every_open_state_has_its_answer_and_no_end_has_one() -> None:
    assert OPEN_CODES.keys() == set(State) - ENDS
    for code in OPEN_CODES.values():
        assert ERRORS[code].next_action is NextAction.WAIT_AND_QUERY
        assert ERRORS[code].retryable


def test_an_operation_that_may_have_had_its_effect_is_never_called_not_started() -> None:
    for state in (State.STARTED, State.UNCONFIRMED, State.MANUAL_REVIEW):
        assert ERRORS[OPEN_CODES[state]].kind is Kind.UNCONFIRMED


def test_only_come_back_later_is_retryable() -> None:
    allowed = {NextAction.RETRY_LATER, NextAction.WAIT_AND_QUERY}
    assert {entry.next_action for entry in ERRORS.values() if entry.retryable} == allowed
    assert [code for code, entry in ERRORS.items() if entry.next_action in allowed and not entry.retryable] == []
