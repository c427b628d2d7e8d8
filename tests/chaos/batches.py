"""Checks of batches: each item of what was approved in exactly one list of the answer, and in the right one."""

import json
from collections import Counter
from collections.abc import Iterator

from tests.chaos.evidence import Asked, Row
from tests.chaos.findings import LOST, WRONG, Finding, Sorted


def check(found: Sorted) -> Iterator[Finding]:
    """What is stored of each batch, whoever was told. What was told is checked with the other answers."""
    for operation_id, act in found.act_of_operation.items():
        row = found.operations.get(operation_id)
        if act.items and row is not None and row["state"] == "succeeded":
            yield from check_answer(found, act, operation_id, stored(row))


def stored(row: Row) -> Row:
    """The result that an operation is stored with."""
    result = row.get("result")
    return dict(json.loads(result)) if result else {}


def check_answer(found: Sorted, act: Asked, operation_id: str, data: Row) -> Iterator[Finding]:
    """`data` as the model is told it."""
    lists = {name: _items(data, name) for name in ("succeeded", "failed", "unconfirmed")}
    if Counter(item for items in lists.values() for item in items) != Counter(act.items):
        yield Finding(WRONG, operation_id, "the answer does not hold every item of the batch exactly once")
    made = {effect.item for effect in found.effects_by_operation.get(operation_id, [])}
    for item in sorted(set(lists["succeeded"]) - made):
        yield Finding(LOST, operation_id, f"{item} is among those that succeeded and has no effect")
    for item in sorted(set(lists["failed"]) & made):
        yield Finding(WRONG, operation_id, f"{item} is among those that failed and has an effect")
    if lists["unconfirmed"] and not found.was_told(operation_id, "abandoned"):
        yield Finding(WRONG, operation_id, "items are unconfirmed and no operator has given them up")
    complete = not lists["failed"] and not lists["unconfirmed"]
    if data.get("outcome") != ("complete" if complete else "partial"):
        yield Finding(WRONG, operation_id, f"it is told as {data.get('outcome')}, which its lists are not")


def _items(data: Row, name: str) -> list[str]:
    return [each["item"] if name == "failed" else each for each in data.get(name, [])]
