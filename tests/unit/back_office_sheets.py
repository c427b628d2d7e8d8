"""Sheets for the pages to show."""

from dataclasses import replace
from datetime import timedelta

from adapters.http.back_office.lists import OperationLine
from adapters.http.back_office.ports import ApprovalReference, ApprovalSheet, OperationSheet, TimelineEntry
from tests.unit.memory_back_office import NOON
from workflows.domain.approval import Approval, ApprovalState, Binding
from workflows.domain.gate import Layer, Verdict
from workflows.domain.impact import Fact, Impact, Money, Resource
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal

HASH = "3f9a1c2290be77aa" * 4
OTHER_HASH = "b1d2e3f405162738" * 4

REFUND = Impact(
    resource=Resource("order", "order-1001", "tenant-a", "v7"),
    action="Refund a payment",
    money=Money(12000, "KRW"),
    reversible=False,
    facts=(
        Fact("Paid", "₩50,000"),
        Fact("Already refunded", "₩8,000"),
        Fact("Still refundable", "₩42,000"),
        Fact("Payment", "payment-77, card"),
    ),
)

REQUESTER = Principal("tenant-a", "support-7", frozenset({"support"}), agent="support-agent", name="Support")


def approval_sheet(approval_id: str = "approval-1", *, quorum: int = 1, impact: Impact = REFUND) -> ApprovalSheet:
    return ApprovalSheet(
        approval=Approval(
            approval_id=approval_id,
            operation_id="operation-1",
            revision=1,
            state=ApprovalState.PENDING,
            binding=Binding(HASH, impact.resource.version, "policy-3"),
            approver_role="approver:refunds",
            quorum=quorum,
            expires_at=NOON + timedelta(days=2),
        ),
        tool="execute_refund",
        tool_version="2",
        impact=impact,
        arguments=(Fact("order_id", "order-1001"), Fact("reason", "Arrived damaged")),
        why="Money leaves and cannot be called back, so a refund approver decides.",
        requester=REQUESTER,
        asked_at=NOON - timedelta(minutes=18),
    )


def of_tenant(sheet: ApprovalSheet, tenant: str) -> ApprovalSheet:
    return replace(sheet, requester=replace(sheet.requester, tenant=tenant))


def operation_sheet(operation_id: str = "operation-1", state: State = State.UNCONFIRMED) -> OperationSheet:
    line = OperationLine(
        operation_id=operation_id,
        tool="execute_refund",
        action=REFUND.action,
        resource=REFUND.resource,
        money=REFUND.money,
        state=state,
        code="reconciliation_pending" if state is State.UNCONFIRMED else None,
        waiting_for="the next look at the payments provider" if state is State.UNCONFIRMED else "",
        requester="support-7",
        agent="support-agent",
        created_at=NOON - timedelta(minutes=40),
        updated_at=NOON - timedelta(minutes=2),
    )
    return OperationSheet(
        line=line,
        tool_version="2",
        policy_version="policy-3",
        intent_hash=HASH,
        idempotency_key=OTHER_HASH,
        sends=1,
        generation=2,
        reference="re_88421",
        impact=REFUND,
        verdicts=(
            *(Verdict(layer) for layer in (Layer.PARSE, Layer.SCHEMA, Layer.BUSINESS, Layer.AUTHORIZATION)),
            Verdict(Layer.RISK, "approval_required"),
        ),
        timeline=(
            TimelineEntry(NOON - timedelta(minutes=40), "support-agent for support-7", "Proposed"),
            TimelineEntry(NOON - timedelta(minutes=40), "gate", "Found to need a person", "approval_required"),
            TimelineEntry(NOON - timedelta(minutes=9), "approver-1", "Approved"),
            TimelineEntry(NOON - timedelta(minutes=9), "worker", "Claimed the effect", "generation 1"),
            TimelineEntry(NOON - timedelta(minutes=8), "worker", "Sent; no answer came in time", "timeout"),
            TimelineEntry(NOON - timedelta(minutes=2), "worker", "Looked it up: not there yet", "generation 2"),
        ),
        approvals=(ApprovalReference("approval-1", 1, ApprovalState.CONSUMED),),
    )
