"""Judged turns, as the doors hand them to the inbox."""

import uuid
from dataclasses import replace
from typing import Any

from adapters.intake.judging import judge
from adapters.intake.ports import Turn
from worker import wiring
from workflows.domain.catalog import Catalog
from workflows.domain.principal import Principal
from workflows.domain.proposal import Proposal

CATALOG = wiring.catalog(["adapters.tools.payments"])
CALLER = Principal("tenant-a", "user-17", frozenset({"support"}), agent="support-agent")
REFUND = {"order_id": "O-17", "quote_id": "qt-301", "quote_version": 1, "amount": 12_000, "currency": "KRW"}


def fresh(word: str) -> str:
    """An id that no other test uses."""
    return f"{word}-{uuid.uuid4().hex[:16]}"


def refund(call_id: str = "call-1", **changes: Any) -> Proposal:
    return Proposal(call_id, "refund_payment", REFUND | changes)


def lookup(call_id: str = "call-1", order_id: str = "O-17") -> Proposal:
    return Proposal(call_id, "get_order", {"order_id": order_id})


def turn_of(*proposals: Proposal, request_id: str = "", caller: Principal = CALLER, catalog: Catalog = CATALOG) -> Turn:
    """The proposals of one response, judged; under a request id of their own unless told otherwise."""
    calls = [judge(proposal, position, caller, catalog) for position, proposal in enumerate(proposals)]
    return Turn(caller, "anthropic-messages", request_id or fresh("request"), calls)


def catalog_in_which(tool: str, **changed: Any) -> Catalog:
    """The catalog after a release that has changed one tool's contract."""
    operator = replace(CALLER, roles=frozenset({"support"}))
    contracts = CATALOG.offered(operator)
    return Catalog(replace(each, **changed) if each.name == tool else each for each in contracts)
