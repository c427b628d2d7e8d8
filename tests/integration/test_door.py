"""The agents' door over the whole running stack: what goes through, what does not, and what is counted either way."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import func, select

from adapters.http.doors import LONGEST_BODY
from adapters.postgres.tables import calls, claims, outbox
from tests.support.onceward import ENDS, Onceward, Reply, Trace
from tests.support.proposals import CALLER, CATALOG, fresh
from tests.support.responses import SURFACES, call, response_with
from tests.support.waiting import until

Json = dict[str, Any]

WON = 12_000


@dataclass
class Shop:
    """A tenant that nobody else uses, with what it may ask. Nobody can approve for it: the people are of tenant-a."""

    onceward: Onceward
    tenant: str

    @property
    def token(self) -> str:
        return self.onceward.token(tenant=self.tenant)

    async def order(self, amount: int = WON, currency: str = "KRW") -> str:
        return await self.onceward.provider.add_order(merchant=self.tenant, amount=amount, currency=currency)

    async def refund(self, **changes: Any) -> Json:
        """The arguments of a refund that would go through, but for `changes`."""
        return await self.onceward.provider.refund_arguments(await self.order()) | changes

    async def ask(self, arguments: Json, tool: str = "refund_payment", **more: Any) -> Reply:
        return await self.onceward.turn(call(tool, arguments), token=self.token, **more)


@pytest.fixture
def shop(onceward: Onceward) -> Shop:
    return Shop(onceward, fresh("tenant"))


@pytest.fixture
async def nothing_is_sent(onceward: Onceward) -> AsyncIterator[None]:
    """No refund request reaches the provider while the test runs."""
    before = await onceward.provider.posts()
    yield
    assert await onceward.provider.posts() == before


# -- the way through


@pytest.mark.parametrize("surface", SURFACES)
async def test_a_refund_goes_from_the_question_to_the_receipt(onceward: Onceward, surface: str) -> None:
    order_id = await onceward.provider.add_order()
    look = await onceward.turn(call("get_order", {"order_id": order_id}), surface=surface)
    assert look.only["data"]["refundable"] == WON
    quote_asked = {"order_id": order_id, "amount": WON, "currency": "KRW"}
    quote = (await onceward.turn(call("prepare_refund", quote_asked), surface=surface)).only["data"]
    assert quote["moves_money"] is False
    request_id = fresh("response")
    refund = call("refund_payment", quote_asked | {"quote_id": quote["quote_id"], "quote_version": quote["version"]})

    parked = await onceward.turn(refund, surface=surface, request_id=request_id)
    assert (parked.code, parked.only["status"], parked.only["final"]) == (
        "approval_required",
        "failed_retryable",
        False,
    )
    assert parked.body["complete"] is False
    assert "Do not issue it again" in parked.told["call-1"]["error"]["message"]
    assert await onceward.provider.effects(parked.operation_id) == 0
    assert await onceward.handler_calls(parked.operation_id) == 0

    page = await onceward.approve(parked.operation_id)
    assert page.status_code == 200
    done = await onceward.turn(refund, surface=surface, request_id=request_id, wait_for="end", wait_seconds=30)
    assert done.operation_id == parked.operation_id
    assert (done.only["status"], done.only["final"], done.only["replayed"]) == ("succeeded", True, True)
    assert done.told["call-1"]["data"] == done.only["data"]
    ledger = await onceward.provider.ledger(parked.operation_id)
    assert [made["refund_id"] for made in ledger["refunds"]] == [done.only["data"]["refund_id"]]
    assert len(ledger["posts"]) == 1
    assert await onceward.handler_calls(parked.operation_id) == 1
    (question,) = await onceward.approvals(parked.operation_id)
    assert question.state == "consumed"
    assert (await onceward.provider.order(order_id))["payment"]["refunded"] == WON


@pytest.mark.parametrize("surface", SURFACES)
async def test_three_reads_at_once_are_answered_by_call_id(shop: Shop, surface: str) -> None:
    amounts = {"call-c": 1_000, "call-a": 2_000, "call-b": 3_000}
    asked = [call("get_order", {"order_id": await shop.order(amount)}, name) for name, amount in amounts.items()]
    reply = await shop.onceward.turn(*asked, surface=surface, token=shop.token)
    assert reply.body["complete"] is True
    assert [result["call_id"] for result in reply.body["results"]] == list(amounts)
    assert {name: result["data"]["paid"] for name, result in reply.results.items()} == amounts
    assert {name: told["data"]["paid"] for name, told in reply.told.items()} == amounts
    assert await shop.onceward.trace(shop.tenant) == Trace(operations=3, handler_calls=3)


async def test_a_refused_read_does_not_concern_its_siblings(shop: Shop) -> None:
    reply = await shop.onceward.turn(
        call("get_order", {"order_id": await shop.order()}, "good"),
        call("get_order", {"order_id": 17}, "odd"),
        call("get_order", {"order_id": fresh("O")}, "absent"),
        token=shop.token,
    )
    assert reply.results["good"]["status"] == "succeeded"
    assert reply.results["odd"]["error"]["code"] == "invalid_arguments"
    assert reply.results["absent"]["error"]["code"] == "not_found"


async def test_a_response_without_calls_is_answered_with_itself(shop: Shop) -> None:
    response = response_with("anthropic-messages", stop="end_turn")
    answer = await shop.onceward.post({"surface": "anthropic-messages", "response": response}, shop.token)
    assert answer.json()["results"] == []
    assert answer.json()["append"] == [{"role": "assistant", "content": response["content"]}]
    assert await shop.onceward.trace(shop.tenant) == Trace()


# -- again and again


async def test_a_redelivery_returns_the_same_operation_and_one_effect(onceward: Onceward) -> None:
    arguments = await onceward.provider.refund_arguments(await onceward.provider.add_order())
    request_id = fresh("response")
    first = await onceward.turn(call("refund_payment", arguments), request_id=request_id)
    await onceward.approve(first.operation_id)
    await onceward.until(first.operation_id, *ENDS)
    replies = [await onceward.turn(call("refund_payment", arguments), request_id=request_id) for _ in range(3)]
    assert {reply.operation_id for reply in replies} == {first.operation_id}
    assert [reply.only["replayed"] for reply in replies] == [True] * 3
    assert len({reply.only["data"]["refund_id"] for reply in replies}) == 1
    assert await onceward.provider.effects(first.operation_id) == 1
    assert await onceward.provider.posts(first.operation_id) == 1


async def test_twenty_deliveries_at_once_make_one_operation_and_one_effect(onceward: Onceward) -> None:
    arguments = await onceward.provider.refund_arguments(await onceward.provider.add_order())
    request_id = fresh("response")
    deliveries = [
        asyncio.create_task(
            onceward.turn(call("refund_payment", arguments), request_id=request_id, wait_for="end", wait_seconds=50)
        )
        for _ in range(20)
    ]
    (operation_id,) = await until(lambda: onceward.operations_of(request_id), lambda found: len(found) > 0)
    await onceward.approve(operation_id)
    replies = await asyncio.gather(*deliveries)
    assert {reply.operation_id for reply in replies} == {operation_id}
    assert {reply.only["status"] for reply in replies} == {"succeeded"}
    assert await onceward.operations_of(request_id) == [operation_id]
    assert await onceward.provider.effects(operation_id) == 1
    assert await onceward.provider.posts(operation_id) == 1
    counted = select(calls.c.deliveries).where(calls.c.request_id == request_id)
    assert [row.deliveries for row in await onceward.rows(counted)] == [20]
    starts = select(outbox).where(outbox.c.operation_id == operation_id, outbox.c.kind == "start")
    assert len(await onceward.rows(starts)) == 1


@pytest.mark.usefixtures("nothing_is_sent")
async def test_another_content_under_the_same_ids_is_a_conflict(shop: Shop) -> None:
    request_id = fresh("response")
    arguments = await shop.refund()
    first = await shop.ask(arguments, request_id=request_id)
    other = await shop.ask(arguments | {"amount": WON - 1}, request_id=request_id)
    assert (other.code, other.only["operation_id"]) == ("idempotency_conflict", None)
    assert await shop.onceward.operations_of(request_id) == [first.operation_id]
    assert (await shop.ask(arguments, request_id=request_id)).operation_id == first.operation_id


async def test_a_request_id_of_the_callers_own_outranks_the_responses(shop: Shop) -> None:
    order = call("get_order", {"order_id": await shop.order()})
    body = {"surface": "anthropic-messages", "request_id": fresh("mine")}
    replies = [
        await shop.onceward.post(
            body | {"response": response_with("anthropic-messages", order, response_id=name)}, shop.token
        )
        for name in ("response-a", "response-b")
    ]
    first, second = (answer.json()["results"][0]["operation_id"] for answer in replies)
    assert first == second


# -- refused at the door: nothing begins


@pytest.mark.usefixtures("nothing_is_sent")
@pytest.mark.parametrize(
    ("change", "path", "code"),
    [
        ({"amount": "12000"}, "/amount", "invalid_type"),
        ({"amount": 0}, "/amount", "invalid_value"),
        ({"amount": 12000.5}, "/amount", "invalid_type"),
        ({"amount": True}, "/amount", "invalid_type"),
        ({"amount": None}, "/amount", "invalid_type"),
        ({"amount": 10**30}, "/amount", "invalid_value"),
        ({"currency": "won"}, "/currency", "invalid_value"),
        ({"order_id": "O 17; --"}, "/order_id", "invalid_value"),
        ({"tip": 1}, "/tip", "unknown_field"),
        ({"approved_by": "approver-1"}, "/approved_by", "unknown_field"),
    ],
    ids=str,
)
async def test_arguments_that_do_not_fit_begin_nothing(shop: Shop, change: Json, path: str, code: str) -> None:
    reply = await shop.ask(await shop.refund(**change))
    assert (reply.only["status"], reply.code, reply.only["operation_id"]) == (
        "failed_terminal",
        "invalid_arguments",
        None,
    )
    assert [(detail["path"], detail["code"]) for detail in reply.only["error"]["details"]] == [(path, code)]
    assert await shop.onceward.trace(shop.tenant) == Trace()


@pytest.mark.usefixtures("nothing_is_sent")
async def test_an_unknown_tool_begins_nothing(shop: Shop) -> None:
    reply = await shop.ask({"order_id": "O-17"}, tool="delete_everything")
    assert reply.code == "unknown_tool"
    assert await shop.onceward.trace(shop.tenant) == Trace()


@pytest.mark.usefixtures("nothing_is_sent")
@pytest.mark.parametrize("roles", [(), ("viewer",), ("approver:refunds",)], ids=str)
async def test_a_tool_that_was_not_offered_begins_nothing(shop: Shop, roles: tuple[str, ...]) -> None:
    token = shop.onceward.token(tenant=shop.tenant, roles=roles)
    reply = await shop.onceward.turn(call("refund_payment", await shop.refund()), token=token)
    assert reply.code == "tool_not_allowed"
    assert await shop.onceward.trace(shop.tenant) == Trace()


@pytest.mark.usefixtures("nothing_is_sent")
async def test_arguments_that_are_no_json_begin_nothing(shop: Shop) -> None:
    response = response_with("openai-chat", call("refund_payment", {}), response_id=fresh("response"))
    function = response["choices"][0]["message"]["tool_calls"][0]["function"]
    function["arguments"] = '{"order_id": "O-17", "order_id": "O-21"}'
    answer = await shop.onceward.post({"surface": "openai-chat", "response": response}, shop.token)
    assert answer.json()["results"][0]["error"]["code"] == "invalid_arguments_json"
    assert await shop.onceward.trace(shop.tenant) == Trace()


# -- refused on the current state: a workflow looks, and nobody is asked


@pytest.mark.usefixtures("nothing_is_sent")
async def test_the_order_of_another_tenant_looks_absent(shop: Shop) -> None:
    arguments = {"order_id": "O-21", "quote_id": "qt-301", "quote_version": 1, "amount": WON, "currency": "KRW"}
    await assert_refused_after_a_look(shop, await shop.ask(arguments), "not_found")
    foreign = await shop.onceward.provider.refund_arguments("O-21")
    await assert_refused(shop, await shop.ask(foreign), "not_found")


@pytest.mark.usefixtures("nothing_is_sent")
async def test_the_order_of_another_tenant_cannot_be_read_either(shop: Shop) -> None:
    reply = await shop.ask({"order_id": "O-21"}, tool="get_order")
    assert (reply.code, reply.only["status"]) == ("not_found", "failed_terminal")
    quote = await shop.ask({"order_id": "O-21", "amount": 1, "currency": "KRW"}, tool="prepare_refund")
    assert quote.code == "not_found"


async def too_much(shop: Shop) -> Json:
    """The payment was given back in part since the quote was made, under a quote that follows it."""
    order_id = await shop.order()
    arguments = await shop.onceward.provider.refund_arguments(order_id, WON)
    return arguments | {"amount": WON + 1}


async def wrong_currency(shop: Shop) -> Json:
    return await shop.refund(currency="USD")


async def other_amount(shop: Shop) -> Json:
    return await shop.refund(amount=WON - 1)


async def quote_of_another_order(shop: Shop) -> Json:
    return await shop.refund(order_id=await shop.order())


async def other_version(shop: Shop) -> Json:
    return await shop.refund(quote_version=2)


async def expired_quote(shop: Shop) -> Json:
    async with shop.onceward.provider.switched(quote_seconds=0):
        return await shop.refund()


async def payment_replaced(shop: Shop) -> Json:
    arguments = await shop.refund()
    await shop.onceward.provider.replace_payment(arguments["order_id"])
    return arguments


async def absent_quote(shop: Shop) -> Json:
    return await shop.refund(quote_id="qt-999999")


async def absent_order(shop: Shop) -> Json:
    return await shop.refund(order_id=fresh("O"))


@pytest.mark.usefixtures("nothing_is_sent")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (too_much, "amount_mismatch"),
        (other_amount, "amount_mismatch"),
        (wrong_currency, "currency_mismatch"),
        (quote_of_another_order, "quote_changed"),
        (other_version, "quote_changed"),
        (payment_replaced, "quote_changed"),
        (expired_quote, "quote_expired"),
        (absent_quote, "not_found"),
        (absent_order, "not_found"),
    ],
)
async def test_what_the_business_refuses_is_neither_asked_about_nor_sent(
    shop: Shop, arguments: Callable[[Shop], Awaitable[Json]], code: str
) -> None:
    await assert_refused_after_a_look(shop, await shop.ask(await arguments(shop)), code)


@pytest.mark.usefixtures("nothing_is_sent")
@pytest.mark.parametrize(
    ("change", "code"),
    [({"amount": WON + 1}, "refund_amount_exceeded"), ({"currency": "USD"}, "currency_mismatch")],
    ids=str,
)
async def test_an_impossible_quote_is_refused(shop: Shop, change: Json, code: str) -> None:
    asked = {"order_id": await shop.order(), "amount": WON, "currency": "KRW"} | change
    reply = await shop.ask(asked, tool="prepare_refund")
    assert (reply.code, reply.only["status"]) == (code, "failed_terminal")


async def test_more_than_is_left_to_refund_is_refused(onceward: Onceward) -> None:
    """Two quotes for the whole of one payment; under reusable quotes only the amount stands in the second one's way."""
    order_id = await onceward.provider.add_order()
    async with onceward.provider.switched(quote_single_use=False):
        arguments = await onceward.provider.refund_arguments(order_id)
        first = await onceward.turn(call("refund_payment", arguments))
        await onceward.approve(first.operation_id)
        assert await onceward.until(first.operation_id, *ENDS) == "succeeded"
        second = await onceward.turn(call("refund_payment", arguments))
    assert second.code == "refund_amount_exceeded"
    assert await onceward.approvals(second.operation_id) == []
    assert await onceward.handler_calls(second.operation_id) == 0
    assert await onceward.provider.posts(second.operation_id) == 0


# -- refused by people, or after them


@pytest.mark.usefixtures("nothing_is_sent")
async def test_a_denial_with_its_reason_ends_it(onceward: Onceward) -> None:
    arguments = await onceward.provider.refund_arguments(await onceward.provider.add_order())
    request_id = fresh("response")
    parked = await onceward.turn(call("refund_payment", arguments), request_id=request_id)
    page = await onceward.deny(parked.operation_id, "Not his order.")
    assert page.status_code == 200
    ended = await onceward.turn(call("refund_payment", arguments), request_id=request_id, wait_for="end")
    assert (ended.code, ended.only["final"], ended.only["status"]) == ("approval_denied", True, "failed_terminal")
    assert await onceward.handler_calls(parked.operation_id) == 0
    assert "Not his order." not in json.dumps(ended.body)


@pytest.mark.usefixtures("nothing_is_sent")
async def test_a_denial_without_a_reason_decides_nothing(onceward: Onceward) -> None:
    arguments = await onceward.provider.refund_arguments(await onceward.provider.add_order())
    parked = await onceward.turn(call("refund_payment", arguments))
    page = await onceward.deny(parked.operation_id, "")
    assert page.status_code == 422
    assert await onceward.state(parked.operation_id) == "awaiting_approval"


@pytest.mark.usefixtures("nothing_is_sent")
@pytest.mark.parametrize("person", ["operator-1", "viewer-1", "approver-b"])
async def test_who_may_not_decide_is_not_even_shown_the_form(onceward: Onceward, person: str) -> None:
    arguments = await onceward.provider.refund_arguments(await onceward.provider.add_order())
    parked = await onceward.turn(call("refund_payment", arguments))
    await onceward.until(parked.operation_id, "awaiting_approval")
    (question,) = await onceward.approvals(parked.operation_id)
    async with onceward.visitor(person) as visitor:
        page = await visitor.page(f"/approvals/{question.approval_id}")
    assert page.status_code == (404 if person == "approver-b" else 200)
    assert "/decision" not in page.text
    assert (question.state, await onceward.state(parked.operation_id)) == ("pending", "awaiting_approval")


@pytest.mark.usefixtures("nothing_is_sent")
async def test_an_approval_is_worth_nothing_once_the_payment_was_replaced(onceward: Onceward) -> None:
    arguments = await onceward.provider.refund_arguments(await onceward.provider.add_order())
    parked = await onceward.turn(call("refund_payment", arguments))
    await onceward.until(parked.operation_id, "awaiting_approval")
    await onceward.provider.replace_payment(arguments["order_id"])
    await onceward.approve(parked.operation_id)
    assert await onceward.until(parked.operation_id, *ENDS) == "failed_terminal"
    told = (await onceward.operation(parked.operation_id)).json()
    assert told["error"]["code"] == "approval_stale"
    (question,) = await onceward.approvals(parked.operation_id)
    assert question.state == "void"
    assert await onceward.provider.effects(parked.operation_id) == 0
    assert await onceward.handler_calls(parked.operation_id) == 0
    claimed = select(func.count()).select_from(claims).where(claims.c.operation_id == parked.operation_id)
    assert (await onceward.rows(claimed))[0][0] == 0


async def test_a_second_person_who_decides_is_told_that_it_is_done(onceward: Onceward) -> None:
    arguments = await onceward.provider.refund_arguments(await onceward.provider.add_order())
    parked = await onceward.turn(call("refund_payment", arguments))
    await onceward.until(parked.operation_id, "awaiting_approval")
    (question,) = await onceward.approvals(parked.operation_id)
    async with onceward.visitor("approver-1") as first, onceward.visitor("approver-2") as second:
        pages = await asyncio.gather(
            first.decide(question.approval_id, "approve"), second.decide(question.approval_id, "approve")
        )
    assert sorted(page.status_code for page in pages) == [200, 409]
    assert await onceward.until(parked.operation_id, *ENDS) == "succeeded"
    assert await onceward.provider.effects(parked.operation_id) == 1


# -- responses that are unfit as a whole


@pytest.mark.usefixtures("nothing_is_sent")
@pytest.mark.parametrize(
    ("surface", "stop", "code"),
    [
        ("anthropic-messages", "max_tokens", "incomplete_response"),
        ("anthropic-messages", "refusal", "refused_response"),
        ("anthropic-messages", "end_turn", "unknown_stop_signal"),
        ("anthropic-messages", "soon_to_be_invented", "unknown_stop_signal"),
        ("openai-chat", "length", "incomplete_response"),
        ("openai-chat", "content_filter", "refused_response"),
    ],
)
async def test_a_response_that_did_not_end_by_itself_registers_nothing(
    shop: Shop, surface: str, stop: str, code: str
) -> None:
    request_id = fresh("response")
    reply = await shop.ask(await shop.refund(), surface=surface, stop=stop, request_id=request_id)
    assert_problem(reply, 422, code)
    assert reply.body["next_action"]
    await assert_not_registered(shop, request_id)


@pytest.mark.usefixtures("nothing_is_sent")
async def test_a_paused_response_is_answered_with_itself_and_registers_nothing(shop: Shop) -> None:
    request_id = fresh("response")
    asked = call("refund_payment", await shop.refund())
    response = response_with("anthropic-messages", asked, response_id=request_id, stop="pause_turn")
    answer = await shop.onceward.post({"surface": "anthropic-messages", "response": response}, shop.token)
    assert answer.status_code == 200
    assert answer.json()["results"] == []
    assert answer.json()["append"] == [{"role": "assistant", "content": response["content"]}]
    await assert_not_registered(shop, request_id)


@pytest.mark.usefixtures("nothing_is_sent")
@pytest.mark.parametrize("surface", SURFACES)
async def test_two_calls_under_one_id_register_nothing(shop: Shop, surface: str) -> None:
    request_id = fresh("response")
    order = {"order_id": await shop.order()}
    reply = await shop.onceward.turn(
        call("get_order", order, "same"),
        call("get_order", order, "same"),
        surface=surface,
        token=shop.token,
        request_id=request_id,
    )
    assert_problem(reply, 422, "duplicate_call_id")
    await assert_not_registered(shop, request_id)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"surface": "carrier-pigeon"}, "unknown_surface"),
        ({"response": []}, "malformed_envelope"),
        ({"response": {"content": [], "stop_reason": "end_turn"}}, "missing_request_id"),
    ],
    ids=["unknown surface", "no envelope", "no id"],
)
async def test_an_unfit_envelope_is_a_problem(shop: Shop, change: Json, code: str) -> None:
    body = {"surface": "anthropic-messages", "response": response_with("anthropic-messages", stop="end_turn")} | change
    answer = await shop.onceward.post(body, shop.token)
    assert_problem(Reply(answer.status_code, answer.json(), ""), 422, code)


# -- bodies and credentials


@pytest.mark.parametrize(
    ("body", "status", "code", "fault"),
    [
        (b'{"surface": "a", "surface": "b", "response": {}}', 400, "invalid_json", "duplicate_key"),
        (b'{"surface": "anthropic-messages", "response": {"id": "a\\u0000b"}}', 400, "invalid_json", "nul_character"),
        (b'{"surface": "anthropic-messages", "response": {"n": NaN}}', 400, "invalid_json", "non_finite_number"),
        (b'{"surface": "anthropic-messages"', 400, "invalid_json", "not_json"),
        (b"\xff\xfe", 400, "invalid_json", "not_utf8"),
        (b"", 400, "invalid_json", "not_json"),
        (b"[]", 422, "invalid_request", None),
        (b'{"response": {}}', 422, "invalid_request", None),
        (b'{"surface": "anthropic-messages", "response": {}, "wait": 1}', 422, "invalid_request", None),
        (b'{"surface": "anthropic-messages", "response": {}, "wait_seconds": 61}', 422, "invalid_request", None),
        (b'{"surface": "anthropic-messages", "response": {}, "wait_seconds": -1}', 422, "invalid_request", None),
        (b'{"surface": "anthropic-messages", "response": {}, "wait_seconds": 1e400}', 400, "invalid_json", None),
        (b'{"surface": "anthropic-messages", "response": {}, "request_id": ""}', 422, "invalid_request", None),
    ],
)
async def test_an_unfit_body_is_a_problem_that_repeats_nothing(
    shop: Shop, body: bytes, status: int, code: str, fault: str | None
) -> None:
    answer = await shop.onceward.post(body, shop.token)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    if fault is not None:
        assert [each["code"] for each in answer.json()["errors"]] == [fault]
    assert await shop.onceward.trace(shop.tenant) == Trace()


async def test_a_body_that_is_too_large_is_refused(shop: Shop) -> None:
    body = b'{"surface": "anthropic-messages", "response": "' + b"x" * LONGEST_BODY + b'"}'
    answer = await shop.onceward.post(body, shop.token)
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    assert answer.headers["content-type"] == "application/problem+json"


CREDENTIALS: dict[str, tuple[Callable[[Onceward], str], str]] = {
    "none": (lambda _: "", "missing_token"),
    "another scheme": (lambda onceward: f"Basic {onceward.token()}", "missing_token"),
    "nonsense": (lambda _: "Bearer nonsense", "invalid_token"),
    "expired": (lambda onceward: f"Bearer {onceward.token(seconds=-60)}", "expired_token"),
    "another audience": (lambda onceward: f"Bearer {onceward.token(audience='onceward-back-office')}", "invalid_token"),
    "another issuer": (lambda onceward: f"Bearer {onceward.token(issuer='https://issuer.test')}", "invalid_token"),
    "tampered": (lambda onceward: f"Bearer {tampered(onceward.token())}", "invalid_token"),
}


def tampered(token: str) -> str:
    head, body, signature = token.split(".")
    return f"{head}.{body}.{signature[:-8]}{signature[-8:].swapcase()}"


@pytest.mark.parametrize(("credential", "code"), CREDENTIALS.values(), ids=CREDENTIALS.keys())
@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/v1/turns"), ("GET", "/v1/operations/op_1"), ("GET", "/v1/tools")]
)
async def test_without_a_good_token_every_route_refuses(
    onceward: Onceward, method: str, path: str, credential: Callable[[Onceward], str], code: str
) -> None:
    authorization = credential(onceward)
    headers = {"Authorization": authorization} if authorization else {}
    answer = await onceward.door.request(method, path, params={"surface": "openai-chat"}, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["www-authenticate"].startswith('Bearer realm="onceward"')


LONG = "".join(f"{number:x}" for number in range(3000))
"""Far longer than any provider's id, and nothing in it repeats enough to be stored short."""


@pytest.mark.parametrize("surface", SURFACES)
async def test_a_call_id_of_any_length_is_answered_or_refused(shop: Shop, surface: str) -> None:
    order = call("get_order", {"order_id": await shop.order()}, LONG)
    reply = await shop.onceward.turn(order, surface=surface, token=shop.token)
    assert reply.status in (200, 422)


async def test_a_response_id_of_any_length_is_answered_or_refused(shop: Shop) -> None:
    reply = await shop.ask({"order_id": await shop.order()}, tool="get_order", request_id=LONG)
    assert reply.status in (200, 422)


@pytest.mark.parametrize("seconds", [0.05, 0, 1])
async def test_a_patience_may_be_a_fraction(shop: Shop, seconds: float) -> None:
    reply = await shop.ask({"order_id": await shop.order()}, tool="get_order", wait_seconds=seconds)
    assert reply.status == 200


@pytest.mark.parametrize("patience", ["5", None, [], {}, True, "soon"])
async def test_an_odd_patience_is_refused(shop: Shop, patience: Any) -> None:
    reply = await shop.ask({"order_id": "O-17"}, tool="get_order", wait_seconds=patience)
    assert (reply.status, reply.body["code"]) == (422, "invalid_request")


@pytest.mark.parametrize("name", ["%00", "op_%00", "%ff%fe", "a" * 5000, "..%2f..", "%F0%9F%92%A9"])
async def test_an_odd_operation_id_is_absent(onceward: Onceward, name: str) -> None:
    answer = await onceward.operation(name)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("query", ["after=%00", "after=op_invented", "after=%ff", "state=invented", "state=%00"])
async def test_an_odd_address_in_the_back_office_is_no_surprise(onceward: Onceward, query: str) -> None:
    async with onceward.visitor("viewer-1") as visitor:
        assert (await visitor.page(f"/operations?{query}")).status_code < 500


# -- asking, and waiting


async def test_wait_for_progress_answers_as_soon_as_only_people_are_waited_for(shop: Shop) -> None:
    reply = await shop.ask(await shop.refund(), wait_seconds=60)
    assert reply.code == "approval_required"


async def test_wait_for_end_waits_for_the_person_too(onceward: Onceward) -> None:
    arguments = await onceward.provider.refund_arguments(await onceward.provider.add_order())
    request_id = fresh("response")
    waiting = asyncio.create_task(
        onceward.turn(call("refund_payment", arguments), request_id=request_id, wait_for="end", wait_seconds=50)
    )
    (operation_id,) = await until(lambda: onceward.operations_of(request_id), lambda found: len(found) > 0)
    await onceward.until(operation_id, "awaiting_approval")
    assert not waiting.done()
    await onceward.approve(operation_id)
    assert (await waiting).only["status"] == "succeeded"


async def test_who_does_not_wait_is_told_that_it_goes_on(shop: Shop) -> None:
    reply = await shop.ask(await shop.refund(), wait_seconds=0)
    assert reply.code in ("operation_in_progress", "approval_required")
    assert (reply.only["final"], reply.body["complete"]) == (False, False)
    assert reply.told["call-1"]["error"]["operation_id"] == reply.operation_id


async def test_an_operation_can_be_asked_about_from_question_to_receipt(onceward: Onceward) -> None:
    arguments = await onceward.provider.refund_arguments(await onceward.provider.add_order())
    parked = await onceward.turn(call("refund_payment", arguments))
    told = (await onceward.operation(parked.operation_id)).json()
    assert (told["state"], told["final"], told["tool_name"]) == ("awaiting_approval", False, "refund_payment")
    await onceward.approve(parked.operation_id)
    await onceward.until(parked.operation_id, *ENDS)
    told = (await onceward.operation(parked.operation_id)).json()
    assert (told["state"], told["final"]) == ("succeeded", True)
    assert told["reference"] == told["data"]["refund_id"]


async def test_the_operation_of_somebody_else_looks_absent(shop: Shop) -> None:
    parked = await shop.ask(await shop.refund())
    strangers = [
        shop.onceward.token(tenant=shop.tenant, subject="user-18"),
        shop.onceward.token(tenant="tenant-a"),
        shop.onceward.token(tenant="tenant-a", subject="user-18"),
    ]
    assert (await shop.onceward.operation(parked.operation_id, shop.token)).status_code == 200
    absent = await shop.onceward.operation("op_invented", shop.token)
    for token in strangers:
        answer = await shop.onceward.operation(parked.operation_id, token)
        assert (answer.status_code, answer.json()) == (404, absent.json())


async def test_another_user_who_redelivers_is_told_of_a_conflict_and_nothing_else(shop: Shop) -> None:
    request_id = fresh("response")
    arguments = await shop.refund()
    parked = await shop.ask(arguments, request_id=request_id)
    for roles in (("support",), ()):
        stranger = shop.onceward.token(tenant=shop.tenant, subject="user-18", roles=roles)
        reply = await shop.onceward.turn(call("refund_payment", arguments), request_id=request_id, token=stranger)
        assert (reply.status, reply.code, reply.only["operation_id"]) == (200, "idempotency_conflict", None)
        assert parked.operation_id not in json.dumps(reply.body)


async def test_a_redelivery_after_the_role_was_lost_still_finds_its_operation(shop: Shop) -> None:
    request_id = fresh("response")
    arguments = await shop.refund()
    parked = await shop.ask(arguments, request_id=request_id)
    token = shop.onceward.token(tenant=shop.tenant, roles=())
    again = await shop.onceward.turn(call("refund_payment", arguments), request_id=request_id, token=token)
    assert (again.code, again.operation_id) == ("approval_required", parked.operation_id)


async def test_a_caller_is_offered_the_tools_of_their_roles(onceward: Onceward) -> None:
    for roles, names in (
        (("support",), [contract.name for contract in CATALOG.offered(CALLER)]),
        (("viewer",), ["get_order"]),
        (("approver:refunds",), []),
    ):
        headers = {"Authorization": f"Bearer {onceward.token(roles=roles)}"}
        answer = await onceward.door.get("/v1/tools", params={"surface": "anthropic-messages"}, headers=headers)
        assert [tool["name"] for tool in answer.json()["tools"]] == names


# -- what is not kept where it should not be


async def test_no_argument_no_person_and_no_secret_is_in_the_histories(onceward: Onceward) -> None:
    amount = 987_654_321
    order_id = await onceward.provider.add_order(amount=amount)
    arguments = await onceward.provider.refund_arguments(order_id, amount)
    subject, agent = fresh("person"), fresh("agent")
    token = onceward.token(subject=subject, agent=agent)
    parked = await onceward.turn(call("refund_payment", arguments), token=token)
    await onceward.approve(parked.operation_id)
    assert await onceward.until(parked.operation_id, *ENDS) == "succeeded"
    handle = onceward.temporal.get_workflow_handle(parked.operation_id)
    await handle.result()
    kept = b"".join([event.SerializeToString() async for event in handle.fetch_history_events()])
    told = (await onceward.operation(parked.operation_id, token)).json()
    secrets = [value for name, value in onceward.stack.environment("worker").items() if "KEY" in name or "DSN" in name]
    sensitive = [order_id, str(amount), arguments["quote_id"], told["reference"], subject, agent, "approver-1", token]
    assert parked.operation_id.encode() in kept
    assert [value for value in [*sensitive, *secrets] if value.encode() in kept] == []


async def test_a_read_leaves_no_argument_and_no_result_in_temporal(onceward: Onceward) -> None:
    amount = 987_654_123
    order_id = await onceward.provider.add_order(amount=amount)
    reply = await onceward.turn(call("get_order", {"order_id": order_id}))
    handle = onceward.temporal.get_activity_handle(reply.operation_id)
    await handle.result()
    described = await handle.describe(include_input=True, include_outcome=True)
    parts = (described.raw_info, described.raw_input, described.raw_outcome)
    kept = b"".join(part.SerializeToString() for part in parts if part is not None)
    assert reply.operation_id.encode() in kept
    assert b"succeeded" in kept
    assert [value for value in (order_id, str(amount)) if value.encode() in kept] == []


async def test_no_token_and_no_argument_is_in_the_logs(onceward: Onceward) -> None:
    order_id = await onceward.provider.add_order()
    token = onceward.token()
    await onceward.turn(call("get_order", {"order_id": order_id}), token=token)
    await onceward.turn(call("get_order", {"order_id": order_id, "note": "made-up-note"}), token=token)
    written = "".join(onceward.stack.log(name).read_text() for name in ("api", "worker", "relay"))
    assert [value for value in (token, order_id, "made-up-note") if value in written] == []


def assert_problem(reply: Reply, status: int, code: str) -> None:
    assert (reply.status, reply.body["code"]) == (status, code)
    assert reply.body["type"] == f"urn:onceward:problem:{code}"
    assert "results" not in reply.body


async def assert_not_registered(shop: Shop, request_id: str) -> None:
    wanted = select(func.count()).select_from(calls).where(calls.c.request_id == request_id)
    assert (await shop.onceward.rows(wanted))[0][0] == 0
    assert await shop.onceward.trace(shop.tenant) == Trace()


async def assert_refused(shop: Shop, reply: Reply, code: str) -> None:
    """A true end without an effect: nobody was asked and no handler was called."""
    assert (reply.only["status"], reply.code, reply.only["final"]) == ("failed_terminal", code, True)
    assert await shop.onceward.approvals(reply.operation_id) == []
    assert await shop.onceward.handler_calls(reply.operation_id) == 0
    claimed = select(func.count()).select_from(claims).where(claims.c.operation_id == reply.operation_id)
    assert (await shop.onceward.rows(claimed))[0][0] == 0


async def assert_refused_after_a_look(shop: Shop, reply: Reply, code: str) -> None:
    """As `assert_refused`, and the tenant has left nothing but this one operation."""
    await assert_refused(shop, reply, code)
    assert await shop.onceward.trace(shop.tenant) == Trace(operations=1, workflows=1)
