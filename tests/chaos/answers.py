"""Checks of what callers were told: true, the same for ever, and about their own call."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from tests.chaos import batches
from tests.chaos.evidence import Answer, Asked, Row
from tests.chaos.findings import ABANDONED, ENDS, LOST, WRONG, Finding, Sorted

PASSING = ("replayed", "about")
"""Members of a result that may differ between two deliveries: whether it is told anew, and how old its data are."""

Heard = tuple[Answer, Row]

TAMPERED = "tampered"
"""How a delivery is called that brought other arguments under ids that were taken."""


def check(found: Sorted) -> Iterator[Finding]:
    """All of this page."""
    heard: dict[tuple[str, str], list[Heard]] = defaultdict(list)
    for answer in found.evidence.answers:
        yield from _of_this_turn(answer)
        for result in answer.results:
            if answer.how == TAMPERED:
                yield from _refused_as_taken(answer, result)
            else:
                heard[answer.request_id, result["call_id"]].append((answer, result))
    for (request_id, call_id), answers in heard.items():
        yield from _one_story(call_id, answers)
        act = found.acts.get((request_id, call_id))
        if act is None:
            yield Finding(WRONG, call_id, "an answer to a call that was never made")
            continue
        for _, result in answers:
            yield from _true(found, act, result)


def _of_this_turn(answer: Answer) -> Iterator[Finding]:
    """Each call is answered once, and the model reads the same as the caller."""
    if answer.status != 200:
        return
    if sorted(result["call_id"] for result in answer.results) != sorted(answer.asked):
        yield Finding(WRONG, answer.request_id, "the answered calls are not those that were asked")
    for result in answer.results:
        if _gist(answer.told.get(result["call_id"])) != _gist(result):
            yield Finding(WRONG, result["call_id"], "the model is told something else than the caller")


def _gist(result: Any) -> Any:
    return None if result is None else (result["status"], result.get("data"), (result.get("error") or {}).get("code"))


def _refused_as_taken(answer: Answer, result: Row) -> Iterator[Finding]:
    if _gist(result)[2] != "idempotency_conflict":
        yield Finding(WRONG, result["call_id"], f"other arguments under its ids were not refused: {_gist(result)}")


def _one_story(call_id: str, heard: list[Heard]) -> Iterator[Finding]:
    """One operation, one final answer, and nothing that takes it back."""
    if len({result["operation_id"] for _, result in heard}) > 1:
        yield Finding(WRONG, call_id, "two operations are named for one call")
    finals = [(answer, result) for answer, result in heard if result["final"]]
    different = {repr(_lasting(result)) for _, result in finals}
    if len(different) > 1:
        yield Finding(WRONG, call_id, f"{len(different)} different final answers: {' / '.join(sorted(different))}")
    if finals:
        first = min(answer.received for answer, _ in finals)
        if any(answer.sent > first for answer, result in heard if not result["final"]):
            yield Finding(WRONG, call_id, "a final answer was taken back")


def _lasting(result: Row) -> Row:
    return {name: value for name, value in sorted(result.items()) if name not in PASSING}


def _true(found: Sorted, act: Asked, result: Row) -> Iterator[Finding]:
    if result["status"] == "succeeded":
        yield from _true_success(found, act, result)
    elif result["final"]:
        yield from _true_failure(found, act, result)
    operation = found.operations.get(result["operation_id"] or "")
    if result["operation_id"] and operation is None:
        yield Finding(LOST, act.call_id, f"{result['operation_id']} was named to the caller and is not there")
    if operation and result["final"] and operation["state"] != result["status"]:
        yield Finding(WRONG, act.call_id, f"told {result['status']} and stored as {operation['state']}")
    if operation and result["final"] and operation["code"] != _gist(result)[2]:
        yield Finding(WRONG, act.call_id, f"told with {_gist(result)[2]} and stored with {operation['code']}")


def _true_success(found: Sorted, act: Asked, result: Row) -> Iterator[Finding]:
    if not result["final"]:
        yield Finding(WRONG, act.call_id, "told as succeeded before its end")
    if act.items:
        yield from batches.check_answer(found, act, result["operation_id"], result["data"])
        return
    if found.was_told(result["operation_id"], "happened"):
        yield from _as_resolved(found, act, result)
        return
    if (mixed_up := _another_ones(act, result["data"])) is not None:
        yield Finding(WRONG, act.call_id, f"the result is another call's: {mixed_up}")
    if not act.writes:
        return
    effects = found.effects_by_operation.get(result["operation_id"], [])
    if not effects:
        yield Finding(LOST, act.call_id, f"{result['operation_id']} was told as succeeded and has no effect")
    elif all(effect.receipt not in result["data"].values() for effect in effects):
        yield Finding(WRONG, act.call_id, "told with the receipt of another effect")


def _as_resolved(found: Sorted, act: Asked, result: Row) -> Iterator[Finding]:
    """Nothing is known of it but the reference that the operator found, or what a look has found after all."""
    receipts = {effect.receipt for effect in found.effects_by_operation.get(result["operation_id"], [])}
    if not receipts & {value for value in result["data"].values() if isinstance(value, str)}:
        yield Finding(WRONG, act.call_id, "an operator found it, and it is told with another reference")


def _another_ones(act: Asked, data: Row) -> str | None:
    """Where a result speaks of another object than was asked about."""
    expected = {"order_id": act.target, "account_id": act.target, "amount": act.amount}
    differing = [name for name, value in expected.items() if name in data and data[name] != value]
    if not {"order_id", "account_id"} & data.keys():
        return "it names no object"
    return ", ".join(differing) or None


def _true_failure(found: Sorted, act: Asked, result: Row) -> Iterator[Finding]:
    code, operation_id = result["error"]["code"], result["operation_id"] or ""
    if code == ABANDONED and result["error"].get("kind") != "unconfirmed":
        yield Finding(WRONG, act.call_id, "what was given up is told as if it had not happened")
    if found.effects_by_operation.get(operation_id) and not found.given_up(operation_id, code):
        yield Finding(WRONG, act.call_id, f"{result['operation_id']} was told as failed ({code}) and has an effect")


def check_last_answers(found: Sorted) -> Iterator[Finding]:
    """After everything has ended each call has a final answer, unless a person has been asked what became of it."""
    last: dict[tuple[str, str], Row] = {}
    for answer in sorted(found.evidence.answers, key=lambda each: each.received):
        if answer.how != TAMPERED:
            last |= {(answer.request_id, result["call_id"]): result for result in answer.results}
    for call_id, request in ((each, act.requests[0]) for act in found.evidence.acts for each in act.calls):
        result = last.get((request, call_id))
        if result is None:
            yield Finding(LOST, call_id, "it was never answered")
        elif not result["final"] and _ended(found, result):
            yield Finding(WRONG, call_id, "its operation has ended and its last answer says that it has not")


def _ended(found: Sorted, result: Row) -> bool:
    operation = found.operations.get(result["operation_id"] or "")
    return operation is not None and operation["state"] in ENDS
