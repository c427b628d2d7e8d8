"""The payments provider's answers in our words: success is only what it says is completed and was asked for."""

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from adapters.downstream.payments import REFUSALS, Payments, effect_of
from examples.payments_provider.refusals import STATUS
from workflows.domain.effect import Dispatch, Effect, Outcome
from workflows.domain.errors import CallRefused

ASKED = {"quote_id": "qt-301", "quote_version": 1, "amount": 12_000, "currency": "KRW"}
MADE = {
    "refund_id": "rf-204",
    "quote_id": "qt-301",
    "order_id": "O-17",
    "amount": 12_000,
    "currency": "KRW",
    "status": "completed",
}
DISPATCH = Dispatch("op_1", "tenant-a", "key-1", 3)

Handler = Callable[[httpx2.Request], httpx2.Response]


class ScriptedProvider:
    """Answers every request alike, and keeps what it was asked."""

    def __init__(self, answer: httpx2.Response | Exception) -> None:
        self.answer = answer
        self.asked: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def client_of(provider: Handler) -> Payments:
    return Payments(httpx2.AsyncClient(transport=httpx2.MockTransport(provider), base_url="http://provider.test"))


async def refund_when(answer: httpx2.Response | Exception) -> Effect:
    return await client_of(ScriptedProvider(answer)).refund(dict(ASKED), DISPATCH)


async def find_when(answer: httpx2.Response | Exception) -> Effect | None:
    return await client_of(ScriptedProvider(answer)).find_refund(dict(ASKED), DISPATCH)


# -- what the provider's own record proves


def test_only_a_completed_refund_of_what_was_asked_is_success() -> None:
    assert effect_of(MADE, ASKED) == Effect.applied("rf-204", MADE)


@pytest.mark.parametrize("status", ["pending", "processing", "failed", "Completed", "", None, 1, True])
def test_what_is_accepted_and_not_finished_is_no_success(status: Any) -> None:
    assert effect_of(MADE | {"status": status}, ASKED) == Effect.unknown("rf-204")


@pytest.mark.parametrize(
    "difference",
    [{"amount": 11_999}, {"amount": "12000"}, {"currency": "USD"}, {"quote_id": "qt-302"}, {"amount": None}],
    ids=str,
)
def test_something_else_than_was_asked_is_uncertain(difference: dict[str, Any]) -> None:
    assert effect_of(MADE | difference, ASKED) == Effect.unknown("rf-204", "effect_mismatch")


@pytest.mark.parametrize("name", ["status", "amount", "currency", "quote_id"])
def test_a_record_that_leaves_something_out_is_uncertain(name: str) -> None:
    assert effect_of({key: value for key, value in MADE.items() if key != name}, ASKED).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("record", [None, [], "rf-204", {}, {"refund_id": 204}, MADE | {"refund_id": None}], ids=str)
def test_a_record_without_an_id_proves_nothing(record: Any) -> None:
    assert effect_of(record, ASKED) == Effect.unknown()


# -- sending


async def test_a_refund_is_sent_under_our_key_and_reference() -> None:
    provider = ScriptedProvider(httpx2.Response(201, json=MADE))
    assert await client_of(provider).refund(dict(ASKED), DISPATCH) == Effect.applied("rf-204", MADE)
    (request,) = provider.asked
    assert request.headers["idempotency-key"] == "key-1"
    assert json.loads(request.content) == {**ASKED, "client_reference": "op_1"}


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"refund_id": "rf-204"}'])
async def test_a_success_that_cannot_be_read_is_uncertain(body: bytes) -> None:
    assert (await refund_when(httpx2.Response(200, content=body))).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    "error", [httpx2.ReadTimeout("late"), httpx2.RemoteProtocolError("cut"), httpx2.ReadError("reset")]
)
async def test_a_lost_reply_is_uncertain(error: Exception) -> None:
    assert await refund_when(error) == Effect.unknown()


async def test_a_provider_that_is_not_there_has_done_nothing() -> None:
    assert await refund_when(httpx2.ConnectError("refused")) == Effect.rejected("upstream_unavailable", retryable=True)


@pytest.mark.parametrize(("code", "ours"), REFUSALS.items())
async def test_each_refusal_has_our_word(code: str, ours: str) -> None:
    answer = httpx2.Response(STATUS[code], json={"error": {"code": code}})  # type: ignore[index]
    assert await refund_when(answer) == Effect.rejected(ours)


PROVES_NOTHING = {"idempotency_in_flight", "idempotency_conflict", "internal_error", "unavailable", "rate_limited"}
NEVER_OF_A_REFUND = {"unauthorized", "idempotency_key_required", "order_exists"}


@pytest.mark.parametrize("code", sorted(STATUS.keys() - PROVES_NOTHING - NEVER_OF_A_REFUND))
async def test_whatever_the_provider_promises_not_to_have_done_is_a_refusal(code: str) -> None:
    answer = httpx2.Response(STATUS[code], json={"error": {"code": code}})  # type: ignore[index]
    assert (await refund_when(answer)).outcome is Outcome.REJECTED


@pytest.mark.parametrize("code", sorted(PROVES_NOTHING - {"rate_limited"}))
async def test_what_proves_nothing_is_uncertain(code: str) -> None:
    answer = httpx2.Response(STATUS[code], json={"error": {"code": code}})  # type: ignore[index]
    assert await refund_when(answer) == Effect.unknown()


@pytest.mark.parametrize("value", ["garbage", "Wed, 99 Foo 2015 07:28:00 GMT"])
async def test_an_unreadable_retry_after_does_not_break_the_exchange(value: str) -> None:
    told = await refund_when(httpx2.Response(429, headers={"Retry-After": value}))
    assert told == Effect.rejected("rate_limited", retryable=True)


# -- looking


async def test_a_refund_is_found_by_our_reference() -> None:
    provider = ScriptedProvider(httpx2.Response(200, json={"refunds": [MADE]}))
    assert await client_of(provider).find_refund(dict(ASKED), DISPATCH) == Effect.applied("rf-204", MADE)
    assert dict(provider.asked[0].url.params) == {"client_reference": "op_1"}


async def test_an_empty_list_is_an_answer() -> None:
    assert await find_when(httpx2.Response(200, json={"refunds": []})) is None


@pytest.mark.parametrize(
    "answer",
    [
        httpx2.Response(200, json={}),
        httpx2.Response(200, json={"refunds": None}),
        httpx2.Response(200, content=b"<html>"),
        httpx2.Response(503, json={"error": {"code": "unavailable"}}),
        httpx2.Response(429, json={}),
        httpx2.Response(401, json={"error": {"code": "unauthorized"}}),
        httpx2.ConnectError("refused"),
        httpx2.ReadTimeout("late"),
    ],
    ids=["empty", "null", "no JSON", "503", "429", "401", "not there", "late"],
)
async def test_a_look_that_shows_nothing_is_not_an_empty_one(answer: httpx2.Response | Exception) -> None:
    with pytest.raises(CallRefused) as refused:
        await find_when(answer)
    assert refused.value.code == "upstream_unavailable"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (httpx2.Response(404, json={"error": {"code": "not_found"}}), "not_found"),
        (httpx2.Response(404, content=b"no such page"), "upstream_unavailable"),
        (httpx2.Response(500, json={"error": {"code": "not_found"}}), "upstream_unavailable"),
        (httpx2.Response(429, headers={"Retry-After": "garbage"}), "upstream_unavailable"),
        (httpx2.ReadError("reset"), "upstream_unavailable"),
    ],
    ids=["not found", "unexplained 404", "500", "429", "reset"],
)
async def test_an_order_is_absent_only_when_the_provider_says_so(
    answer: httpx2.Response | Exception, code: str
) -> None:
    with pytest.raises(CallRefused) as refused:
        await client_of(ScriptedProvider(answer)).order("O-17")
    assert refused.value.code == code


async def test_an_id_never_becomes_another_path() -> None:
    provider = ScriptedProvider(httpx2.Response(200, json={"order_id": "?"}))
    await client_of(provider).order("../admin?x=1#y")
    assert provider.asked[0].url.raw_path == b"/v1/orders/..%2Fadmin%3Fx%3D1%23y"


@pytest.mark.parametrize("page", [b"<html>maintenance</html>", b"[]", b"{}", b""])
async def test_a_page_of_somebody_in_between_is_no_answer_about_an_order(page: bytes) -> None:
    with pytest.raises(CallRefused) as refused:
        await client_of(ScriptedProvider(httpx2.Response(200, content=page))).order("O-17")
    assert refused.value.code == "upstream_unavailable"


async def test_two_refunds_under_one_operation_prove_nothing() -> None:
    made = {"refund_id": "rf-1", "status": "completed", "quote_id": "qt-1", "amount": 1, "currency": "KRW"}
    provider = ScriptedProvider(httpx2.Response(200, json={"refunds": [made, made | {"refund_id": "rf-2"}]}))
    body = {"quote_id": "qt-1", "amount": 1, "currency": "KRW"}
    found = await client_of(provider).find_refund(body, Dispatch("op_1", "tenant-a", "key", 1))
    assert found is not None
    assert found.outcome is Outcome.UNKNOWN
