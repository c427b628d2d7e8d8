"""One in-memory state that all fakes share, with a clock that goes only when it is told to.

Nothing here awaits, so each method of a fake is one transaction: it happens wholly, or raises and has changed nothing.
"""

from dataclasses import dataclass, field, replace

from workflows.domain.approval import ApprovalState, Binding, Choice, Clearance
from workflows.domain.effect import Effect
from workflows.domain.errors import CallRefused, Detail
from workflows.domain.gate import Verdict
from workflows.domain.impact import Money
from workflows.domain.lifecycle import State, advance
from workflows.domain.notice import NoticeType
from workflows.domain.operation import Operation
from workflows.domain.resolution import Resolution

Key = tuple[str, str, str]
"""Tenant, request id, call id."""


@dataclass
class Kept:
    """An operation with what is stored beside it; moments are seconds of the world's clock."""

    operation: Operation
    details: tuple[Detail, ...] = ()
    clearance: Clearance | None = None
    cleared_at: float = 0.0
    created_at: float = 0.0
    ended_at: float | None = None

    def step(self, following: State) -> None:
        self.operation = replace(self.operation, state=advance(self.operation.state, following))


@dataclass
class Delivered:
    """One row of the inbox."""

    fingerprint: str
    operation_id: str | None = None
    refusal: Verdict | None = None
    deliveries: int = 1
    writes: bool = False
    attached: bool = False
    lineage: str = ""
    at: float = 0.0


@dataclass
class Asked:
    """One question to the approvers."""

    approval_id: str
    operation_id: str
    revision: int
    binding: Binding
    approver_role: str
    quorum: int
    expires_at: float
    items: dict[str, str] = field(default_factory=dict)
    state: ApprovalState = ApprovalState.PENDING
    votes: dict[str, Choice] = field(default_factory=dict)

    @property
    def open(self) -> bool:
        return self.state in (ApprovalState.PENDING, ApprovalState.GRANTED)


@dataclass
class Held:
    """One claim. `effect` is None until an outcome is proven."""

    owner: str
    generation: int
    lease_until: float
    idempotency_key: str
    operation_id: str = ""
    item: str = ""
    sends: int = 0
    first_sent_at: float | None = None
    last_sent_at: float | None = None
    uncertain: bool = False
    effect: Effect | None = None
    reference: str | None = None


@dataclass
class Entry:
    """One call of a handler."""

    operation_id: str
    generation: int
    outcome: str | None = None
    request_id: str | None = None
    task_id: str | None = None


@dataclass
class Spent:
    """One reservation."""

    tenant: str
    subject: str
    money: Money
    at: float
    released: bool = False


def key_of(operation_id: str, item: str) -> str:
    """Under which a claim is kept: an operation with one effect goes by its own name."""
    return f"{operation_id}/{item}" if item else operation_id


@dataclass
class World:
    """Everything that the fakes keep. `outbox` holds operation id and kind, of an event its name, the oldest first."""

    now: float = 0.0
    operations: dict[str, Kept] = field(default_factory=dict)
    calls: dict[Key, Delivered] = field(default_factory=dict)
    acts: dict[str, str] = field(default_factory=dict)
    spent: dict[str, Spent] = field(default_factory=dict)
    approvals: dict[str, Asked] = field(default_factory=dict)
    claims: dict[str, Held] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    resolutions: dict[tuple[str, str, int], Resolution] = field(default_factory=dict)
    verdicts: list[tuple[str, Verdict]] = field(default_factory=list)
    outbox: list[tuple[str, str]] = field(default_factory=list)
    discoveries: dict[str, set[str]] = field(default_factory=dict)

    def advance(self, seconds: float) -> None:
        self.now += seconds

    def kept(self, operation_id: str) -> Kept:
        if operation_id not in self.operations:
            raise CallRefused("not_found")
        return self.operations[operation_id]

    def cancel(self, operation_id: str) -> None:
        """The caller wants it to stop."""
        kept = self.kept(operation_id)
        kept.operation = replace(kept.operation, cancel_wanted=True)

    def questions(self, operation_id: str) -> list[Asked]:
        """Of one operation, the oldest first."""
        mine = (asked for asked in self.approvals.values() if asked.operation_id == operation_id)
        return sorted(mine, key=lambda asked: asked.revision)

    def close(self, asked: Asked, state: ApprovalState, notice: NoticeType) -> None:
        """A question that is still open, or a grant that was not used, comes to its end."""
        if asked.open:
            asked.state = state
            self.announce(notice, asked.operation_id)

    def announce(self, notice: NoticeType, operation_id: str) -> None:
        """Put an event of a write in the outbox."""
        if self.kept(operation_id).operation.writes:
            self.outbox.append((operation_id, notice.value))

    def decide(self, approval_id: str, choice: Choice, approver: str) -> None:
        """What the back office does to an open question; the rules of who may are tested with the back office."""
        asked = self.approvals[approval_id]
        assert asked.state is ApprovalState.PENDING
        asked.votes[approver] = choice
        approving = sum(vote is Choice.APPROVE for vote in asked.votes.values())
        if choice is Choice.DENY:
            asked.state = ApprovalState.DENIED
            self.announce(NoticeType.DENIED, asked.operation_id)
        elif approving >= asked.quorum:
            asked.state = ApprovalState.GRANTED
            self.announce(NoticeType.GRANTED, asked.operation_id)
