"""What a checker may find, and the evidence sorted so that it can be looked up."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from tests.chaos.evidence import Asked, Evidence, Resolved, Row

DUPLICATE, LOST, WRONG, FORBIDDEN, STUCK = "duplicate", "lost", "wrong answer", "forbidden effect", "stuck"
BROKEN = "broken invariant"
KINDS = (DUPLICATE, LOST, WRONG, FORBIDDEN, STUCK, BROKEN)

ABANDONED = "outcome_abandoned"

ENDS = frozenset({"succeeded", "failed_terminal", "failed_retryable"})


@dataclass(frozen=True)
class Finding:
    """One violation; `about` is an operation's or a call's id."""

    kind: str
    about: str
    words: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.about}: {self.words}"


@dataclass(frozen=True)
class Effect:
    """One effect in the world, as the books of the service that made it have it."""

    operation_id: str
    receipt: str
    target: str
    amount: int
    currency: str
    item: str = ""
    """Which item of a batch it is the effect of."""
    at: datetime | None = None
    """By the clock of the service, where it has noted that."""


def moment(value: Any) -> datetime | None:
    """A moment of a row, also of one that was kept as JSON."""
    return value if value is None or isinstance(value, datetime) else datetime.fromisoformat(value)


def perhaps_heard(status: int | None) -> bool:
    """A word that counted, or of which nobody knows: its answer was lost, or was that something had failed."""
    return status is None or status == 200 or status >= 500


class Sorted:
    """The evidence by its ids."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self._by_operation: dict[str, dict[str, list[Row]]] = {}

    @cached_property
    def effects(self) -> list[Effect]:
        """All effects, at the provider and in the ledger."""
        refunds = [
            Effect(
                row["client_reference"],
                row["refund_id"],
                row["order_id"],
                row["amount"],
                row["currency"],
                at=moment(row.get("created_at")),
            )
            for row in self.evidence.rows("refunds")
        ]
        credited = [
            Effect(
                row["operation_id"],
                row["entry_id"],
                row["account_id"],
                row["minor_units"],
                row["currency"],
                row["item"],
                moment(row.get("at")),
            )
            for row in self.evidence.rows("ledger_entries")
        ]
        return [*refunds, *credited]

    @cached_property
    def effects_by_operation(self) -> dict[str, list[Effect]]:
        """By the id under which they were asked for."""
        return _by(self.effects, "operation_id")

    @cached_property
    def effects_by_act(self) -> dict[tuple[str, int], list[Effect]]:
        """By what they did: no two acts of a run share both target and amount."""
        found: dict[tuple[str, int], list[Effect]] = defaultdict(list)
        for effect in self.effects:
            found[effect.target, effect.amount].append(effect)
        return found

    @cached_property
    def acts(self) -> dict[tuple[str, str], Asked]:
        """By request and call: no two responses of a run share an id."""
        each = ((request, act) for act in self.evidence.acts for request in act.requests)
        return {(request, call_id): act for request, act in each for call_id in act.calls}

    @cached_property
    def responses(self) -> dict[str, list[Asked]]:
        """The acts of each response, in the order of its calls."""
        found: dict[str, list[Asked]] = defaultdict(list)
        for act in self.evidence.acts:
            for request in act.requests:
                found[request].append(act)
        return found

    @cached_property
    def calls(self) -> dict[tuple[str, str], Row]:
        """What the inbox has, by request and call."""
        return {(row["request_id"], row["call_id"]): row for row in self.evidence.rows("calls")}

    @cached_property
    def operations(self) -> dict[str, Row]:
        """By id."""
        return {row["operation_id"]: row for row in self.evidence.rows("operations")}

    @cached_property
    def act_of_operation(self) -> dict[str, Asked]:
        """Which act an operation is, as the inbox has it."""
        calls = [row for row in self.evidence.rows("calls") if row["operation_id"]]
        known = ((row["operation_id"], (row["request_id"], row["call_id"])) for row in calls)
        return {operation_id: self.acts[key] for operation_id, key in known if key in self.acts}

    @cached_property
    def resolved(self) -> dict[str, list[Resolved]]:
        """Operators' words that may have counted, by operation."""
        return _by((word for word in self.evidence.resolved if perhaps_heard(word.status)), "operation_id")

    def was_told(self, operation_id: str, finding: str) -> bool:
        """Whether an operator said that of the operation."""
        return any(word.finding == finding for word in self.resolved.get(operation_id, []))

    def given_up(self, operation_id: str, code: str | None) -> bool:
        """Whether it ended without an outcome because an operator said so: it may have happened or not."""
        return code == ABANDONED and self.was_told(operation_id, "abandoned")

    def of_operation(self, table: str) -> dict[str, list[Row]]:
        """A table's rows by operation."""
        if table not in self._by_operation:
            found: dict[str, list[Row]] = defaultdict(list)
            for row in self.evidence.rows(table):
                found[row["operation_id"]].append(row)
            self._by_operation[table] = found
        return self._by_operation[table]


def _by(items: Iterable[Any], name: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for item in items:
        found[getattr(item, name)].append(item)
    return found
