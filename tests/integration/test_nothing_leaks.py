"""Secrets and personal data are sent to every layer that can say no, and are found nowhere but where they must be."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, quote_plus

import httpx2
import pytest
from sqlalchemy import select

from adapters.downstream.payments import Payments
from adapters.postgres.tables import metadata, operations
from tests.support.onceward import ENDS, Onceward, Reply
from tests.support.proposals import fresh
from tests.support.responses import SURFACES, call, response_with
from tests.support.visitor import Forms, Visitor
from workflows.domain.effect import Dispatch, Outcome
from workflows.domain.errors import CallRefused

Json = dict[str, Any]

TOKEN = "sk-live-canary-7f3a91c2d4e8"
EMAIL = "canary.7f3a91c2@leak.example"
CARD = "4242-4242-7391-5268"
SQL = "'; DROP TABLE canary_7f3a91c2; --"
PATH = "/etc/canary/7f3a91c2.key"
CANARIES = (TOKEN, EMAIL, CARD, SQL, PATH)
LOOKS_LIKE_AN_ORDER = (TOKEN, CARD)
"""Those that fit the pattern of an order's id, so that they get past the schema."""

WHERE_IT_MAY_STAND = {
    ("operations", "arguments"),
    ("operations", "resource"),
    ("operations", "result"),
    ("approvals", "impact"),
    ("calls", "tool"),
    ("claims", "data"),
    ("decisions", "reason"),
    ("events", "resource"),
    ("events", "tool"),
}
"""Columns for what was validated, what the downstream answered, what an approver is shown, what a person wrote, which
object an act was about, and the name by which a model called."""


@dataclass
class Heard:
    """What was answered to whom, by the name of the attempt; `no` are refusals."""

    no: dict[str, str] = field(default_factory=dict)

    def refusal(self, name: str, answer: httpx2.Response) -> None:
        """A whole answer, headers included."""
        assert answer.status_code != 500, name
        self.no[name] = f"{sorted(answer.headers.multi_items())}{answer.text}"

    def result(self, name: str, reply: Reply) -> None:
        """An answered turn, without the model's own message that it returns and the names that the model chose."""
        assert reply.status == 200, (name, reply.body)
        told = [told["error"] for told in reply.told.values()]
        self.no[name] = json.dumps([told, [result["error"] for result in reply.body["results"]]], ensure_ascii=False)


class Leaks:
    """Hands the canaries in, everywhere."""

    def __init__(self, onceward: Onceward, heard: Heard) -> None:
        self.onceward, self.heard = onceward, heard
        self.token = onceward.token(tenant=fresh("tenant"))

    async def everywhere(self) -> None:
        for canary in CANARIES:
            await self.bodies(canary)
            await self.envelopes(canary)
            await self.arguments(canary)
            await self.credentials(canary)
            await self.addresses(canary)
            await self.forms(canary)
        for canary in LOOKS_LIKE_AN_ORDER:
            await self.business(canary)

    async def bodies(self, canary: str) -> None:
        good = {"surface": "anthropic-messages", "response": {}}
        raw = json.dumps(canary).encode()
        for name, body in {
            "no json": b'{"surface": ' + raw + b",}",
            "no utf-8": b'{"surface": "\xff' + raw[1:] + b"}",
            "doubled": b'{"a": ' + raw + b', "a": ' + raw + b"}",
            "no object": raw,
        }.items():
            self.heard.refusal(f"{name} {canary}", await self.onceward.post(body, self.token))
        for change in (
            {"surface": canary},
            {"surface": [canary]},
            {"response": canary},
            {"wait_seconds": canary},
            {"wait_for": canary},
            {"request_id": {canary: canary}},
            {canary: canary},
        ):
            self.heard.refusal(f"{change}", await self.onceward.post(good | change, self.token))

    async def envelopes(self, canary: str) -> None:
        block = {"type": "tool_use", "id": "call-1", "name": "get_order", "input": {}}
        changes: list[Json] = [
            {"stop_reason": canary},
            {"role": canary},
            {"type": canary},
            {"content": canary},
            {"content": [canary]},
            {"content": [block | {"type": canary}]},
            {"content": [block | {"id": "", "name": canary}]},
            {"content": [block | {"input": canary}]},
            {"content": [block, block]},
        ]
        for change in changes:
            response = response_with("anthropic-messages", call("get_order", {})) | change
            body = {"surface": "anthropic-messages", "response": response}
            self.heard.refusal(f"message {change}", await self.onceward.post(body, self.token))
        function = {"name": "get_order", "arguments": "{}"}
        for asked in (
            canary,
            [canary],
            [{"id": "call-1", "type": canary, "function": function}],
            [{"id": "call-1", "function": canary}],
            [{"id": "call-1", "function": function | {"arguments": {canary: canary}}}],
        ):
            choice = {"finish_reason": "tool_calls", "message": {"tool_calls": asked}}
            body = {"surface": "openai-chat", "response": {"id": fresh("response"), "choices": [choice]}}
            self.heard.refusal(f"completion {asked}", await self.onceward.post(body, self.token))

    async def arguments(self, canary: str) -> None:
        asked = {"id": "call-1", "function": {"name": "get_order", "arguments": json.dumps({"order_id": canary}) + ","}}
        choice = {"finish_reason": "tool_calls", "message": {"tool_calls": [asked]}}
        body = {"surface": "openai-chat", "response": {"id": fresh("response"), "choices": [choice]}}
        answer = await self.onceward.post(body, self.token)
        self.heard.result(f"arguments {canary}", Reply(answer.status_code, answer.json(), "openai-chat"))
        refund = {"order_id": "O-17", "quote_id": "qt-301", "quote_version": 1, "amount": 1, "currency": "KRW"}
        changes: list[Json] = [{name: {canary: canary}} for name in refund]
        changes += [{"order_id": f"{canary} x"}, {"currency": canary}, {"amount": canary}, {"note": canary}]
        for change in changes:
            for surface in SURFACES:
                reply = await self.turn("refund_payment", refund | change, surface=surface)
                self.heard.result(f"{surface} {change}", reply)
        self.heard.result(f"field {canary}", await self.turn("refund_payment", refund | {canary[:39] + "!": canary}))
        self.heard.result(f"tool {canary}", await self.turn(canary, {canary: canary}))

    async def credentials(self, canary: str) -> None:
        tokens = {
            "expired": self.onceward.token(subject=canary, tenant=canary, roles=(canary,), agent=canary, seconds=-3600),
            "audience": self.onceward.token(subject=canary, tenant=canary, audience=canary),
            "none": quote(canary),
        }
        for name, token in tokens.items():
            answer = await self.onceward.post({"surface": canary}, token)
            assert answer.status_code == 401
            self.heard.refusal(f"token {name} {canary}", answer)

    async def addresses(self, canary: str) -> None:
        own = {"Authorization": f"Bearer {self.token}"}
        for path in (f"/v1/operations/{quote(canary, safe='')}", f"/v1/tools?surface={quote_plus(canary)}"):
            self.heard.refusal(path, await self.onceward.door.get(path, headers=own))
        self.heard.refusal(f"route {canary}", await self.onceward.door.get(f"/{quote(canary, safe='')}", headers=own))
        async with self.onceward.visitor("approver-1") as visitor:
            for path in (
                f"/operations?state={quote_plus(canary)}",
                f"/operations?after={quote_plus(canary + ' ')}",
                f"/operations/{quote(canary, safe='')}",
                f"/approvals/{quote(canary, safe='')}",
                f"/sign-in/callback?state={quote_plus(canary)}&code={quote_plus(canary)}&error={quote_plus(canary)}",
                f"/{quote(canary, safe='')}",
            ):
                self.heard.refusal(path, await visitor.page(path))
        async with Visitor(self.onceward.stack.links.back_office) as stranger:
            page = await stranger.page(f"/sign-in?next={quote_plus(canary)}")
            self.heard.refusal(f"next {canary}", page)

    async def forms(self, canary: str) -> None:
        """Each field of the one form that decides, wrong; what the person typed as a reason may be given back."""
        arguments = await self.onceward.provider.refund_arguments(await self.onceward.provider.add_order())
        parked = await self.onceward.turn(call("refund_payment", arguments))
        await self.onceward.until(parked.operation_id, "awaiting_approval")
        (question,) = await self.onceward.approvals(parked.operation_id)
        async with self.onceward.visitor("approver-1") as visitor:
            page = await visitor.page(f"/approvals/{question.approval_id}")
            form = next(form for form in Forms.on(page.text) if form.action.endswith("/decision"))
            for change in ({"csrf": canary}, {"choice": canary, "reason": canary}, {"revision": canary},
                           {"intent_hash": canary}, {"x" * 3: canary, "csrf": ""}):  # fmt: skip
                fields = form.fields | {"choice": "approve"} | change
                self.heard.refusal(f"form {change}", await send(visitor, page, form.action, fields))
        assert await self.onceward.state(parked.operation_id) == "awaiting_approval"
        await self.onceward.deny(parked.operation_id, f"Not to be repeated: {canary}")
        await self.onceward.until(parked.operation_id, *ENDS)
        self.heard.refusal(f"denied {canary}", await self.onceward.operation(parked.operation_id))

    async def business(self, canary: str) -> None:
        """Absent, of another tenant, too much, and paid back: what passes the schema is looked up and answered."""
        absent = {
            "order_id": f"{canary}-absent",
            "quote_id": canary,
            "quote_version": 1,
            "amount": 1,
            "currency": "KRW",
        }
        self.heard.result(f"absent {canary}", await self.turn("refund_payment", absent))
        self.heard.result(f"absent read {canary}", await self.turn("get_order", {"order_id": f"{canary}-absent"}))
        await self.order(canary, merchant="tenant-a", customer=EMAIL)
        self.heard.result(f"foreign {canary}", await self.turn("get_order", {"order_id": canary}))
        quote_asked = {"order_id": canary, "amount": 10**9, "currency": "KRW"}
        self.heard.result(
            f"too much {canary}", await self.turn("prepare_refund", quote_asked, token=self.onceward.token())
        )
        arguments = await self.onceward.provider.refund_arguments(canary)
        wrong = await self.turn("refund_payment", arguments | {"amount": 11_999}, token=self.onceward.token())
        self.heard.result(f"other amount {canary}", wrong)
        parked = await self.onceward.turn(call("refund_payment", arguments))
        self.heard.result(f"parked {canary}", parked)
        await self.onceward.approve(parked.operation_id)
        assert await self.onceward.until(parked.operation_id, *ENDS) == "succeeded"

    async def order(self, order_id: str, *, merchant: str, customer: str) -> None:
        keys = self.onceward.stack.environment("provider")
        headers = {"Authorization": f"Bearer {keys['PAYMENTS_PROVIDER_ADMIN_KEY']}"}
        body = {"order_id": order_id, "merchant": merchant, "customer": customer, "currency": "KRW", "amount": 12_000}
        async with httpx2.AsyncClient(base_url=self.onceward.stack.url("provider"), headers=headers) as admin:
            (await admin.post("/_admin/orders", json=body)).raise_for_status()

    async def turn(self, tool: str, arguments: Json, *, surface: str = "anthropic-messages", token: str = "") -> Reply:
        own = {"surface": surface, "token": token or self.token, "conversation": fresh("conversation")}
        return await self.onceward.turn(call(tool, arguments), **own)


async def send(visitor: Visitor, page: httpx2.Response, action: str, fields: dict[str, str]) -> httpx2.Response:
    """A form of that page with other fields than it showed."""
    origin = f"{page.url.scheme}://{page.url.netloc.decode()}"
    return await visitor._client.post(f"{origin}{action}", data=fields, headers={"Origin": origin})


@pytest.fixture(scope="module")
async def heard(onceward: Onceward) -> Heard:
    """All that was answered after every canary was sent everywhere."""
    found = Heard()
    await Leaks(onceward, found).everywhere()
    return found


def canaries_in(text: str) -> list[str]:
    return [canary for canary in CANARIES if any(form in text for form in forms_of(canary))]


def forms_of(canary: str) -> Iterable[str]:
    """As it is, and as addresses, JSON and pages write it."""
    return {canary, quote(canary), quote(canary, safe=""), quote_plus(canary), canary.replace("'", "&#39;")}


async def test_no_refusal_repeats_what_was_sent(heard: Heard) -> None:
    assert len(heard.no) > 200
    assert {name: canaries_in(text) for name, text in heard.no.items() if canaries_in(text)} == {}


async def test_no_process_writes_a_canary_into_its_log(onceward: Onceward, heard: Heard) -> None:
    logs = {path.name: path.read_text(errors="replace") for path in onceward.stack.links.logs.iterdir()}
    assert {
        "api.log",
        "worker.log",
        "relay.log",
        "provider.log",
        "issuer.log",
        "postgres.log",
        "temporal.log",
    } <= logs.keys()
    assert {name: canaries_in(text) for name, text in logs.items() if canaries_in(text)} == {}


async def test_no_history_and_no_detail_of_a_workflow_holds_a_canary(onceward: Onceward, heard: Heard) -> None:
    kept: dict[str, bytes] = {}
    async for found in onceward.temporal.list_workflows():
        handle = onceward.temporal.get_workflow_handle(found.id, run_id=found.run_id)
        events = b"".join([event.SerializeToString() async for event in handle.fetch_history_events()])
        details = str(await handle.query("__temporal_workflow_metadata"))
        described = (await handle.describe()).raw_description.SerializeToString()
        kept[found.id] = events + described + details.encode()
    assert len(kept) >= 3 * len(LOOKS_LIKE_AN_ORDER) + len(CANARIES)
    assert [name for name, text in kept.items() if canaries_in(text.decode(errors="replace"))] == []


async def test_no_standalone_activity_holds_a_canary(onceward: Onceward, heard: Heard) -> None:
    kept: dict[str, bytes] = {}
    reads = select(operations.c.operation_id).where(operations.c.tool.in_(["get_order", "prepare_refund"]))
    for (operation_id,) in await onceward.rows(reads):
        described = await onceward.temporal.get_activity_handle(operation_id).describe(
            include_input=True, include_outcome=True
        )
        parts = (described.raw_info, described.raw_input, described.raw_outcome)
        kept[operation_id] = b"".join(part.SerializeToString() for part in parts if part is not None)
    assert len(kept) >= 3 * len(LOOKS_LIKE_AN_ORDER)
    assert [name for name, text in kept.items() if canaries_in(text.decode(errors="replace"))] == []


async def test_in_the_database_a_canary_stands_only_where_somebody_must_see_it(
    onceward: Onceward, heard: Heard
) -> None:
    found: set[tuple[str, str]] = set()
    for table in metadata.sorted_tables:
        for row in await onceward.rows(select(table)):
            values = row._asdict().items()
            found |= {(table.name, name) for name, value in values if canaries_in(json.dumps(value, default=str))}
    assert ("operations", "arguments") in found
    assert found <= WHERE_IT_MAY_STAND


@pytest.mark.parametrize("canary", CANARIES)
@pytest.mark.parametrize("status", [400, 404, 409, 422, 429, 500, 503])
async def test_the_providers_own_words_stay_at_the_providers(canary: str, status: int) -> None:
    body = {"error": {"code": canary, "message": canary}, canary: canary}
    wire = httpx2.MockTransport(lambda _: httpx2.Response(status, json=body, headers={"Retry-After": quote(canary)}))
    async with httpx2.AsyncClient(transport=wire, base_url="http://provider") as client:
        payments = Payments(client)
        dispatch = Dispatch("op-1", "tenant-a", "key-1", 1)
        effect = await payments.refund({"quote_id": "q", "quote_version": 1, "amount": 1, "currency": "KRW"}, dispatch)
        with pytest.raises(CallRefused) as refused:
            await payments.order("O-17")
    assert effect.outcome in (Outcome.REJECTED, Outcome.UNKNOWN)
    assert canaries_in(repr((effect, refused.value, refused.value.details, refused.value.code))) == []
