"""Examples of what the back office's API takes and answers; a test holds each to the schema beside which it stands."""

from typing import Any

from pydantic import ConfigDict

Json = dict[str, Any]

HASH = "3f9a1c2290be77aa3f9a1c2290be77aa3f9a1c2290be77aa3f9a1c2290be77aa"
MONEY: Json = {"minor_units": 12000, "currency": "KRW"}
RESOURCE: Json = {"kind": "order", "id": "O-17", "owner_tenant": "tenant-a", "version": "v7"}

LINE: Json = {
    "operation_id": "op_5f0c",
    "tool": "refund_payment",
    "action": "Refund a payment",
    "resource": RESOURCE,
    "money": MONEY,
    "state": "manual_review",
    "code": None,
    "waiting_for": "an operator",
    "requester": "user-17",
    "agent": "support-agent",
    "created_at": "2026-03-02T11:20:00Z",
    "updated_at": "2026-03-02T11:58:00Z",
    "writes": True,
}

IMPACT: Json = {
    "action": "Refund a payment",
    "resource": RESOURCE,
    "money": MONEY,
    "count": 1,
    "reversible": False,
    "facts": [{"label": "Still refundable", "value": "", "money": {"minor_units": 42000, "currency": "KRW"}}],
    "items": [],
}

VOTE: Json = {
    "decision_id": "41",
    "approver": "approver-1",
    "approver_name": "Refund approver",
    "choice": "approve",
    "reason": "Seen the parcel.",
    "at": "2026-03-02T12:00:00Z",
}

ASKED: Json = {
    "approval_id": "ap_19be",
    "operation_id": "op_5f0c",
    "revision": 1,
    "intent_hash": HASH,
    "state": "pending",
    "resource_version": "v7",
    "policy_version": "2026-11",
    "approver_role": "approver:refunds",
    "quorum": 1,
    "asked_at": "2026-03-02T11:42:00Z",
    "expires_at": "2026-03-04T12:00:00Z",
    "tool": "refund_payment",
    "tool_version": "2",
    "why": "The amount is above what may be moved unasked.",
    "impact": IMPACT,
    "arguments": [{"label": "order_id", "value": "O-17", "money": None}],
    "given": [],
    "requester": {"tenant": "tenant-a", "subject": "user-17", "name": "", "agent": "support-agent"},
    "votes": [],
    "earlier": None,
    "history": [
        {"at": "2026-03-02T11:42:00Z", "actor": "executor", "what": "approval.asked", "revision": 1},
    ],
    "viewer": {"may_act": True, "refusal": None},
}

APPROVAL_LINE: Json = {
    "approval_id": "ap_19be",
    "tool": "refund_payment",
    "action": "Refund a payment",
    "resource": RESOURCE,
    "money": MONEY,
    "count": 1,
    "reversible": False,
    "requester": "user-17",
    "agent": "support-agent",
    "asked_at": "2026-03-02T11:42:00Z",
    "expires_at": "2026-03-04T12:00:00Z",
    "votes": 0,
    "quorum": 1,
}

OPERATION: Json = {
    **LINE,
    "tool_version": "2",
    "policy_version": "2026-11",
    "intent_hash": HASH,
    "idempotency_key": "key-5f0c",
    "sends": 1,
    "generation": 1,
    "reference": None,
    "impact": IMPACT,
    "verdicts": [{"layer": "schema", "code": None}, {"layer": "risk", "code": "approval_required"}],
    "timeline": [{"at": "2026-03-02T11:20:00Z", "actor": "support-agent", "what": "proposed", "detail": ""}],
    "evidence": [{"label": "Outcome", "value": "unknown", "money": None}],
    "approvals": [{"approval_id": "ap_19be", "revision": 1, "state": "consumed"}],
    "items": [],
    "words": [],
    "viewer": {"may_act": True, "refusal": None},
}

STUCK: Json = {
    "total": 1,
    "groups": [
        {
            "why": "manual_review",
            "total": 1,
            "sums": [MONEY],
            "operations": [{**LINE, "since": "2026-03-02T11:58:00Z", "approval_id": "", "expires_at": None}],
        }
    ],
    "messages": None,
    "notices": None,
}


def example(*values: Json) -> ConfigDict:
    """The configuration of a model that has these examples."""
    return ConfigDict(json_schema_extra={"examples": list(values)})


def told(code: str, status: int, title: str, **more: Any) -> Json:
    """A problem document."""
    return {"type": f"urn:onceward:problem:{code}", "title": title, "status": status, "code": code, **more}
