"""The example of a bridge passes on what is genuine, once, in words for people."""

import json
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from standardwebhooks.webhooks import Webhook

from examples.webhook_bridge import LARGEST_BODY, SENTENCES, app, line
from tests.support.listener import OLD_SECRET, SECRET
from workflows.domain.notice import NoticeType

DATA: dict[str, Any] = {
    "operation_id": "op_1",
    "tenant": "tenant-a",
    "tool": "refund_payment",
    "state": "awaiting_approval",
    "requester": "user-17",
    "approval": {"approval_id": "ap_1", "deadline": "2026-12-03T12:00:00+00:00"},
    "amount": {"minor_units": 1_250, "currency": "USD"},
    "link": "https://onceward.example.test/back-office/approvals/ap_1",
}
ASKED: dict[str, Any] = {"type": "approval.asked", "timestamp": "2026-11-30T12:00:00+00:00", "data": DATA}


def signed(event: Any, event_id: str = "evt_1_1", secret: str = SECRET) -> tuple[str, dict[str, str]]:
    body, now = json.dumps(event), datetime.now(UTC)
    signature = Webhook(secret).sign(event_id, now, body)
    stamp = str(int(now.timestamp()))
    return body, {"webhook-id": event_id, "webhook-timestamp": stamp, "webhook-signature": signature}


async def post(told: list[str], *requests: tuple[str, dict[str, str]]) -> list[int]:
    transport = httpx2.ASGITransport(app(SECRET, told.append))
    async with httpx2.AsyncClient(transport=transport, base_url="http://bridge.test") as relay:
        return [(await relay.post("/", content=body, headers=headers)).status_code for body, headers in requests]


async def test_a_question_is_passed_on_with_its_amount_its_deadline_and_its_link() -> None:
    told: list[str] = []
    assert await post(told, signed(ASKED)) == [204]
    assert told == [
        "A person must decide: refund_payment 12.50 USD for user-17, until 2026-12-03T12:00:00+00:00. "
        "https://onceward.example.test/back-office/approvals/ap_1"
    ]


async def test_what_is_delivered_twice_is_passed_on_once() -> None:
    told: list[str] = []
    assert await post(told, signed(ASKED), signed(ASKED), signed(ASKED, "evt_1_2")) == [204, 204, 204]
    assert len(told) == 2


async def test_what_somebody_else_has_signed_is_refused() -> None:
    told: list[str] = []
    body, headers = signed(ASKED)
    forged = (body.replace("1250", "9999"), headers)
    nobody: tuple[str, dict[str, str]] = (body, {})
    large = (" " * (LARGEST_BODY + 1), headers)
    assert await post(told, signed(ASKED, secret=OLD_SECRET), forged, nobody, large) == [400] * 4
    assert told == []


@pytest.mark.parametrize("what", list(NoticeType))
def test_every_type_has_words(what: NoticeType) -> None:
    assert SENTENCES[what.value] in line({**ASKED, "type": what.value})


def test_a_type_of_a_later_release_is_told_by_its_name() -> None:
    assert line({**ASKED, "type": "approval.escalated"}).startswith("approval.escalated: refund_payment 12.50 USD")
