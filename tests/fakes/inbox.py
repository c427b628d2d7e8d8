"""The inbox, in memory."""

from collections.abc import Collection
from dataclasses import dataclass, field

from adapters.intake.ports import Judged, Receipt, Registered, Turn
from tests.fakes.world import Delivered, Kept, Key, World
from workflows.domain.gate import Verdict, first_refusal
from workflows.domain.intent import Intent
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.operation import Operation


@dataclass
class Progress:
    """What has been registered of a turn so far."""

    before: list[str] = field(default_factory=list)
    reads: dict[str, str] = field(default_factory=dict)
    cut_off: bool = False


class MemoryInbox:
    """Fits `adapters.intake.ports.Inbox`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def register(self, turn: Turn) -> list[Registered]:
        progress, found = Progress(), dict[int, Registered]()
        for call in sorted(turn.calls, key=lambda each: (each.writes, each.position)):
            found[call.position] = self._noted(progress, call, self._register(turn, call, progress))
        registered = [found[call.position] for call in turn.calls]
        self._order_starts(registered)
        await self.discover(turn.lineage, turn.found)
        return registered

    async def discovered(self, lineage: str) -> frozenset[str]:
        return frozenset(self._world.discoveries.get(lineage, ()))

    async def discover(self, lineage: str, tools: Collection[str]) -> None:
        self._world.discoveries.setdefault(lineage, set()).update(tools)

    def _noted(self, progress: Progress, call: Judged, registered: Registered) -> Registered:
        if registered.operation_id is None:
            progress.cut_off = progress.cut_off or call.writes
            return registered
        if registered.operation_id not in progress.before:
            progress.before.append(registered.operation_id)
        if not registered.writes:
            progress.reads.setdefault(registered.intent_hash, registered.operation_id)
        return registered

    def _order_starts(self, registered: list[Registered]) -> None:
        new = {each.operation_id: each for each in registered if each.receipt is Receipt.REGISTERED}
        writes = [each for each in new.values() if each.writes]
        alone = len({each.operation_id for each in registered if each.operation_id}) == 1
        if writes:
            reads = [] if alone else [(each.operation_id or "", "read") for each in new.values() if not each.writes]
            self._world.outbox += [*reads, (writes[0].operation_id or "", "start" if alone else "turn")]

    def _register(self, turn: Turn, call: Judged, progress: Progress) -> Registered:
        key = (turn.principal.tenant, f"{turn.namespace} {turn.request_id}".lstrip(), call.proposal.call_id)
        known = self._world.calls.get(key)
        if known is not None:
            return self._again(turn, call, known)
        cut_off = call.writes and progress.cut_off
        if cut_off or call.intent is None:
            return self._refuse(key, call, cut_off=cut_off)
        return self._propose(key, turn, call, call.intent, progress)

    def _refuse(self, key: Key, call: Judged, *, cut_off: bool) -> Registered:
        refusal = first_refusal(call.verdicts)
        if refusal is None:
            refusal = Verdict(call.verdicts[-1].layer, "earlier_write_not_done" if cut_off else "internal_error")
        self._world.calls[key] = Delivered(call.fingerprint, refusal=refusal)
        return Registered(call.proposal.call_id, Receipt.REFUSED, code=refusal.code, details=refusal.details)

    def _propose(self, key: Key, turn: Turn, call: Judged, intent: Intent, progress: Progress) -> Registered:
        twin = None
        if not call.proposal.hosted:
            twin = self._open_twin(intent) if call.writes else progress.reads.get(intent.hash())
        if twin is not None:
            self._world.calls[key] = Delivered(call.fingerprint, twin, writes=call.writes, attached=True)
            stored = self._world.kept(twin).operation
            return Registered(call.proposal.call_id, Receipt.KNOWN, twin, stored.intent_hash, call.writes)
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
                after=tuple(progress.before) if call.writes else (),
            ),
            created_at=self._world.now,
        )
        self._world.calls[key] = Delivered(
            call.fingerprint, operation_id, writes=call.writes, lineage=turn.lineage, at=self._world.now
        )
        return Registered(call.proposal.call_id, Receipt.REGISTERED, operation_id, intent.hash(), call.writes)

    def _open_twin(self, intent: Intent) -> str | None:
        for operation_id, act_hash in self._world.acts.items():
            operation = self._world.kept(operation_id).operation
            if operation.writes and act_hash == intent.act_hash() and operation.state not in ENDS:
                return operation_id
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
