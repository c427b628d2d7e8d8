"""The claims, in memory."""

from collections.abc import Mapping
from dataclasses import replace

from tests.fakes.world import Asked, Held, Kept, World, key_of
from workflows.domain.approval import CLEARANCE_SECONDS, ApprovalState, Clearance
from workflows.domain.claim import Claim, Evidence
from workflows.domain.effect import ABANDONED, Dispatch, Effect, Outcome
from workflows.domain.errors import (
    AlreadyEnded,
    ApprovalMissing,
    Canceled,
    ClaimHeld,
    ClearanceMissing,
    LookFirst,
    StaleGeneration,
)
from workflows.domain.intent import idempotency_key
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.reconciliation import Uncertainty
from workflows.domain.resolution import Finding


class MemoryClaims:
    """Fits `activities.ports.Claims`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def acquire(self, operation_id: str, owner: str, lease_seconds: float, item: str = "") -> Claim:
        kept = self._world.kept(operation_id)
        if kept.operation.state in ENDS:
            raise AlreadyEnded
        held = self._world.claims.get(key_of(operation_id, item))
        if held is not None:
            self._require_open(held)
        if kept.operation.cancel_wanted:
            raise Canceled
        self._use_clearance(kept)
        first = self._first(kept, owner, item)
        held = first if held is None else replace(held, owner=owner, generation=held.generation + 1)
        held.lease_until = self._world.now + lease_seconds
        self._world.claims[key_of(operation_id, item)] = held
        if kept.operation.state is not State.STARTED:
            kept.step(State.STARTED)
        return Claim(operation_id, owner, held.generation, self._dispatch(kept, held), held.sends, self._sent(held))

    async def begin_send(self, claim: Claim, attempt_seconds: float) -> None:
        held = self._with_live_lease(claim)
        if held.uncertain or self._world.kept(claim.operation_id).operation.cancel_wanted:
            raise StaleGeneration
        held.sends, held.uncertain = held.sends + 1, True
        held.last_sent_at = self._world.now + attempt_seconds
        if held.first_sent_at is None:
            held.first_sent_at = self._world.now

    async def renew(self, claim: Claim, lease_seconds: float) -> None:
        self._with_live_lease(claim).lease_until = self._world.now + lease_seconds

    async def conclude(self, claim: Claim, effect: Effect) -> None:
        held = self._held_by(claim)
        self._record(held, effect)
        kept = self._world.kept(claim.operation_id)
        if effect.outcome is Outcome.UNKNOWN and kept.operation.state is State.STARTED:
            kept.step(State.UNCONFIRMED)

    async def evidence(self, operation_id: str, item: str = "") -> Evidence | None:
        held = self._world.claims.get(key_of(operation_id, item))
        return None if held is None else self._evidence(operation_id, held)

    async def items(self, operation_id: str) -> Mapping[str, Evidence]:
        mine = (held for held in self._world.claims.values() if held.operation_id == operation_id)
        return {held.item: self._evidence(operation_id, held) for held in mine}

    async def refuse(self, operation_id: str, item: str, code: str) -> None:
        key = key_of(operation_id, item)
        held = self._world.claims.get(key) or self._first(self._world.kept(operation_id), "refusal", item)
        if held.effect is not None or held.uncertain or held.lease_until > self._world.now:
            raise StaleGeneration
        self._world.claims[key] = held
        held.owner, held.generation = "refusal", held.generation + 1
        self._record(held, Effect.rejected(code))

    def _evidence(self, operation_id: str, held: Held) -> Evidence:
        dispatch = self._dispatch(self._world.kept(operation_id), held)
        live = held.lease_until > self._world.now
        return Evidence(held.generation, held.sends, self._sent(held), live, held.uncertain, held.effect, dispatch)

    async def prove_absent(self, operation_id: str, seen_generation: int, item: str = "") -> None:
        held = self._world.claims.get(key_of(operation_id, item))
        if held is None or held.generation != seen_generation or held.effect is not None:
            raise StaleGeneration
        if held.lease_until > self._world.now:
            raise StaleGeneration
        word = self._world.resolutions.get((operation_id, item, seen_generation))
        if word is not None and word.finding is not Finding.DID_NOT_HAPPEN:
            raise StaleGeneration
        held.owner, held.generation, held.uncertain = "evidence", seen_generation + 1, False

    async def conclude_by_evidence(
        self, operation_id: str, seen_generation: int, effect: Effect, item: str = "", *, found: bool = True
    ) -> None:
        held = self._world.claims.get(key_of(operation_id, item))
        if held is None or held.effect is not None:
            return
        if held.generation != seen_generation and not (found and effect.outcome is Outcome.APPLIED):
            raise StaleGeneration
        held.owner, held.generation = "evidence", held.generation + 1
        self._record(held, effect)

    async def abandon(self, operation_id: str, seen_generation: int, item: str = "") -> None:
        held = self._world.claims.get(key_of(operation_id, item))
        if held is None or held.generation != seen_generation or held.effect is not None or not held.uncertain:
            raise StaleGeneration
        if held.lease_until > self._world.now:
            raise StaleGeneration
        held.owner, held.generation = "operator", seen_generation + 1
        held.effect = Effect(Outcome.UNKNOWN, held.reference, code=ABANDONED)

    def _first(self, kept: Kept, owner: str, item: str) -> Held:
        operation = kept.operation
        key = idempotency_key(operation.principal.tenant, operation.tool, operation.operation_id, item)
        return Held(owner, 1, 0.0, key, operation.operation_id, item)

    def _require_open(self, held: Held) -> None:
        if held.effect is not None:
            raise AlreadyEnded
        if held.lease_until > self._world.now:
            raise ClaimHeld
        if held.uncertain:
            raise LookFirst

    def _use_clearance(self, kept: Kept) -> None:
        grant = self._grant(kept)
        if grant is not None:
            grant.state = ApprovalState.CONSUMED

    def _grant(self, kept: Kept) -> Asked | None:
        clearance = kept.clearance
        if clearance is None or self._world.now - kept.cleared_at > CLEARANCE_SECONDS:
            raise ClearanceMissing
        if clearance.binding.intent_hash != kept.operation.intent_hash:
            raise ApprovalMissing
        return self._named_by(clearance, kept.operation.operation_id) if clearance.approval_id else None

    def _named_by(self, clearance: Clearance, operation_id: str) -> Asked:
        grant = self._world.approvals.get(clearance.approval_id or "")
        if (
            grant is None
            or grant.operation_id != operation_id
            or grant.state not in (ApprovalState.GRANTED, ApprovalState.CONSUMED)
            or grant.binding != clearance.binding
            or grant.expires_at <= self._world.now
        ):
            raise ApprovalMissing
        return grant

    def _held_by(self, claim: Claim) -> Held:
        held = self._world.claims.get(key_of(claim.operation_id, claim.item))
        if held is None or (held.owner, held.generation) != (claim.owner, claim.generation) or held.effect is not None:
            raise StaleGeneration
        return held

    def _with_live_lease(self, claim: Claim) -> Held:
        held = self._held_by(claim)
        if held.lease_until <= self._world.now:
            raise StaleGeneration
        return held

    def _record(self, held: Held, effect: Effect) -> None:
        held.lease_until = self._world.now
        held.reference = effect.reference or held.reference
        if effect.outcome is Outcome.UNKNOWN:
            held.last_sent_at = self._world.now
            return
        held.uncertain = False
        if not effect.retryable:
            held.effect = replace(effect, reference=held.reference)

    def _dispatch(self, kept: Kept, held: Held) -> Dispatch:
        operation = kept.operation
        tenant = operation.principal.tenant
        key, task = held.idempotency_key, self._task(operation.operation_id, held)
        return Dispatch(operation.operation_id, tenant, key, held.generation, held.item, task)

    def _task(self, operation_id: str, held: Held) -> str:
        made = [each for each in self._world.entries if each.operation_id == operation_id]
        promised = [each.task_id for each in made if each.generation == held.generation and not held.item]
        return (promised[-1] if promised else None) or ""

    def _sent(self, held: Held) -> Uncertainty:
        if held.first_sent_at is None or held.last_sent_at is None:
            return Uncertainty(None, None)
        return Uncertainty(self._world.now - held.first_sent_at, self._world.now - held.last_sent_at)
