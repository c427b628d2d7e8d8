"""Checks of cancellations: what was told of a wish is true, and stays true."""

from collections import defaultdict
from collections.abc import Iterator

from tests.chaos.evidence import Wish
from tests.chaos.findings import ENDS, FORBIDDEN, LOST, STUCK, WRONG, Finding, Sorted

CANCELED, TOO_LATE, PENDING = "canceled", "cancel_too_late", "cancel_pending"


def check(found: Sorted) -> Iterator[Finding]:
    """All of this page."""
    told: dict[str, list[Wish]] = defaultdict(list)
    for wish in found.evidence.wishes:
        told[wish.operation_id].append(wish)
        if wish.status is not None and wish.status < 500:
            yield from _true(found, wish)
    for operation_id, wishes in told.items():
        yield from _one_story(operation_id, wishes)
    for operation_id, row in found.operations.items():
        if row["code"] == CANCELED and operation_id not in told:
            yield Finding(WRONG, operation_id, "it ended as cancelled, which nobody had wished")


def _true(found: Sorted, wish: Wish) -> Iterator[Finding]:
    row = found.operations.get(wish.operation_id)
    if row is None or wish.status != 200:
        yield Finding(LOST, wish.call_id, f"{wish.operation_id} was not there for the caller who cancelled it")
        return
    if wish.code not in (CANCELED, TOO_LATE, PENDING):
        yield Finding(WRONG, wish.call_id, f"a wish was answered with {wish.code or 'nothing'}")
    if wish.code == CANCELED:
        yield from _stopped(found, wish)
    if wish.code == TOO_LATE and row["code"] == CANCELED:
        yield Finding(WRONG, wish.call_id, f"{wish.operation_id} was too late to be cancelled and ended as cancelled")
    if wish.told["final"] and (wish.told["state"], _code(wish)) != (row["state"], row["code"]):
        yield Finding(WRONG, wish.call_id, f"a wish was answered with an end that {wish.operation_id} has not")
    if wish.code == PENDING and row["state"] not in (*ENDS, "manual_review"):
        yield Finding(STUCK, wish.operation_id, "a wish is kept and nothing has come of it")


def _stopped(found: Sorted, wish: Wish) -> Iterator[Finding]:
    effects = found.effects_by_operation.get(wish.operation_id, [])
    if effects:
        receipts = ", ".join(effect.receipt for effect in effects)
        yield Finding(FORBIDDEN, wish.operation_id, f"{receipts} although its caller was told that it is cancelled")
    if (code := found.operations[wish.operation_id]["code"]) != CANCELED:
        yield Finding(WRONG, wish.call_id, f"{wish.operation_id} was told as cancelled and ended with {code}")


def _one_story(operation_id: str, wishes: list[Wish]) -> Iterator[Finding]:
    """What was decided once is not undecided later, nor decided anew."""
    decided = [wish for wish in wishes if wish.code in (CANCELED, TOO_LATE)]
    if len({wish.code for wish in decided}) > 1:
        yield Finding(WRONG, operation_id, "one wish was told as in time, and another as too late")
    first = min((wish.received for wish in decided), default=float("inf"))
    if any(wish.code == PENDING and wish.sent > first for wish in wishes):
        yield Finding(WRONG, operation_id, "what had come of a wish was taken back")


def _code(wish: Wish) -> str | None:
    error = wish.told.get("error")
    return str(error["code"]) if error else None
