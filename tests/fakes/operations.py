"""The stored operations and where they stand, in memory."""

from collections.abc import Sequence
from dataclasses import replace

from adapters.intake.ports import Standing
from tests.fakes.world import Held, Kept, World
from workflows.domain.approval import ApprovalState, Clearance
from workflows.domain.effect import Effect, Outcome
from workflows.domain.errors import EffectUncertain
from workflows.domain.gate import Verdict
from workflows.domain.lifecycle import ENDS, NEXT, State
from workflows.domain.notice import NoticeType
from workflows.domain.operation import Operation, Settlement
from workflows.domain.principal import Principal
from workflows.domain.turn_order import Forerunner


class MemoryOperations:
    """Fits `activities.ports.Operations`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def load(self, operation_id: str) -> Operation:
        return self._world.kept(operation_id).operation

    async def states(self, operation_ids: Sequence[str]) -> Sequence[State]:
        return [self._world.kept(operation_id).operation.state for operation_id in operation_ids]

    async def forerunners(self, operation: Operation) -> Sequence[Forerunner]:
        found = [self._world.kept(operation_id) for operation_id in operation.after]
        now = self._world.now
        return [Forerunner(kept.operation.state, kept.operation.writes, now - kept.created_at) for kept in found]

    async def record(self, operation: Operation, verdicts: Sequence[Verdict], clearance: Clearance | None) -> None:
        kept = self._world.kept(operation.operation_id)
        kept.clearance, kept.cleared_at = clearance, self._world.now
        self._world.verdicts += [(operation.operation_id, verdict) for verdict in verdicts]

    async def move(self, operation_id: str, state: State, why: str = "") -> State:
        kept = self._world.kept(operation_id)
        if state in NEXT[kept.operation.state]:
            kept.step(state)
            if state is State.MANUAL_REVIEW:
                self._world.announce(NoticeType.MANUAL_REVIEW, operation_id)
        return kept.operation.state

    async def settle(self, operation_id: str, ending: Settlement) -> Settlement:
        kept = self._world.kept(operation_id)
        if kept.operation.state in ENDS:
            return _ending(kept)
        if ending.closes or ending.state is not State.SUCCEEDED:
            self._close(operation_id, ending.undone or ending.code, closes=ending.closes)
        for asked in self._world.questions(operation_id):
            self._world.close(asked, ApprovalState.VOID, NoticeType.VOID)
        kept.step(ending.state)
        self._world.verdicts += [(operation_id, verdict) for verdict in ending.verdicts]
        kept.operation = replace(kept.operation, code=ending.code, result=ending.data, reference=ending.reference)
        kept.details, kept.ended_at = ending.details, self._world.now
        proven = not any(held.uncertain for held in self._claims(operation_id))
        if ending.state is not State.SUCCEEDED and operation_id in self._world.spent and proven:
            self._world.spent[operation_id].released = True
        self._world.announce(NoticeType.ENDED, operation_id)
        return ending

    def _claims(self, operation_id: str) -> list[Held]:
        return [held for held in self._world.claims.values() if held.operation_id == operation_id]

    def _close(self, operation_id: str, code: str | None, *, closes: bool) -> None:
        done = any(held.effect and held.effect.outcome is Outcome.APPLIED for held in self._claims(operation_id))
        if done and not closes:
            raise EffectUncertain
        unconcluded = [held for held in self._claims(operation_id) if held.effect is None]
        if any(held.uncertain for held in unconcluded):
            raise EffectUncertain
        for held in unconcluded:
            held.owner, held.generation, held.lease_until = "refusal", held.generation + 1, self._world.now
            held.effect = Effect.rejected(code or "internal_error")


class MemoryProgress:
    """Fits `adapters.intake.ports.Progress`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def standings(self, principal: Principal, operation_ids: Sequence[str]) -> dict[str, Standing]:
        found = (self._world.operations[name] for name in operation_ids if name in self._world.operations)
        return {kept.operation.operation_id: self._standing(kept) for kept in found if _belongs(kept, principal)}

    def _standing(self, kept: Kept) -> Standing:
        before = [self._world.kept(operation_id).operation.state for operation_id in kept.operation.after]
        waits = kept.operation.state is State.PROPOSED and any(state not in ENDS for state in before)
        return replace(_standing(kept), behind=waits)


def _belongs(kept: Kept, principal: Principal) -> bool:
    owner = kept.operation.principal
    return (owner.tenant, owner.subject) == (principal.tenant, principal.subject)


def _standing(kept: Kept) -> Standing:
    stored = kept.operation
    return Standing(
        stored.operation_id, stored.tool, stored.state, stored.code, kept.details, stored.result, stored.reference
    )


def _ending(kept: Kept) -> Settlement:
    stored = kept.operation
    return Settlement(stored.state, stored.code, kept.details, stored.result, stored.reference)
