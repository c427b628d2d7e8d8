"""The page for the operator on call names what is there, and leaves no state, reason or act out."""

import re
from pathlib import Path

import pytest

from adapters.http.back_office.words import REASONS
from tests.faults.test_the_console_matrix import TABLE
from worker.settings import ApiSettings, RelaySettings, WorkerSettings
from worker.variables import PREFIX
from workflows import contracts
from workflows.domain.errors import ERRORS
from workflows.domain.lifecycle import State
from workflows.domain.notice import NoticeType

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
NAMED_TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))
NAMED_SETTINGS = sorted(set(re.findall(rf"`{PREFIX}(\w+)`", PAGE)))
LINKS = sorted(set(re.findall(r"\]\((?!https?:|#)([^)#]+)\)", PAGE)))
ANCHORS = sorted(set(re.findall(r"\]\(#([\w-]+)\)", PAGE)))
HEADINGS = {heading.lower().replace(" ", "-") for heading in re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)}


def rows_of(heading: str) -> list[str]:
    """The first cells of the first table under that heading."""
    section = re.split(rf"^#+ {heading}$", PAGE, maxsplit=1, flags=re.MULTILINE)[1]
    table = section[section.index("| --- |") :].split("\n\n")[0]
    return [line.split("|")[1].strip().strip("`") for line in table.splitlines()[1:]]


def test_every_state_has_its_line() -> None:
    assert rows_of("States") == [state.value for state in State]


def test_every_event_that_others_are_told_has_its_line() -> None:
    section = PAGE[PAGE.index("| event | when |") :].split("\n\n")[0]
    assert re.findall(r"^\| `([\w.]+)`", section, re.MULTILINE) == [notice.value for notice in NoticeType]


def test_every_reason_for_asking_an_operator_has_its_line() -> None:
    assert sorted(rows_of("Manual review")) == sorted(REASONS)


def test_every_act_of_the_console_that_is_tried_has_its_line() -> None:
    assert rows_of("Temporal's console") == [act.__name__.replace("_", " ") for act in TABLE]


@pytest.mark.parametrize(("file", "test"), NAMED_TESTS)
def test_a_test_that_it_names_is_there(file: str, test: str) -> None:
    assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMED_SETTINGS)
def test_a_setting_that_it_names_is_read(name: str) -> None:
    assert name.lower() in WorkerSettings.model_fields | ApiSettings.model_fields | RelaySettings.model_fields


@pytest.mark.parametrize("link", LINKS)
def test_a_page_that_it_links_to_is_there(link: str) -> None:
    assert (ROOT / "docs" / link).exists()


@pytest.mark.parametrize("anchor", ANCHORS)
def test_a_heading_that_it_points_at_is_there(anchor: str) -> None:
    assert anchor in HEADINGS


def test_codes_and_recorded_names_are_those_of_the_program() -> None:
    workflows = {contracts.EXECUTE_OPERATION, contracts.EXECUTE_TURN}
    recorded = {contracts.NUDGE, contracts.PROGRESS, contracts.SETTLE, contracts.VALIDATE}
    assert set(re.findall(r"onceward\.[A-Za-z]+", PAGE)) == workflows | recorded
    assert {"approval_expired", "outcome_abandoned"} <= ERRORS.keys()
