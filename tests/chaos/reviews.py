"""Checks of what operators said: it comes true, and nothing is given up without their word."""

from collections.abc import Iterator

from tests.chaos.evidence import Resolved, Row
from tests.chaos.findings import ABANDONED, ENDS, FORBIDDEN, STUCK, WRONG, Finding, Sorted

HEARD = 200


def check(found: Sorted) -> Iterator[Finding]:
    """All of this page. That no operation has two effects is checked with the effects."""
    for word in found.evidence.resolved:
        row = found.operations.get(word.operation_id)
        if row is not None and word.status == HEARD:
            yield from _came_true(found, word, row)
    for operation_id, row in found.operations.items():
        if row["code"] == ABANDONED and not found.was_told(operation_id, "abandoned"):
            yield Finding(WRONG, operation_id, "it was given up, and no operator has said so")
    yield from _nothing_said_by_nobody(found)


def _came_true(found: Sorted, word: Resolved, row: Row) -> Iterator[Finding]:
    if row["state"] not in ENDS:
        yield Finding(STUCK, word.operation_id, f"an operator has said {word.finding}, and it is still {row['state']}")
    elif word.finding == "happened" and (row["state"], row["reference"]) != ("succeeded", word.reference):
        yield Finding(WRONG, word.operation_id, f"an operator found {word.reference}, and it ended as {_end(row)}")
    elif word.finding == "abandoned" and row["code"] != ABANDONED:
        yield Finding(WRONG, word.operation_id, f"an operator gave it up, and it ended as {_end(row)}")
    elif word.finding == "did_not_happen" and row["code"] == ABANDONED:
        yield Finding(WRONG, word.operation_id, "an operator said that it did not happen, and it was given up")


def _nothing_said_by_nobody(found: Sorted) -> Iterator[Finding]:
    """Every word on record is one that an operator of the run gave."""
    said = {(word.operation_id, word.finding, word.person) for words in found.resolved.values() for word in words}
    for row in found.evidence.rows("resolutions"):
        if (row["operation_id"], row["finding"], row["operator"]) not in said:
            yield Finding(FORBIDDEN, row["operation_id"], f"{row['finding']} is on record and was said by nobody")


def _end(row: Row) -> str:
    return f"{row['state']} ({row['code'] or row['reference']})"
