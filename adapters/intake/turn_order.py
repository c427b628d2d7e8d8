"""Which calls of a turn are started together, and which one after another."""

from collections.abc import Sequence
from dataclasses import replace

from adapters.intake.ports import Judged, Registered, Turn
from workflows.domain.intent import digest
from workflows.messages import OperationRef, TurnRef

Started = tuple[Judged, Registered]


def turn_ref(turn: Turn, registered: Sequence[Registered]) -> TurnRef | None:
    """The order of a turn's calls for the workflow that keeps it; None when there is none to keep.

    `registered` has the inbox's answer to each call, in their order. Two calls that are one operation come once.
    """
    found = started(turn, registered)
    reads = [each for each in found if not each[1].writes]
    writes = [each for each in found if each[1].writes]
    if len(found) < 2 or not (writes or turn.one_by_one):
        return None
    return TurnRef(
        reads=[_ref(each) for each in reads],
        writes=[replace(_ref(each), fast_path=True) for each in writes],
        tools=[call.tool for call, _ in writes],
        tenant=turn.principal.tenant,
        one_by_one=turn.one_by_one,
    )


def turn_id(ref: TurnRef) -> str:
    """Names the workflow that carries these calls: the same for every delivery, another one for other calls."""
    return f"turn_{digest([ref.tenant, *(each.operation_id for each in (*ref.reads, *ref.writes))])[:24]}"


def started(turn: Turn, registered: Sequence[Registered]) -> list[Started]:
    """Each operation of the turn once, with the first call that stands for it."""
    found: dict[str, Started] = {}
    for call, each in zip(turn.calls, registered, strict=True):
        if each.operation_id is not None:
            found.setdefault(each.operation_id, (call, each))
    return list(found.values())


def _ref(each: Started) -> OperationRef:
    return OperationRef(each[1].operation_id or "", each[1].intent_hash)
