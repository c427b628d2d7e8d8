"""One refund with all that the gate asks about it, in memory: no network and no database.

Real are the contract, the strict parser, the envelopes, Cedar with the shipped policy, and every layer of the gate.
"""

import json
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from activities.inspection import Look, look
from activities.ports import Spendings
from adapters import strict_json
from adapters.envelopes import SURFACES
from adapters.intake.judging import judge
from adapters.intake.ports import Judged
from adapters.tools.payments import RefundPayment
from adapters.tools.toolbox import Toolbox
from tests.support.acts import proposed
from tests.support.benches import MemoryBench
from tests.support.proposals import AUTHORIZER, CALLER, CATALOG, REFUND
from tests.support.responses import call, response_with
from tests.support.steps import LENIENT
from workflows.domain.authorization import Authorizer
from workflows.domain.contract import Arguments, Contract
from workflows.domain.effect import Dispatch, Effect
from workflows.domain.errors import ResponseRefused
from workflows.domain.gate import first_refusal
from workflows.domain.operation import Operation
from workflows.domain.policy import Policy
from workflows.domain.principal import Principal
from workflows.domain.proposal import Proposal

Answer = TypeVar("Answer")

CONTRACT: Contract = RefundPayment.contract

ORDER_ID = "O-17"


class Shop:
    """A payments provider that answers at once, with what makes the refund pass unless something is changed."""

    def __init__(self, merchant: str = CALLER.tenant, quote_state: str = "open") -> None:
        payment = {"payment_id": "pay-17", "amount": 20_000, "refunded": 8_000, "refundable": 12_000, "version": 2}
        order = {"order_id": ORDER_ID, "customer": "user-17", "currency": "KRW", "version": 5, "payment": payment}
        bound = {"order_id": ORDER_ID, "payment_id": "pay-17", "payment_version": 2}
        quote = {"quote_id": "qt-301", "version": 1, "amount": 12_000, "currency": "KRW", "state": quote_state}
        self._order: dict[str, Any] = {**order, "merchant": merchant}
        self._quote: dict[str, Any] = {**quote, **bound, "merchant": merchant}

    async def order(self, order_id: str) -> dict[str, Any]:
        return self._order

    async def quote(self, quote_id: str) -> dict[str, Any]:
        return self._quote

    async def make_quote(self, order_id: str, amount: int, currency: str) -> dict[str, Any]:
        return self._quote

    async def refund(self, body: dict[str, Any], dispatch: Dispatch) -> Effect:
        raise AssertionError("nothing is sent while the gate is measured")

    async def find_refund(self, body: dict[str, Any], dispatch: Dispatch) -> Effect | None:
        raise AssertionError("nothing is looked up while the gate is measured")


def at_once(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Run what never waits, without an event loop, whose own cost is not the gate's."""
    try:
        work.send(None)
    except StopIteration as ended:
        answer: Answer = ended.value
        return answer
    raise AssertionError("something waited that should have answered at once")


def toolbox(shop: Shop) -> Toolbox:
    """The refund tool over this provider."""
    return Toolbox([RefundPayment(shop)])


def response_bytes(surface: str, tool: str = CONTRACT.name, stop: str = "", **changes: Any) -> bytes:
    """A model's response with one call of a tool, as the provider sent it."""
    return json.dumps(response_with(surface, call(tool, REFUND | changes), stop=stop)).encode()


@dataclass(frozen=True)
class Case:
    """A refund on its way through the gate; unless something is changed, it may be made without asking anybody."""

    surface: str
    response: bytes
    operation: Operation
    spendings: Spendings
    tools: Toolbox
    caller: Principal = CALLER
    authorizer: Authorizer = AUTHORIZER
    policy: Policy = LENIENT

    @classmethod
    def on(cls, surface: str) -> "Case":
        """The refund that passes, with the operation that comes of it."""
        memory = MemoryBench()
        operation = at_once(proposed(memory, ORDER_ID))
        case = cls(surface, response_bytes(surface), operation, memory.spendings, toolbox(Shop()))
        return case.answered_with(None)

    def answered_with(self, code: str | None) -> Self:
        """The same; raises ValueError when the gate answers otherwise, as something else would be measured then."""
        found = self.gate()
        if found != code:
            raise ValueError(f"the gate says {found}, not {code}")
        return self

    def plainly(self) -> Arguments:
        """What everybody pays: the standard JSON parser, and pydantic over the arguments."""
        return CONTRACT.arguments.model_validate(_plain_arguments(self.surface, json.loads(self.response)))

    def proposal(self) -> Proposal:
        """From the bytes to the one call in them."""
        (proposal,) = SURFACES[self.surface].read(strict_json.parse(self.response)).proposals
        return proposal

    def judged(self) -> Judged:
        """The door's part without the database: read and judged, with the two hashes that it registers."""
        judged = judge(self.proposal(), 0, self.caller, CATALOG)
        if judged.intent is not None:
            judged.intent.hash()
            judged.intent.act_hash()
        return judged

    def seen(self) -> Look:
        """The worker's look."""
        return at_once(look(self.operation, self.tools, self.spendings, self.authorizer, self.policy))

    def door(self) -> str | None:
        """The code that the door refuses with, None when it lets the call pass."""
        try:
            refusal = first_refusal(self.judged().verdicts)
        except strict_json.StrictJsonError as unfit:
            return unfit.code
        except ResponseRefused as refused:
            return refused.code
        return refusal.code if refusal else None

    def worker(self) -> str | None:
        """The code that the worker's part refuses with, None when the refund may be made now."""
        seen = self.seen()
        if seen.refusal is not None:
            return seen.refusal.code
        return None if seen.may_execute(approval_granted=False) else "approval_required"

    def gate(self) -> str | None:
        """Door and worker."""
        return self.door() or self.worker()


def _plain_arguments(surface: str, response: Mapping[str, Any]) -> Any:
    if surface == "openai-chat":
        return json.loads(response["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"])
    return next(block["input"] for block in response["content"] if block["type"] == "tool_use")
