"""Checks of how operations ended: each truly, or before a person with a reason; none forgotten."""

from collections.abc import Iterator

from tests.chaos.evidence import Row
from tests.chaos.findings import ENDS, LOST, STUCK, Finding, Sorted

CLOSED_WELL = "COMPLETED"


def check(found: Sorted) -> Iterator[Finding]:
    """All of this page."""
    for operation_id, row in found.operations.items():
        yield from _at_an_end(found, operation_id, row)
    yield from _success_has_happened(found)


def _at_an_end(found: Sorted, operation_id: str, row: Row) -> Iterator[Finding]:
    if row["state"] not in ENDS and not in_manual_review(found, row):
        yield Finding(STUCK, operation_id, f"{row['tool']} is still {row['state']}")
    if row["state"] in ENDS and row["writes"]:
        runs = found.evidence.workflows.get(operation_id, [])
        if not runs or runs[-1] != CLOSED_WELL:
            yield Finding(STUCK, operation_id, f"it has ended, its workflow is {runs[-1] if runs else 'absent'}")


def in_manual_review(found: Sorted, row: Row) -> bool:
    """Whether a person is asked, with a reason and rightly: something was sent whose outcome is not known."""
    claims = found.of_operation("claims").get(row["operation_id"], [])
    asked = row["state"] == "manual_review" and reason(found, row["operation_id"]) != ""
    return asked and any(claim["uncertain"] for claim in claims)


def reason(found: Sorted, operation_id: str) -> str:
    """Why a person was asked, as the timeline has it."""
    return next((row["why"] or "" for row in reversed(found.of_operation("reasons").get(operation_id, []))), "")


def _success_has_happened(found: Sorted) -> Iterator[Finding]:
    """What is stored as done is done, whoever was told."""
    for operation_id, row in found.operations.items():
        effects = found.effects_by_operation.get(operation_id, [])
        if row["writes"] and row["state"] == "succeeded" and not effects:
            yield Finding(LOST, operation_id, "stored as succeeded and has no effect")
        if row["state"].startswith("failed") and effects and not found.given_up(operation_id, row["code"]):
            yield Finding(LOST, operation_id, f"stored as {row['state']} ({row['code']}) and has an effect")
