"""The activities over the fakes, with a witness at every call of a handler and a shop that counts what lands.

While a tool is asked, or between a claim and its send, something else may happen: what was put into `meanwhile` under
that place.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import Any

from adapters.tools.payments import OrderArguments, RefundArguments
from tests.fakes.journal import MemoryJournal
from tests.support.acts import IMPACT
from tests.support.proposals import turn_of
from tests.support.shop import Fate, Shop
from tests.support.steps import ORDER_DATA, Archivist, Stage, Till, Toolbox, shipped
from tests.support.truth import POLICIES, Act, Look, Ticket, Truth
from tests.support.witness import Witness
from workflows.domain.authorization import Admit
from workflows.domain.catalog import Catalog
from workflows.domain.contract import Contract, Idempotency, Limits
from workflows.domain.effect import Dispatch, Effect
from workflows.domain.errors import CallRefused
from workflows.domain.gate import Layer, Verdict
from workflows.domain.impact import Inspection, Money, Resource
from workflows.domain.lifecycle import State
from workflows.domain.operation import Operation
from workflows.domain.principal import Principal
from workflows.domain.proposal import Proposal
from workflows.domain.resolution import Finding, Resolution
from workflows.messages import Judgement, Report, Step

Happening = Callable[[], Awaitable[object]]


class Place(StrEnum):
    """Where something else can come in between."""

    LOOKING = "while the gate looks"
    CLAIMED = "between claim and send"
    SENDING = "while the tool sends"
    LOOKING_UP = "while the tool looks an effect up"


TICKET: ContextVar[Ticket] = ContextVar("TICKET")
"""What the running apply step can show for itself."""

LOOKS: ContextVar[list[Look | None]] = ContextVar("LOOKS")
"""What the running validate step has looked at."""


@cache
def write_tool(idempotency: Idempotency, release: int) -> Contract:
    """The refund under one kind of promise, with a small budget of sends."""
    return shipped("refund_payment", idempotency=idempotency, version=f"{release}", limits=Limits(sends=3))


@cache
def read_tool(release: int) -> Contract:
    return shipped("get_order", version=f"{release}")


@dataclass
class WatchedTill(Till):
    """Says whatever it is asked to the house."""

    house: "House" = field(kw_only=True)

    async def inspect(self, arguments: Any, principal: Principal) -> Inspection:
        return await self.house.is_looked_at(arguments)

    async def apply(self, arguments: Any, dispatch: Dispatch) -> Effect:
        return await self.house.is_sent(arguments, dispatch)

    async def look_up(self, arguments: Any, dispatch: Dispatch) -> Effect | None:
        return await self.house.is_looked_up(dispatch)


@dataclass
class WatchedArchivist(Archivist):
    """Says so to the house."""

    house: "House" = field(kw_only=True)

    async def read(self, arguments: Any, principal: Principal, admit: Admit) -> Mapping[str, Any]:
        return self.house.is_read(arguments, admit)


@dataclass
class NappingJournal(MemoryJournal):
    """A worker may sleep between its claim and its send."""

    house: "House"

    def __post_init__(self) -> None:
        super().__init__(self.house.world)

    async def began(self, operation: Operation, generation: int) -> int:
        entry = await super().began(operation, generation)
        if self.house.acts[operation.operation_id].writes:
            await self.house.happens(Place.CLAIMED)
        return entry


class DoorOfOthers:
    """A door that is behind the times and offers everything to everybody."""

    def offers(self, principal: Principal, contract: Contract) -> bool:
        return True

    def permits(self, principal: Principal, contract: Contract, resource: Resource) -> bool:
        return True


class House(Stage):
    """Is its own authorizer: what it answers is how the world is."""

    def __init__(self, idempotency: Idempotency) -> None:
        super().__init__()
        self.idempotency = idempotency
        contract = write_tool(idempotency, 1)
        self.shop = Shop(self.world, idempotency, contract.recovery.key_lifetime_seconds or 0.0)
        self.witness = Witness(self.world, contract)
        self.till, self.archivist = WatchedTill(contract, house=self), WatchedArchivist(read_tool(1), house=self)
        self.journal = NappingJournal(self)
        self.authorizer = self
        self.fate = Fate.LANDS_AND_SAYS_SO
        self.meanwhile: defaultdict[Place, list[Happening]] = defaultdict(list)
        self.looks_at_once = 0
        self._tools = Toolbox(self.till, self.archivist)

    @property
    def acts(self) -> dict[str, Act]:
        return self.witness.acts

    # -- how the world is

    def change(self, name: str, value: Any) -> None:
        """The world changes; whoever looks sees it."""
        truth = self.witness.truth
        setattr(truth, name, value)
        self.policy = POLICIES[truth.policy]
        self.till.contract, self.archivist.contract = (
            write_tool(self.idempotency, truth.release),
            read_tool(truth.release),
        )

    def mend(self) -> None:
        """All is well again, in the world and in the store; the policy, and what has become of the object, stay."""
        well = Truth(version=self.witness.truth.version, policy=self.witness.truth.policy)
        for name, value in vars(well).items():
            self.change(name, value)
        for act in self.acts.values():
            self.tamper(act, act.operation.arguments)

    def offers(self, principal: Principal, contract: Contract) -> bool:
        return self.witness.truth.offered and "support" in principal.roles

    def permits(self, principal: Principal, contract: Contract, resource: Resource) -> bool:
        return self.witness.truth.permitted

    # -- what comes in

    async def proposed(self, proposal: Proposal, caller: Principal, *, door_is_behind: bool) -> str | None:
        """Through the door, at which the offers may be those of yesterday; the operation's id if it was let in."""
        door = DoorOfOthers() if door_is_behind else self
        turn = turn_of(proposal, caller=caller, catalog=Catalog([self.till.contract, self.archivist.contract], door))
        (registered,) = await self.inbox.register(turn)
        if registered.operation_id is None or registered.operation_id in self.acts:
            return registered.operation_id
        operation = await self.operations.load(registered.operation_id)
        self.acts[operation.operation_id] = Act(operation, self.witness.truth.release)
        return operation.operation_id

    async def validate(self, operation: Operation, intent_hash: str = "") -> Judgement:
        looks: list[Look | None] = []
        token = LOOKS.set(looks)
        try:
            judgement = await super().validate(operation, intent_hash)
        finally:
            LOOKS.reset(token)
        self._is_told(self.acts[operation.operation_id], judgement, looks)
        return judgement

    def _is_told(self, act: Act, judgement: Judgement, looks: list[Look | None]) -> None:
        for asked in self.world.questions(act.operation_id):
            self.witness.is_asked(act, asked)
        if judgement.step is Step.GO:
            self.witness.is_told_yes(act, looks[-1] if looks else None)
        else:
            self.witness.is_told_no(act)

    async def apply(self, operation: Operation, intent_hash: str = "") -> Report:
        token = TICKET.set(Ticket(self.world.now, self.acts[operation.operation_id].may_go_by))
        try:
            return await super().apply(operation, intent_hash)
        finally:
            TICKET.reset(token)

    def tamper(self, act: Act, changed: Mapping[str, Any]) -> None:
        """Somebody who may write where nobody of ours does changes the stored arguments; an empty change takes all."""
        kept = self.world.kept(act.operation_id)
        arguments = {**act.operation.arguments, **changed} if changed else {}
        kept.operation = replace(kept.operation, arguments=arguments)
        act.as_registered = arguments == act.operation.arguments

    def take_back(self, act: Act) -> None:
        """The caller wants it to stop."""
        self.world.cancel(act.operation_id)
        act.unwanted = self.world.kept(act.operation_id).operation.cancel_wanted

    def asks_an_operator(self, act: Act) -> bool:
        """Whether the back office would take an operator's word on it, and a careful one would give it."""
        held, state = self.world.claims.get(act.operation_id), self.witness.state(act)
        is_open = state is State.MANUAL_REVIEW and held is not None and held.uncertain
        return is_open and not self.shop.expects(act.operation_id)

    async def give_word(self, act: Act, *, gives_up: bool) -> None:
        """An operator who has looked says what is so, or that nobody can find out; the first word stands."""
        generation = self.world.claims[act.operation_id].generation
        if await self.resolutions.given(act.operation_id, generation) is None:
            made = self.shop.made(act.operation_id)
            finding = Finding.HAPPENED if made else Finding.DID_NOT_HAPPEN
            word = Resolution(Finding.ABANDONED if gives_up else finding, "Seen.", "rf-1" if made else "", generation)
            await self.resolve(act.operation_id, word)

    # -- what the tools are asked

    async def happens(self, place: Place) -> None:
        """What was to happen here, happens."""
        if self.meanwhile[place]:
            await self.meanwhile[place].pop()()

    async def is_looked_at(self, arguments: RefundArguments) -> Inspection:
        truth = self.witness.truth
        LOOKS.get().append(self.witness.sees(arguments.quote_id))
        self.looks_at_once += 1
        await self.happens(Place.LOOKING)
        self.looks_at_once -= 1
        if truth.hidden is not None:
            raise CallRefused(truth.hidden)
        impact = replace(IMPACT, resource=self._resource(), money=Money(arguments.amount, arguments.currency))
        return Inspection(impact, Verdict(Layer.BUSINESS, truth.refusal) if truth.refusal else None)

    async def is_sent(self, arguments: RefundArguments, dispatch: Dispatch) -> Effect:
        act = self.acts[dispatch.operation_id]
        self.witness.is_sent(act, arguments.model_dump(), dispatch, TICKET.get())
        try:
            return self.shop.take(dispatch, self.fate)
        finally:
            await self.happens(Place.SENDING)

    async def is_looked_up(self, dispatch: Dispatch) -> Effect | None:
        await self.happens(Place.LOOKING_UP)
        return self.shop.find(dispatch)

    def is_read(self, arguments: OrderArguments, admit: Admit) -> Mapping[str, Any]:
        self.witness.is_read(arguments.order_id)
        if self.witness.truth.readers_ask:
            admit(self._resource())
        return ORDER_DATA

    def _resource(self) -> Resource:
        truth = self.witness.truth
        return replace(IMPACT.resource, owner_tenant=truth.owner, version=str(truth.version))
