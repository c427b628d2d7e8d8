"""`docs/back-office-api.md` names the routes, filters, bodies and refusals that there are."""

import json
import re
from pathlib import Path

import pytest

from adapters.http.office.lists import OperationFilter, PendingFilter
from adapters.http.office.operations import ResolutionBody
from adapters.http.openapi import CODES
from tests.support.described import OPERATIONS
from workflows.domain.errors import ERRORS

GUIDE = (Path(__file__).parents[2] / "docs" / "back-office-api.md").read_text(encoding="utf-8")

ROWS = re.findall(r"^\| ([\d, ]+) \| ((?:`\w+`(?:, )?)+) \|", GUIDE, re.MULTILINE)
REFUSALS = {code: statuses for statuses, codes in ROWS for code in re.findall(r"`(\w+)`", codes)}

OUR_ROUTES = [(method, path) for method, path, operation in OPERATIONS if operation["security"] == [{"person": []}]]


def test_it_names_every_route_and_no_other() -> None:
    named = re.findall(r"^\| `(GET|POST) (/v1/\S+)` \|", GUIDE, re.MULTILINE)
    assert sorted(named) == sorted(OUR_ROUTES)


@pytest.mark.parametrize("code", REFUSALS)
def test_a_refusal_that_it_explains_is_one(code: str) -> None:
    assert code in CODES


def test_it_explains_every_refusal_of_a_decision_and_of_a_resolution() -> None:
    decisions = {"approval_already_decided", "approval_stale", "approval_expired", "approver_not_allowed"}
    decisions |= {"vote_already_cast", "decision_reason_required", "not_found"}
    resolutions = {code for code in ERRORS if code.startswith("resolution_")} | {"operator_not_allowed"}
    assert decisions | resolutions <= REFUSALS.keys()


@pytest.mark.parametrize("filters", [PendingFilter, OperationFilter])
def test_it_names_every_filter(filters: type[PendingFilter | OperationFilter]) -> None:
    assert [name for name in filters.model_fields if f"`{name}" not in GUIDE] == []


def test_the_bodies_that_it_shows_are_taken() -> None:
    shown = [json.loads(body) for body in re.findall(r"-d '(\{.*?\n\})'", GUIDE, re.DOTALL)]
    decision, resolution = shown
    ResolutionBody.model_validate(resolution)
    assert decision.keys() == {"choice", "reason", "revision", "intent_hash"}
