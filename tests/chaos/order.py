"""Checks of responses with several calls: reads first, writes in their order, the same call twice done once."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from tests.chaos.evidence import Answer, Asked, Row
from tests.chaos.findings import DUPLICATE, ENDS, FORBIDDEN, STUCK, WRONG, Finding, Sorted, moment

CUT_OFF = "earlier_write_not_done"
WITHOUT_EFFECT = frozenset({CUT_OFF, "canceled"})
"""How a write may end once one before it did not succeed."""

READ_SECONDS = 150.0
"""A read that is still open after so long holds no write up any more."""


def check(found: Sorted) -> Iterator[Finding]:
    """All of this page."""
    for request, acts in found.responses.items():
        operations = [_operation(found, request, act.call_id) for act in acts]
        pairs = list(zip(acts, operations, strict=True))
        reads = [row for act, row in pairs if row and not act.writes]
        writes = [(act, row) for act, row in pairs if row and act.writes]
        for place, (act, row) in enumerate(writes):
            if not found.calls[request, act.call_id]["attached"]:
                # What was open before this response has its place in another one.
                yield from _after_the_reads(found, reads, row)
                yield from _after_the_writes(found, [each for _, each in writes[:place]], row)
        for act in acts:
            yield from _once(found, request, act)
    for answer in found.evidence.answers:
        yield from _answered_alike(found, answer)
    yield from _closed(found)


def _operation(found: Sorted, request: str, call_id: str) -> Row | None:
    call = found.calls.get((request, call_id))
    return found.operations.get(call["operation_id"] or "") if call else None


CLOSED = frozenset({"COMPLETED", "TERMINATED", "CANCELED"})
LONGEST_REST = timedelta(minutes=13)
"""How long such a workflow may rest before it looks again at a write that is not its own to carry."""


# -- the order


def _after_the_reads(found: Sorted, reads: list[Row], row: Row) -> Iterator[Finding]:
    for read in reads:
        began, ended = _first(found, "handler_calls", "began_at", row), moment(read["ended_at"])
        if began is None or (ended is not None and ended <= began):
            continue
        registered = moment(read["created_at"])
        if registered is None or (began - registered).total_seconds() < READ_SECONDS:
            about = row["operation_id"]
            yield Finding(FORBIDDEN, about, f"a handler was called before {read['operation_id']}, a read, had ended")


def _after_the_writes(found: Sorted, earlier: list[Row], row: Row) -> Iterator[Finding]:
    for each in earlier:
        if each["operation_id"] != row["operation_id"]:
            yield from _after(found, each, row)
    if row["code"] == CUT_OFF and all(each["state"] == "succeeded" for each in earlier):
        yield Finding(WRONG, row["operation_id"], "it was cut off, and every write before it has succeeded")


def _after(found: Sorted, earlier: Row, row: Row) -> Iterator[Finding]:
    about, before = row["operation_id"], f"{earlier['operation_id']}, which comes before it"
    if earlier["state"] != "succeeded":
        for what in _traces(found, row):
            yield Finding(FORBIDDEN, about, f"{what} although {before}, is {earlier['state']}")
        if earlier["state"] in ENDS and row["state"] in ENDS and row["code"] not in WITHOUT_EFFECT:
            yield Finding(WRONG, about, f"it ended with {row['code']} after {before}, had not succeeded")
        return
    ended = moment(earlier["ended_at"])
    for what, began in _traces(found, row).items():
        if ended is None or (began is not None and began < ended):
            yield Finding(FORBIDDEN, about, f"{what} before {before}, had ended")
    made = [effect.at for effect in found.effects_by_operation.get(earlier["operation_id"], []) if effect.at]
    makes = [effect.at for effect in found.effects_by_operation.get(about, []) if effect.at]
    if made and makes and min(makes) <= max(made):
        yield Finding(FORBIDDEN, about, f"its effect came before that of {before}")


def _traces(found: Sorted, row: Row) -> dict[str, datetime | None]:
    """Everything that shows that a write has begun, and when; nothing for one that has not."""
    effects = found.effects_by_operation.get(row["operation_id"], [])
    traces = {effect.receipt: effect.at for effect in effects}
    for words, table, column in (
        ("a handler was called", "handler_calls", "began_at"),
        ("people were asked", "approvals", "asked_at"),
    ):
        if found.of_operation(table).get(row["operation_id"]):
            traces[words] = _first(found, table, column, row)
    return traces


def _first(found: Sorted, table: str, column: str, row: Row) -> datetime | None:
    moments = (moment(each.get(column)) for each in found.of_operation(table).get(row["operation_id"], []))
    return min((each for each in moments if each is not None), default=None)


# -- the same call twice


def _once(found: Sorted, request: str, act: Asked) -> Iterator[Finding]:
    calls = [found.calls[request, call_id] for call_id in act.calls if (request, call_id) in found.calls]
    if calls and len(calls) != len(act.calls):
        yield Finding(WRONG, act.call_id, f"only a part of {request} is on record")
    named = {call["operation_id"] for call in calls}
    if len(named) > 1:
        yield Finding(DUPLICATE, act.call_id, f"one call that {request} holds twice is {len(named)} operations")


def _answered_alike(found: Sorted, answer: Answer) -> Iterator[Finding]:
    told = {result["call_id"]: result for result in answer.results}
    for act in found.responses.get(answer.request_id, []):
        results = [told[call_id] for call_id in act.calls if call_id in told]
        if len({repr(_gist(result)) for result in results}) > 1:
            yield Finding(WRONG, act.call_id, "one call that a response holds twice is answered in two ways")
        if any(_refers(result) not in (None, act.call_id) for result in results[1:]):
            yield Finding(WRONG, act.call_id, "a call is told as the repetition of another one")


def _refers(result: Row) -> str | None:
    """To which call of the same response; None where it stands for no operation, or does not say."""
    return result.get("duplicate_of") if result["operation_id"] else None


def _gist(result: Row) -> Row:
    own = ("call_id", "duplicate_of", "replayed", "about")
    return {name: value for name, value in sorted(result.items()) if name not in own}


# -- the workflows that keep the order


def _closed(found: Sorted) -> Iterator[Finding]:
    """Each has closed some time after all of its writes have ended, and well, unless somebody has ended it."""
    for row in found.evidence.rows("turns"):
        writes = [found.operations[name] for name, _ in row["writes"] if name in found.operations]
        runs = found.evidence.workflows.get(row["turn"], [])
        status = runs[-1] if runs else "absent"
        allowed = CLOSED if _long_since_ended(found, writes) else {*CLOSED, "RUNNING"}
        if all(each["state"] in ENDS for each in writes) and status not in allowed:
            yield Finding(STUCK, row["turn"], f"all of its writes have ended, its workflow is {status}")


def _long_since_ended(found: Sorted, writes: list[Row]) -> bool:
    ended = [at for each in writes if (at := moment(each["ended_at"]))]
    collected = moment(found.evidence.collected)
    return collected is not None and bool(ended) and collected - max(ended) > LONGEST_REST


# -- figures


def told(found: Sorted) -> Iterator[str]:
    """How each response with several writes went."""
    for request, acts in found.responses.items():
        rows = [row for act in acts if act.writes and (row := _operation(found, request, act.call_id))]
        if len(rows) > 1:
            failed = next((row for row in rows if row["state"] != "succeeded"), None)
            yield _way(failed, last=failed is rows[-1])


def _way(failed: Row | None, *, last: bool) -> str:
    if failed is None:
        return "every write done"
    why = failed["code"] if failed["state"] in ENDS else failed["state"]
    return f"{'the last one' if last else 'those after one'} not done: {why}"
