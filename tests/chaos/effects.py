"""Checks of what happened in the world: at most once, only what was asked for, only what people allowed."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from tests.chaos.evidence import Asked, Row
from tests.chaos.findings import DUPLICATE, FORBIDDEN, Effect, Finding, Sorted, perhaps_heard
from tests.chaos.order import CUT_OFF

NOTHING_SENT = frozenset({"approval_denied", "approval_expired", "not_found", "permission_denied", CUT_OFF})
"""Ends before anything may have been handed to a tool."""


def check(found: Sorted) -> Iterator[Finding]:
    """All of this page."""
    yield from _once_per_act(found)
    yield from _once_per_operation(found)
    yield from _one_key(found)
    yield from _books_agree(found)
    for effect in found.effects:
        yield from _asked_for(found, effect)
    yield from _refused_and_sent(found)


def _once_per_act(found: Sorted) -> Iterator[Finding]:
    for (target, amount), effects in found.effects_by_act.items():
        if len(effects) > 1:
            receipts = ", ".join(f"{effect.receipt} for {effect.operation_id}" for effect in effects)
            yield Finding(DUPLICATE, target, f"{len(effects)} effects of {amount}: {receipts}")


def _once_per_operation(found: Sorted) -> Iterator[Finding]:
    """And once for each item of a batch."""
    counted = Counter((effect.operation_id, effect.item) for effect in found.effects)
    for (operation_id, item), number in counted.items():
        if number > 1:
            yield Finding(DUPLICATE, operation_id, f"{number} effects{f' of {item}' if item else ''}")


def _one_key(found: Sorted) -> Iterator[Finding]:
    """A second key would be a second refund, if only the service had not noticed."""
    keys: dict[str, set[str]] = defaultdict(set)
    for row in (*found.evidence.rows("posts"), *found.evidence.rows("refunds")):
        if row["client_reference"]:
            keys[row["client_reference"]].add(row["idempotency_key"])
    for operation_id, used in keys.items():
        if len(used) > 1:
            yield Finding(DUPLICATE, operation_id, f"sent under {len(used)} keys")


def _books_agree(found: Sorted) -> Iterator[Finding]:
    """What an order or an account says in sum is the sum of the effects on it."""
    sums: dict[str, int] = defaultdict(int)
    for effect in found.effects:
        sums[effect.target] += effect.amount
    refunded = {row["payment_id"]: row["refunded"] for row in found.evidence.rows("payments")}
    totals = {row["order_id"]: refunded[row["payment_id"]] for row in found.evidence.rows("orders")}
    totals |= {row["account_id"]: row["balance"] for row in found.evidence.rows("ledger_accounts")}
    for target in sorted({each for act in found.evidence.acts for each in act.objects} & totals.keys()):
        if totals[target] != sums[target]:
            yield Finding(DUPLICATE, target, f"moved {totals[target]} in total, its effects come to {sums[target]}")


def _asked_for(found: Sorted, effect: Effect) -> Iterator[Finding]:
    act = found.act_of_operation.get(effect.operation_id)
    if act is None:
        yield Finding(FORBIDDEN, effect.operation_id, f"{effect.receipt} belongs to nothing that was asked for")
        return
    if not _is_of(effect, act):
        yield Finding(FORBIDDEN, effect.operation_id, f"{effect.receipt} is not what was asked for")
    if not act.allowed:
        yield Finding(FORBIDDEN, effect.operation_id, f"{effect.receipt} is on another tenant's {act.target}")
    yield from _allowed_by_people(found, effect, act)


def _is_of(effect: Effect, act: Asked) -> bool:
    """Whether it is what was asked for; of a batch, for the item that it is the effect of."""
    item = effect.target if act.items else ""
    return (effect.amount, effect.currency, effect.item) == (act.amount, "KRW", item) and effect.target in act.objects


def _allowed_by_people(found: Sorted, effect: Effect, act: Asked) -> Iterator[Finding]:
    questions = found.of_operation("approvals").get(effect.operation_id, [])
    if any(question["state"] == "denied" for question in questions):
        yield Finding(FORBIDDEN, effect.operation_id, f"{effect.receipt} although a person denied it")
    if not act.approvers and not questions:
        return
    if not any(question["state"] == "consumed" for question in questions):
        yield Finding(FORBIDDEN, effect.operation_id, f"{effect.receipt} without an approval that was used for it")
    approving = {
        word.person
        for word in found.evidence.said
        if word.operation_id == effect.operation_id and word.choice == "approve" and perhaps_heard(word.status)
    }
    if len(approving) < max(1, act.approvers):
        yield Finding(FORBIDDEN, effect.operation_id, f"{effect.receipt} after {len(approving)} people said yes")


def _refused_and_sent(found: Sorted) -> Iterator[Finding]:
    called = found.of_operation("handler_calls")
    for operation_id, row in found.operations.items():
        if _never_to_be_sent(found, row) and called.get(operation_id):
            yield Finding(FORBIDDEN, operation_id, f"a handler was called although it ended with {row['code']}")


def _never_to_be_sent(found: Sorted, row: Row) -> bool:
    act = found.act_of_operation.get(row["operation_id"])
    return act is not None and act.writes and (not act.allowed or row["code"] in NOTHING_SENT)
