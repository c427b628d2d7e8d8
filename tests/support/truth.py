"""How the world is, and what a witness writes down: looks, questions, and the acts that they are about."""

from dataclasses import dataclass, field

from workflows.domain.approval import Binding
from workflows.domain.effect import Dispatch
from workflows.domain.operation import Operation
from workflows.domain.policy import Policy

OURS = "tenant-a"
UNLIMITED = 10**9

POLICIES = {
    policy.version: policy
    for policy in (
        Policy("calm", {"KRW": UNLIMITED}, {"KRW": UNLIMITED}, {"KRW": UNLIMITED}),
        Policy("strict"),
        Policy("in pairs", two_approvers_above={"KRW": 10_000}),
        Policy("thrifty", {"KRW": 20_000}, {"KRW": 25_000}, {"KRW": 40_000}),
    )
}


@dataclass
class Truth:
    """How the world is.

    `hidden` is the code under which the object cannot be seen, None when it can. `readers_ask`: the tool that reads
    asks whether it may give away what it has found.
    """

    offered: bool = True
    permitted: bool = True
    refusal: str | None = None
    hidden: str | None = None
    owner: str = OURS
    version: int = 1
    release: int = 1
    readers_ask: bool = True
    policy: str = "calm"


@dataclass(frozen=True)
class Look:
    """What a look at one act must have found. `passes` leaves out only the people's word."""

    at: float
    passes: bool
    people: int
    binding: Binding


@dataclass(frozen=True)
class Ticket:
    """When a claim was taken, and by which look the gate had let the act pass until then."""

    claimed_at: float
    look: Look | None


@dataclass
class Question:
    """What people were asked, and when it ends."""

    binding: Binding
    people: int
    ends: float
    approvers: set[str] = field(default_factory=set)
    denied: bool = False
    used: bool = False
    taken_back: bool = False

    def hears(self, approver: str, *, denied: bool) -> None:
        """A person has decided."""
        self.denied = self.denied or denied
        self.approvers |= set() if denied else {approver}

    def grants(self, binding: Binding, now: float) -> bool:
        enough = len(self.approvers) >= self.people and not self.denied
        return enough and self.binding == binding and now < self.ends

    def may_be_taken_back(self, look: Look) -> None:
        """Nobody has to be asked by now, or about something else."""
        if not self.forbids(look.at) and (look.people == 0 or look.binding != self.binding):
            self.taken_back = True

    def forbids(self, now: float) -> bool:
        """A no, or a silence that has lasted too long."""
        return self.denied or (now >= self.ends and not self.used and not self.taken_back)


@dataclass
class Act:
    """One operation as it was registered, under which release of its tool, and what became of it."""

    operation: Operation
    release: int
    as_registered: bool = True
    reserved_at: float | None = None
    seen: Look | None = None
    may_go_by: Look | None = None
    questions: dict[str, Question] = field(default_factory=dict)
    sends: list[Dispatch] = field(default_factory=list)
    may_be_told: bool = False
    unwanted: bool = False
    ended: bool = False

    @property
    def operation_id(self) -> str:
        return self.operation.operation_id

    @property
    def name(self) -> str:
        """What no other act has: the quote that a refund names, the order that a read looks at."""
        given = self.operation.arguments
        return str(given.get("quote_id", given["order_id"]))

    @property
    def writes(self) -> bool:
        return self.operation.tool == "refund_payment"

    @property
    def amount(self) -> int:
        return int(self.operation.arguments.get("amount", 0))

    @property
    def same(self) -> tuple[str, str, int]:
        """What makes it the same act as another one."""
        return self.subject, self.operation.resource, self.amount

    @property
    def subject(self) -> str:
        return self.operation.principal.subject
