"""What the steps need from the outside, as protocols; adapters fit them without knowing them.

Each method of `Operations`, `Approvals` and `Claims` is one transaction, and time is always the database's.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from workflows.domain.approval import ApprovalState, Clearance, Plea, Question
from workflows.domain.authorization import Admit
from workflows.domain.claim import Claim, Evidence
from workflows.domain.contract import Contract
from workflows.domain.effect import Dispatch, Effect
from workflows.domain.gate import Verdict
from workflows.domain.impact import Inspection, Money
from workflows.domain.lifecycle import State
from workflows.domain.operation import Operation, Settlement
from workflows.domain.policy import Circumstances
from workflows.domain.principal import Principal
from workflows.domain.resolution import Resolution
from workflows.domain.turn_order import Forerunner


class Operations(Protocol):
    """The stored operations."""

    async def load(self, operation_id: str) -> Operation:
        """Return the operation; raises `CallRefused("not_found")`."""

    async def states(self, operation_ids: Sequence[str]) -> Sequence[State]:
        """Return where each of them stands, in their order; raises `CallRefused("not_found")`."""

    async def forerunners(self, operation: Operation) -> Sequence[Forerunner]:
        """Return the operations of its turn that come before it."""

    async def record(self, operation: Operation, verdicts: Sequence[Verdict], clearance: Clearance | None) -> None:
        """Keep the gate's verdicts, and the clearance when all let it pass; None takes back an earlier one."""

    async def move(self, operation_id: str, state: State, why: str = "") -> State:
        """Step to `state` if the lifecycle allows it, and tell the timeline `why`; returns where it then stands."""

    async def settle(self, operation_id: str, ending: Settlement) -> Settlement:
        """Write the one terminal result, with its event in the outbox; a second settlement gets the first one back.

        A refusal closes the claim and every open question with it, so that whoever holds either can do nothing more.

        Raises:
            EffectUncertain: it is a refusal, and something was sent that may have happened, or has.
        """


class Spendings(Protocol):
    """What leaves, counted before it leaves."""

    async def reserve(self, operation: Operation, money: Money | None, repeat_seconds: float) -> Circumstances:
        """Reserve the operation's amount once, and tell what else is reserved or spent within a day.

        Reserving and counting are one transaction that nobody of the same tenant and currency can be in at once, so
        of two acts that fit alone and not together the second sees the first. What is open counts, however long ago
        it was reserved. `repeated` tells whether the same act has succeeded within `repeat_seconds`, `given_up` whether
        it was given up within a day, `reads` what the conversation was told before.
        """


class Approvals(Protocol):
    """The questions put to people and what became of them."""

    async def latest(self, operation_id: str) -> Question | None:
        """Return the newest question; one whose time has passed undecided is marked expired first."""

    async def ask(self, operation: Operation, plea: Plea) -> Question:
        """Open a question, step the operation to awaiting_approval and put the notice in the outbox."""

    async def void(self, approval_id: str) -> ApprovalState:
        """Take a question or a grant back because what it binds has changed; returns how it stands then.

        Consumed ones stay as they are, and so does one that somebody has denied meanwhile.
        """


class Claims(Protocol):
    """The claims: compare-and-set with owner, lease and a generation that rises on every acquisition.

    Each item of a batch has a claim of its own; an operation with one effect has that of the empty item.
    """

    async def acquire(self, operation_id: str, owner: str, lease_seconds: float, item: str = "") -> Claim:
        """Take the right to the effect, step to started and consume the approval, in one transaction.

        Raises:
            AlreadyEnded: an outcome is on record, or the operation has ended.
            ClaimHeld: another owner's lease is live.
            LookFirst: an earlier send is uncertain.
            ClearanceMissing: the gate has not let this pass within `CLEARANCE_SECONDS`.
            ApprovalMissing: the grant that the clearance names is not there, has expired or binds something else.
            Canceled: the caller wants it to stop, and nothing was sent.
        """

    async def begin_send(self, claim: Claim, attempt_seconds: float) -> None:
        """Note that a send begins now, leaves within `attempt_seconds` and is uncertain until it is concluded.

        Raises:
            StaleGeneration: the claim has been taken over, or closed, or an earlier send is uncertain, or the caller
                wants the operation to stop.
        """

    async def renew(self, claim: Claim, lease_seconds: float) -> None:
        """Prolong the lease; raises `StaleGeneration`."""

    async def conclude(self, claim: Claim, effect: Effect) -> None:
        """Record what the send came to; raises `StaleGeneration`.

        An applied effect, or one that is refused for good, closes the claim. An unknown or for-now-refused one gives
        the lease back and leaves the claim open; an unknown one steps the operation to unconfirmed.
        """

    async def evidence(self, operation_id: str, item: str = "") -> Evidence | None:
        """Return what is on record, None when nothing was ever claimed."""

    async def items(self, operation_id: str) -> Mapping[str, Evidence]:
        """Return what is on record of each item that was ever claimed."""

    async def refuse(self, operation_id: str, item: str, code: str) -> None:
        """Conclude an item as refused before it is sent (again), one generation up.

        Raises:
            StaleGeneration: it is concluded or uncertain, or somebody's lease is live.
        """

    async def prove_absent(self, operation_id: str, seen_generation: int, item: str = "") -> None:
        """Record that the uncertain send has not happened and will not, one generation up; sending is allowed again.

        Raises:
            StaleGeneration: the claim has been taken, its lease is live, or an operator has said of this very send that
                it happened or is given up.
        """

    async def conclude_by_evidence(
        self, operation_id: str, seen_generation: int, effect: Effect, item: str = "", *, found: bool = True
    ) -> None:
        """Record an outcome over any owner, one generation up; a second time changes nothing.

        `found`: the downstream itself has shown it. What has happened is then true whoever holds the claim.

        Raises:
            StaleGeneration: the claim has been taken since it was looked at, and it is not an effect that was found.
        """

    async def abandon(self, operation_id: str, seen_generation: int, item: str = "") -> None:
        """Close the claim with an unknown outcome under the code `outcome_abandoned`; it stays uncertain for ever.

        Raises:
            StaleGeneration: the claim has been taken or concluded since, or its lease is live.
        """


class Resolutions(Protocol):
    """What operators have found out."""

    async def given(self, operation_id: str, generation: int, item: str = "") -> Resolution | None:
        """The word that was given on this very state of the claim, None when there is none."""


class Journal(Protocol):
    """Counts every call of a handler, so that "none after a refusal" can be shown."""

    async def began(self, operation: Operation, generation: int) -> int:
        """A handler is about to be called: a read's operation steps to started. Returns the entry's number.

        Raises:
            AlreadyEnded: the operation has its terminal result, so no handler may be called for it any more.
        """

    async def sent(self, entry: int, request_id: str, task_id: str) -> None:
        """A request is about to leave under this id, or its answer was promised as that task; raises as any store."""

    async def ended(self, entry: int, outcome: str) -> None:
        """The handler has answered, or raised."""


class ReadTool(Protocol):
    """A tool that changes nothing."""

    contract: Contract

    async def read(self, arguments: Any, principal: Principal, admit: Admit) -> Mapping[str, Any]:
        """Return data in the result model's shape; raises `CallRefused` with the tool's codes.

        The tool asks `admit` about the object that it has found before it does anything more with it. What is read
        without that question is not handed out.
        """


class WriteTool(Protocol):
    """A tool that makes an effect."""

    contract: Contract

    async def inspect(self, arguments: Any, principal: Principal) -> Inspection:
        """Look at the current state; changes nothing."""

    async def apply(self, arguments: Any, dispatch: Dispatch) -> Effect:
        """Send the write once. Whatever is not proven to have done nothing is `UNKNOWN`."""

    async def look_up(self, arguments: Any, dispatch: Dispatch) -> Effect | None:
        """Find the effect by our key or operation id; None when the downstream knows nothing of it."""


class Tools(Protocol):
    """The tools of this deployment, by name; each method raises `CallRefused("unknown_tool")`."""

    def reader(self, name: str) -> ReadTool:
        """Return a tool that reads."""

    def writer(self, name: str) -> WriteTool:
        """Return a tool that writes."""
