"""Judged turns, as the doors hand them to the inbox."""

import uuid
from dataclasses import dataclass, replace
from typing import Any

from adapters.intake.judging import judge
from adapters.intake.ports import Turn
from worker import wiring
from worker.settings import ToolNames
from workflows.domain.catalog import Catalog
from workflows.domain.contract import Contract
from workflows.domain.impact import Resource
from workflows.domain.principal import Principal
from workflows.domain.proposal import Proposal

NAMES = ToolNames(tools=("adapters.tools.payments", "adapters.tools.ledger"), policy_file=None)
CATALOG = wiring.catalog(NAMES)
AUTHORIZER = wiring.authorizer(NAMES)
CALLER = Principal("tenant-a", "user-17", frozenset({"support"}), agent="support-agent")
REFUND = {"order_id": "O-17", "quote_id": "qt-301", "quote_version": 1, "amount": 12_000, "currency": "KRW"}


@dataclass
class ThisTest:
    """What is another in each test; set by a fixture around it."""

    order_id: str = "O-17"


THIS_TEST = ThisTest()


def fresh(word: str) -> str:
    """An id that no other test uses."""
    return f"{word}-{uuid.uuid4().hex[:16]}"


def refund(call_id: str = "call-1", **changes: Any) -> Proposal:
    """The refund of this test's order: twice in one test it is one act, and no other test's."""
    return Proposal(call_id, "refund_payment", REFUND | {"order_id": THIS_TEST.order_id} | changes)


def lookup(call_id: str = "call-1", order_id: str = "O-17") -> Proposal:
    return Proposal(call_id, "get_order", {"order_id": order_id})


def turn_of(
    *proposals: Proposal,
    request_id: str = "",
    lineage: str = "",
    caller: Principal = CALLER,
    catalog: Catalog = CATALOG,
) -> Turn:
    """The proposals of one response, judged; under a request id of their own unless told otherwise."""
    calls = [judge(proposal, position, caller, catalog) for position, proposal in enumerate(proposals)]
    return Turn(caller, "anthropic-messages", request_id or fresh("request"), calls, lineage or fresh("lineage"))


def catalog_in_which(tool: str, **changed: Any) -> Catalog:
    """The catalog after a release that has changed one tool's contract."""
    contracts = [replace(each, **changed) if each.name == tool else each for each in CATALOG.all()]
    return Catalog(contracts, AUTHORIZER)


class NobodyIsOffered:
    """A policy that says no to everything."""

    def offers(self, principal: Principal, contract: Contract) -> bool:
        return False

    def permits(self, principal: Principal, contract: Contract, resource: Resource) -> bool:
        return False


class OthersObjectsAreTheirs:
    """A policy that shows everybody every tool and lets nobody near an object."""

    def offers(self, principal: Principal, contract: Contract) -> bool:
        return True

    def permits(self, principal: Principal, contract: Contract, resource: Resource) -> bool:
        return False


CLOSED_CATALOG = Catalog(CATALOG.all(), NobodyIsOffered())
"""The catalog after everybody's tools were taken away."""
