"""The inbox, in memory."""

from adapters.intake.ports import Judged, Receipt, Registered, Turn
from tests.fakes.world import Delivered, Kept, Key, World
from workflows.domain.gate import Verdict, first_refusal
from workflows.domain.intent import Intent
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.operation import Operation


class MemoryInbox:
    """Fits `adapters.intake.ports.Inbox`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def register(self, turn: Turn) -> list[Registered]:
        writes = [call.position for call in turn.calls if call.writes]
        return [self._register(turn, call, later_write=call.position in writes[1:]) for call in turn.calls]

    def _register(self, turn: Turn, call: Judged, *, later_write: bool) -> Registered:
        key = (turn.principal.tenant, turn.request_id, call.proposal.call_id)
        known = self._world.calls.get(key)
        if known is not None:
            return self._again(turn, call, known)
        if later_write or call.intent is None:
            return self._refuse(key, call, later_write=later_write)
        return self._propose(key, turn, call, call.intent)

    def _refuse(self, key: Key, call: Judged, *, later_write: bool) -> Registered:
        refusal = first_refusal(call.verdicts)
        if later_write or refusal is None:
            refusal = Verdict(call.verdicts[-1].layer, "earlier_write_not_done")
        self._world.calls[key] = Delivered(call.fingerprint, refusal=refusal)
        return Registered(call.proposal.call_id, Receipt.REFUSED, code=refusal.code, details=refusal.details)

    def _propose(self, key: Key, turn: Turn, call: Judged, intent: Intent) -> Registered:
        twin = self._open_twin(intent) if call.writes else None
        if twin is not None:
            self._world.calls[key] = Delivered(call.fingerprint, twin.operation_id, writes=True, attached=True)
            call_id, intent_hash = call.proposal.call_id, twin.intent_hash
            return Registered(call_id, Receipt.KNOWN, twin.operation_id, intent_hash, writes=True)
        operation_id = f"op_{len(self._world.operations) + 1}"
        self._world.acts[operation_id] = intent.act_hash()
        self._world.operations[operation_id] = Kept(
            Operation(
                operation_id=operation_id,
                principal=turn.principal,
                tool=intent.tool,
                tool_version=intent.tool_version,
                contract_hash=intent.contract_hash,
                intent_hash=intent.hash(),
                arguments=intent.arguments,
                resource=intent.resource,
                state=State.PROPOSED,
                writes=call.writes,
            )
        )
        self._world.calls[key] = Delivered(
            call.fingerprint, operation_id, writes=call.writes, lineage=turn.lineage, at=self._world.now
        )
        if call.writes:
            self._world.outbox.append((operation_id, "start"))
        return Registered(call.proposal.call_id, Receipt.REGISTERED, operation_id, intent.hash(), call.writes)

    def _open_twin(self, intent: Intent) -> Operation | None:
        for operation_id, act_hash in self._world.acts.items():
            operation = self._world.kept(operation_id).operation
            if act_hash == intent.act_hash() and operation.state not in ENDS:
                return operation
        return None

    def _again(self, turn: Turn, call: Judged, known: Delivered) -> Registered:
        if known.fingerprint != call.fingerprint or not self._same_act(turn, call, known):
            return Registered(call.proposal.call_id, Receipt.CONFLICT, code="idempotency_conflict")
        known.deliveries += 1
        if known.operation_id is not None:
            stored = self._world.kept(known.operation_id).operation
            return Registered(
                call.proposal.call_id, Receipt.KNOWN, stored.operation_id, stored.intent_hash, known.writes
            )
        refusal = known.refusal or Verdict(call.verdicts[-1].layer, "internal_error")
        return Registered(call.proposal.call_id, Receipt.REFUSED, code=refusal.code, details=refusal.details)

    def _same_act(self, turn: Turn, call: Judged, known: Delivered) -> bool:
        if known.operation_id is None:
            return True
        stored = self._world.kept(known.operation_id).operation
        caller, owner = turn.principal, stored.principal
        return (caller.subject, caller.agent) == (owner.subject, owner.agent)
