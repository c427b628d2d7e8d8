"""The figures of this deployment as Prometheus has them. No label bears a tenant, a person or an argument."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from adapters.postgres.audit_chain import Unsealed
from adapters.postgres.backlog import Backlog
from adapters.postgres.invariants import Measured
from adapters.postgres.totals import Totals
from worker.kept import Aged

Numbers = Mapping[Any, float]
"""By the values of their labels, as tuples; the empty one where there are no labels."""

PREFIX = "onceward_"


@dataclass(frozen=True)
class Figures:
    """What was read for one scrape; None where the first reading is still going on. Fits Prometheus's `Collector`."""

    totals: Aged[Totals] | None
    backlog: Aged[Backlog] | None
    invariants: Aged[tuple[Measured, ...]] | None
    unsealed: Aged[Unsealed] | None

    def collect(self) -> Iterable[Metric]:
        """Every family; those that have not been read are absent, never 0."""
        if self.totals is not None:
            yield from _totals(self.totals.value)
        if self.backlog is not None:
            yield from _backlog(self.backlog.value)
        if self.invariants is not None:
            yield _invariants(self.invariants.value)
        if self.unsealed is not None:
            yield from _unsealed(self.unsealed.value)
        yield self._ages()

    def _ages(self) -> Metric:
        read = {"totals": self.totals, "backlog": self.backlog, "invariants": self.invariants, "audit": self.unsealed}
        ages = {(name,): aged.seconds for name, aged in read.items() if aged is not None}
        return _gauge("figures_age_seconds", "Seconds since these figures were read.", ages, "figures")


def _totals(totals: Totals) -> Iterator[Metric]:
    ended = {(tool, outcome): n for (tool, outcome), n in totals.handler_calls.items() if outcome is not None}
    unended = {(tool,): n for (tool, outcome), n in totals.handler_calls.items() if outcome is None}
    yield _gauge("operations", "Operations by where they stand.", totals.operations, "state", "tool")
    yield _counter("handler_calls", "Calls of handlers that have ended.", ended, "tool", "outcome")
    yield _gauge("handler_calls_unended", "Calls of handlers that go on, or whose worker died.", unended, "tool")
    yield _counter("effects", "Effects on record.", _by_one(totals.effects), "tool")
    yield _counter("refusals", "Refusing verdicts by the layer that gave them.", _by_one(totals.refusals), "layer")
    duplicates = {(): totals.duplicate_deliveries}
    yield _counter("duplicate_deliveries", "Deliveries of calls that were known already.", duplicates)
    yield _counter("reuses", "Calls that were answered with another one's open operation.", {(): totals.reuses})


def _backlog(backlog: Backlog) -> Iterator[Metric]:
    states = {(state.value,): found.waiting for state, found in backlog.states.items()}
    numbers = {labels: waiting.number for labels, waiting in states.items()}
    ages = {labels: waiting.oldest_seconds for labels, waiting in states.items()}
    yield _gauge("open_operations", "Operations that have not ended, by state.", numbers, "state")
    yield _gauge("open_operations_oldest_seconds", "Longest time that one has been in its state.", ages, "state")
    for name, meaning, number in (
        ("approvals_pending", "Questions that wait for people.", backlog.pending.number),
        ("approvals_pending_oldest_seconds", "Age of the oldest of them.", backlog.pending.oldest_seconds),
        ("approvals_overdue", "Questions and unused grants past their deadline.", backlog.overdue.number),
        ("outbox_due", "Messages that should be out by now.", backlog.due.number),
        ("outbox_lag_seconds", "How late the latest of them is.", backlog.due.oldest_seconds),
        ("outbox_failing", "Messages of which a delivery has failed.", backlog.failing.number),
        ("outbox_set_aside", "Messages that nobody will deliver.", backlog.set_aside.number),
        ("notices_failing", "Notices that a receiver has not taken yet.", backlog.not_taken.number),
        ("notices_failing_oldest_seconds", "Age of the oldest of them.", backlog.not_taken.oldest_seconds),
        ("notices_set_aside", "Notices that were given up.", backlog.given_up.number),
    ):
        yield _gauge(name, meaning, {(): number})


def _invariants(invariants: tuple[Measured, ...]) -> Metric:
    broken = {(each.name,): each.broken for each in invariants}
    return _gauge("invariant_violations", "What breaks an invariant; 0 when it holds.", broken, "invariant")


def _unsealed(unsealed: Unsealed) -> Iterator[Metric]:
    yield _gauge("audit_unsealed", "Lines of the audit log that are not sealed yet.", {(): unsealed.number})
    yield _gauge("audit_unsealed_oldest_seconds", "Age of the oldest of them.", {(): unsealed.oldest_seconds})


def _by_one(numbers: Mapping[str, int]) -> Numbers:
    return {(label,): number for label, number in numbers.items()}


def _gauge(name: str, meaning: str, numbers: Numbers, *labels: str) -> Metric:
    family = GaugeMetricFamily(PREFIX + name, meaning, labels=labels)
    for values, number in numbers.items():
        family.add_metric(values, number)
    return family


def _counter(name: str, meaning: str, numbers: Numbers, *labels: str) -> Metric:
    family = CounterMetricFamily(PREFIX + name, meaning, labels=labels)
    for values, number in numbers.items():
        family.add_metric(values, number)
    return family
