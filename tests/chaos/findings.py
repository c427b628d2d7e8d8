"""What a checker may find, and the evidence sorted so that it can be looked up."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.chaos.evidence import Asked, Evidence, Row

DUPLICATE, LOST, WRONG, FORBIDDEN, STUCK = "duplicate", "lost", "wrong answer", "forbidden effect", "stuck"
KINDS = (DUPLICATE, LOST, WRONG, FORBIDDEN, STUCK)

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


class Sorted:
    """The evidence by its ids."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self._by_operation: dict[str, dict[str, list[Row]]] = {}

    @cached_property
    def effects(self) -> list[Effect]:
        """All effects, at the provider and in the ledger."""
        refunds = [
            Effect(row["client_reference"], row["refund_id"], row["order_id"], row["amount"], row["currency"])
            for row in self.evidence.rows("refunds")
        ]
        credited = [
            Effect(row["operation_id"], row["entry_id"], row["account_id"], row["minor_units"], row["currency"])
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
        return {(request, act.call_id): act for act in self.evidence.acts for request in act.requests}

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
