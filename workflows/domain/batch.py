"""What became of a batch, item by item."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, ConfigDict

from workflows.domain.claim import Evidence
from workflows.domain.contract import ToolResult
from workflows.domain.effect import ABANDONED, Effect, Outcome
from workflows.domain.errors import Detail, entry_of
from workflows.domain.lifecycle import State
from workflows.domain.operation import Settlement

MOST_DETAILS = 100
"""Refused items that an error names one by one."""


class FailedItem(BaseModel):
    """An item without an effect, and the code that says why."""

    model_config = ConfigDict(frozen=True)

    item: str
    code: str


class BatchResult(ToolResult):
    """The outcome of each item by its id; every item is in exactly one of the three lists.

    `unconfirmed` are those of which an operator has given up finding out: they may have happened.
    """

    outcome: Literal["complete", "partial"]
    # What is left undone comes first: a result that is cut to fit keeps what stands first.
    failed: list[FailedItem]
    unconfirmed: list[str]
    succeeded: list[str]


def open_items(ids: Sequence[str], known: Mapping[str, Evidence]) -> list[str]:
    """The items that are still to be sent, in their order."""
    return [item for item in ids if item not in known or known[item].may_be_sent]


def uncertain_items(known: Mapping[str, Evidence]) -> list[str]:
    """The items of which nobody knows yet whether they have happened."""
    return [item for item, evidence in known.items() if evidence.effect is None and evidence.uncertain]


def settlement_of(
    ids: Sequence[str], known: Mapping[str, Evidence], code: str | None, *, whole: bool = True
) -> Settlement:
    """The end of a batch; what was never sent failed with `code`. Nothing may be uncertain any more.

    Unless `whole` the ids are those that were tried, and there were others that nobody can name now.
    """
    return replace(_ending(ids, known, code, whole=whole), undone=code)


def _ending(ids: Sequence[str], known: Mapping[str, Evidence], code: str | None, *, whole: bool) -> Settlement:
    effects = {item: _effect(known.get(item), code) for item in ids}
    result = BatchResult(
        outcome="complete" if whole and all(map(_is_applied, effects.values())) else "partial",
        succeeded=[item for item, effect in effects.items() if effect.outcome is Outcome.APPLIED],
        failed=[
            FailedItem(item=item, code=effect.code or "downstream_rejected")
            for item, effect in effects.items()
            if effect.outcome is Outcome.REJECTED
        ],
        unconfirmed=[item for item, effect in effects.items() if effect.outcome is Outcome.UNKNOWN],
    )
    if result.succeeded:
        return Settlement(State.SUCCEEDED, data=result.model_dump(mode="json"), closes=True)
    return _given_up(result) if result.unconfirmed else _all_failed(result.failed)


def _is_applied(effect: Effect) -> bool:
    return effect.outcome is Outcome.APPLIED


def _effect(evidence: Evidence | None, code: str | None) -> Effect:
    if evidence is not None and evidence.effect is not None:
        return evidence.effect
    return Effect.rejected(code or "internal_error")


def _given_up(result: BatchResult) -> Settlement:
    """Nothing is known to have happened, and of some items nobody knows: those are named first."""
    lost = [FailedItem(item=item, code=ABANDONED) for item in result.unconfirmed]
    return Settlement.failed_with(ABANDONED, _details([*lost, *result.failed]))


def _all_failed(failed: Sequence[FailedItem]) -> Settlement:
    """Nothing has happened at all: the end is a refusal, under the items' own code if they share one."""
    codes = {each.code for each in failed}
    return Settlement.failed_with(codes.pop() if len(codes) == 1 else "batch_failed", _details(failed))


def _details(items: Sequence[FailedItem]) -> tuple[Detail, ...]:
    return tuple(Detail(f"/{each.item}", each.code, entry_of(each.code).meaning) for each in items[:MOST_DETAILS])
