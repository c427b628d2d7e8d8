"""What leaves within a day, in memory."""

from collections.abc import Callable
from dataclasses import replace

from tests.fakes.world import Spent, World
from workflows.domain.effect import ABANDONED
from workflows.domain.impact import Money
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.operation import Operation
from workflows.domain.policy import Circumstances, Totals

A_DAY = 24 * 3600.0
AN_HOUR = 3600.0


class MemorySpendings:
    """Fits `activities.ports.Spendings`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def reserve(self, operation: Operation, money: Money | None, repeat_seconds: float) -> Circumstances:
        beside = Circumstances(
            repeated=self._has_ended(operation, repeat_seconds, lambda each: each.state is State.SUCCEEDED),
            given_up=self._has_ended(operation, A_DAY, lambda each: each.code == ABANDONED),
            reads=self._reads_before(operation),
        )
        if money is None:
            return beside
        who = operation.principal
        self._world.spent.setdefault(operation.operation_id, Spent(who.tenant, who.subject, money, self._world.now))
        others = [
            spent
            for operation_id, spent in self._world.spent.items()
            if operation_id != operation.operation_id
            and (spent.tenant, spent.money.currency) == (who.tenant, money.currency)
            and not spent.released
            and self._is_of_a_day(operation_id)
        ]
        by_subject = sum(spent.money.minor_units for spent in others if spent.subject == who.subject)
        return replace(beside, totals=Totals(by_subject, sum(spent.money.minor_units for spent in others)))

    def _is_of_a_day(self, operation_id: str) -> bool:
        kept = self._world.kept(operation_id)
        return kept.operation.state not in ENDS or (kept.ended_at or 0.0) > self._world.now - A_DAY

    def _reads_before(self, operation: Operation) -> tuple[str, ...]:
        calls = list(self._world.calls.values())
        (this,) = [call for call in calls if call.operation_id == operation.operation_id and not call.attached]
        earlier = [
            self._world.kept(call.operation_id).operation
            for call in calls
            if call.operation_id
            and not call.writes
            and call.lineage == this.lineage
            and this.at - AN_HOUR < call.at < this.at
        ]
        return tuple(sorted({each.tool for each in earlier if each.state is State.SUCCEEDED}))

    def _has_ended(self, operation: Operation, seconds: float, so: Callable[[Operation], bool]) -> bool:
        act_hash = self._world.acts[operation.operation_id]
        twins = [each for each, act in self._world.acts.items() if act == act_hash and each != operation.operation_id]
        kept = [self._world.kept(each) for each in twins]
        return any(
            each.operation.state in ENDS and so(each.operation) and (each.ended_at or 0.0) > self._world.now - seconds
            for each in kept
        )
