"""Writing the one terminal result of an operation."""

from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from pydantic import ValidationError
from temporalio import activity

from activities.loading import load_as_referred
from activities.ports import Claims, Operations, Tools
from activities.step import step
from workflows import contracts
from workflows.domain.arguments import validated
from workflows.domain.batch import open_items, settlement_of, uncertain_items
from workflows.domain.claim import Evidence
from workflows.domain.effect import Effect, Outcome
from workflows.domain.errors import CallRefused, EffectUncertain
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.operation import Operation, Settlement
from workflows.messages import Ending, SettleOrder

log = structlog.get_logger(__name__)


class Settle:
    """Turns the effect on record, or a refusal, into what the caller is told."""

    def __init__(self, operations: Operations, claims: Claims, tools: Tools) -> None:
        self._operations, self._claims, self._tools = operations, claims, tools

    @activity.defn(name=contracts.SETTLE)
    async def settle(self, order: SettleOrder) -> Ending:
        """Settle once; whoever comes second is told how it ended."""
        async with step():
            operation = await load_as_referred(self._operations, order.ref)
            if operation.state in ENDS:
                # What would be made of it now need not be what was told then.
                return Ending(operation.state.value, operation.code)
            try:
                settlement = await self._settlement(operation, order.code)
                stored = await self._operations.settle(operation.operation_id, settlement)
            except EffectUncertain as uncertain:
                # No end: what was sent must be found out first.
                return Ending(State.UNCONFIRMED.value, uncertain.code)
            return Ending(stored.state.value, stored.code)

    async def _settlement(self, operation: Operation, code: str | None) -> Settlement:
        known = await self._claims.items(operation.operation_id)
        if uncertain_items(known):
            raise EffectUncertain
        ids = self._items_of(operation, known)
        if ids and known:
            if code is None and open_items(ids, known):
                # Without a refusal a batch ends when all of it has been tried.
                raise EffectUncertain
            return settlement_of(ids, known, code, whole=code is None or self._knows_all_of(operation))
        single = known.get("")
        if single is not None and single.effect is not None:
            # What happened outranks any refusal that came after it.
            return self._by_effect(operation, single.effect)
        if code is None:
            # Nothing is on record and nobody has refused: this is no end.
            raise EffectUncertain
        return Settlement.failed_with(code)

    def _items_of(self, operation: Operation, known: Mapping[str, Evidence]) -> Sequence[str]:
        """The items of a batch, none for an operation with one effect. Without the tool, those that were claimed."""
        try:
            contract = self._tools.writer(operation.tool).contract
            return contract.batch.ids(validated(contract, operation.arguments)) if contract.batch else ()
        except CallRefused:
            return [item for item in known if item]

    def _knows_all_of(self, operation: Operation) -> bool:
        """Whether the tool is there to say which items a batch has."""
        try:
            return bool(validated(self._tools.writer(operation.tool).contract, operation.arguments))
        except CallRefused:
            return False

    def _by_effect(self, operation: Operation, effect: Effect) -> Settlement:
        if effect.outcome is Outcome.APPLIED:
            return Settlement(State.SUCCEEDED, data=self._clean(operation, effect), reference=effect.reference)
        # Refused for good, or given up by an operator.
        return Settlement.failed_with(effect.code or "downstream_rejected")

    def _clean(self, operation: Operation, effect: Effect) -> Mapping[str, Any]:
        """Only fields of the result model leave. What has happened is told even if its data, or its tool, are gone."""
        try:
            model = self._tools.writer(operation.tool).contract.result
            return model.model_validate(effect.data).model_dump(mode="json")
        except (CallRefused, ValidationError) as error:
            failure = type(error).__name__
            log.warning("result_does_not_fit", operation_id=operation.operation_id, failure=failure)
            return {"reference": effect.reference}
