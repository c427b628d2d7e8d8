"""The payments provider as its callers meet it: a real process, a real database, and connections that really break."""

import os
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Self

import httpx2
import psycopg
import pytest
from sqlalchemy.engine import make_url

from tests.support.waiting import wait_until

REPOSITORY = Path(__file__).parents[2]
API_KEY = "api-key-for-tests"
ADMIN_KEY = "admin-key-for-tests"

START_SECONDS = 30
"""A provider that is not up by then is not coming; a busy machine takes a few seconds."""
PATIENCE_SECONDS = 20
"""For things that the provider does by itself soon after."""
IMPATIENCE_SECONDS = 2
"""For replies that do not come, and long enough for those that do."""
AT_ONCE = 20
"""Simultaneous callers; as many as the provider has database connections, so that all of them really race."""

Json = dict[str, Any]


class Provider:
    """A running provider, its public API and its evidence."""

    def __init__(self, port: int) -> None:
        self.port = port
        url = f"http://127.0.0.1:{port}"
        self.api = httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {API_KEY}"}, timeout=30)
        self.admin = httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {ADMIN_KEY}"}, timeout=30)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.api.close()
        self.admin.close()

    def reset(self) -> None:
        self.admin.post("/_admin/reset").raise_for_status()

    def switch(self, *faults: Json, **switches: object) -> None:
        self.admin.put("/_admin/switches", json={"faults": faults, **switches}).raise_for_status()

    def order(self, order_id: str) -> Json:
        return self._json(self.api.get(f"/v1/orders/{order_id}"))

    def quote(self, order_id: str = "O-17", amount: int = 12_000, currency: str = "KRW") -> Json:
        asked = {"order_id": order_id, "amount": amount, "currency": currency}
        return self._json(self.api.post("/v1/quotes", json=asked))

    def refund(self, quote: Json, key: str | None = "key-1", reference: str = "op-1", **changes: object) -> Any:
        headers = {} if key is None else {"Idempotency-Key": key}
        return self.api.post("/v1/refunds", json=body_for(quote, reference) | changes, headers=headers)

    def refund_impatiently(self, quote: Json) -> Any:
        return self.api.post(
            "/v1/refunds", json=body_for(quote), headers={"Idempotency-Key": "key-1"}, timeout=IMPATIENCE_SECONDS
        )

    def found(self, **by: str) -> list[Json]:
        return list(self._json(self.api.get("/v1/refunds", params=by))["refunds"])

    def ledger(self, **by: str) -> Json:
        return self._json(self.admin.get("/_admin/ledger", params=by))

    def outcomes(self) -> list[str]:
        return [post["outcome"] for post in self.ledger()["posts"]]

    def effects(self) -> int:
        return len(self.ledger()["refunds"])

    @staticmethod
    def _json(answer: Any) -> Json:
        answer.raise_for_status()
        return dict(answer.json())


def body_for(quote: Json, reference: str = "op-1") -> Json:
    return {
        "quote_id": quote["quote_id"],
        "quote_version": quote["version"],
        "amount": quote["amount"],
        "currency": quote["currency"],
        "client_reference": reference,
    }


def code_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def until(happened: Callable[[], bool]) -> None:
    wait_until(happened, PATIENCE_SECONDS)


def somebody_waits_for_a_row(dsn: str) -> bool:
    waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with psycopg.connect(dsn) as connection:
        return connection.execute(waiting).fetchone() is not None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment(dsn: str, port: int, **changes: str) -> dict[str, str]:
    own = {"DSN": dsn, "PORT": str(port), "API_KEY": API_KEY, "ADMIN_KEY": ADMIN_KEY} | changes
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PAYMENTS_PROVIDER_")}
    return inherited | {f"PAYMENTS_PROVIDER_{name}": value for name, value in own.items()}


def command() -> list[str]:
    return [sys.executable, "-m", "examples.payments_provider"]


@contextmanager
def process(dsn: str, port: int, **changes: str) -> Iterator["subprocess.Popen[bytes]"]:
    started = subprocess.Popen(command(), cwd=REPOSITORY, env=environment(dsn, port, **changes))
    try:
        yield started
    finally:
        started.terminate()
        started.wait(START_SECONDS)


def wait_until_up(started: "subprocess.Popen[bytes]", port: int) -> None:
    def is_up() -> bool:
        assert started.poll() is None, "the provider stopped while starting"
        try:
            httpx2.get(f"http://127.0.0.1:{port}/healthz").raise_for_status()
        except httpx2.TransportError:
            return False
        return True

    wait_until(is_up, START_SECONDS)


@contextmanager
def running(dsn: str, **changes: str) -> Iterator[Provider]:
    port = free_port()
    with process(dsn, port, **changes) as started, Provider(port) as provider:
        wait_until_up(started, port)
        yield provider


@pytest.fixture(scope="module")
def shared_provider(payments_dsn: str) -> Iterator[Provider]:
    with running(payments_dsn) as provider:
        yield provider


@pytest.fixture
def provider(shared_provider: Provider) -> Provider:
    shared_provider.reset()
    return shared_provider


def all_at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    with ThreadPoolExecutor(len(calls)) as callers:
        return [call.result() for call in [callers.submit(call) for call in calls]]


# Orders and quotes


def test_the_seed_data_is_there(provider: Provider) -> None:
    order = provider.order("O-17")
    assert (order["merchant"], order["customer"], order["currency"]) == ("tenant-a", "user-17", "KRW")
    assert order["payment"] == {
        "payment_id": "pay-17",
        "amount": 12_000,
        "refunded": 0,
        "refundable": 12_000,
        "status": "captured",
        "version": 1,
    }
    assert provider.order("O-20")["payment"]["amount"] == 2_550
    assert provider.order("O-21")["merchant"] == "tenant-b"
    assert provider.order("O-22")["payment"]["status"] == "partially_refunded"


def test_a_quote_moves_no_money(provider: Provider) -> None:
    quote = provider.quote(amount=5_000)
    assert (quote["state"], quote["payment_id"], quote["refundable"]) == ("open", "pay-17", 12_000)
    assert provider.order("O-17")["payment"]["refunded"] == 0
    assert provider.ledger()["posts"] == []


@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        ({"order_id": "O-17", "amount": 12_001, "currency": "KRW"}, 422, "amount_exceeds_refundable"),
        ({"order_id": "O-22", "amount": 12_001, "currency": "KRW"}, 422, "amount_exceeds_refundable"),
        ({"order_id": "O-17", "amount": 12_000, "currency": "USD"}, 422, "currency_mismatch"),
        ({"order_id": "O-404", "amount": 1, "currency": "KRW"}, 404, "not_found"),
        ({"order_id": "O-17", "amount": 0, "currency": "KRW"}, 400, "invalid_request"),
        ({"order_id": "O-17", "amount": 1.5, "currency": "KRW"}, 400, "invalid_request"),
        ({"order_id": "O-17", "amount": "1", "currency": "KRW"}, 400, "invalid_request"),
        ({"order_id": "O-17", "amount": 1, "currency": "KRW", "tip": 1}, 400, "invalid_request"),
    ],
)
def test_an_impossible_quote_is_refused(provider: Provider, asked: Json, status: int, code: str) -> None:
    assert code_of(provider.api.post("/v1/quotes", json=asked)) == (status, code)


@pytest.mark.parametrize("path", ["/v1/orders/O-404", "/v1/quotes/qt-404", "/v1/refunds/rf-404", "/v1/nothing"])
def test_what_is_not_there_is_not_found(provider: Provider, path: str) -> None:
    assert code_of(provider.api.get(path)) == (404, "not_found")


def test_each_api_wants_its_own_key(provider: Provider) -> None:
    assert code_of(provider.admin.get("/v1/orders/O-17")) == (401, "unauthorized")
    assert code_of(provider.api.get("/_admin/ledger")) == (401, "unauthorized")
    assert code_of(httpx2.get(f"http://127.0.0.1:{provider.port}/v1/orders/O-17")) == (401, "unauthorized")


# Refunds


def test_a_refund_moves_the_money_once_and_is_found_by_every_name(provider: Provider) -> None:
    quote = provider.quote(amount=5_000)
    answer = provider.refund(quote, reason="broken on arrival")
    refund = answer.json()
    assert (answer.status_code, refund["refund_id"], refund["status"]) == (201, "rf-204", "completed")
    assert refund["completed_at"] == refund["created_at"]
    assert provider.api.get("/v1/refunds/rf-204").json() == refund
    assert provider.found(idempotency_key="key-1") == [refund]
    assert provider.found(client_reference="op-1") == [refund]
    assert provider.api.get(f"/v1/quotes/{quote['quote_id']}").json()["state"] == "consumed"
    payment = provider.order("O-17")["payment"]
    assert (payment["refunded"], payment["refundable"], payment["status"]) == (5_000, 7_000, "partially_refunded")


def test_refund_numbers_count_up(provider: Provider) -> None:
    first = provider.refund(provider.quote("O-17"), key="a").json()
    second = provider.refund(provider.quote("O-18", 5_000), key="b").json()
    assert (first["refund_id"], second["refund_id"]) == ("rf-204", "rf-205")


def test_the_same_request_under_the_same_key_gets_the_first_answer(provider: Provider) -> None:
    quote = provider.quote()
    first, second = provider.refund(quote), provider.refund(quote)
    assert (first.status_code, second.status_code) == (201, 200)
    assert second.content == first.content
    assert "Idempotent-Replayed" not in first.headers
    assert second.headers["Idempotent-Replayed"] == "true"
    assert provider.outcomes() == ["executed", "replayed"]
    assert provider.effects() == 1


def test_another_request_under_the_same_key_is_refused(provider: Provider) -> None:
    quote = provider.quote()
    provider.refund(quote)
    assert code_of(provider.refund(quote, reference="op-2")) == (422, "idempotency_conflict")
    assert provider.effects() == 1


def test_a_refused_request_leaves_its_key_unused(provider: Provider) -> None:
    quote = provider.quote()
    assert code_of(provider.refund(quote, amount=1)) == (422, "amount_mismatch")
    assert provider.refund(quote).status_code == 201


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"quote_id": "qt-404"}, 404, "not_found"),
        ({"quote_version": 2}, 409, "quote_version_mismatch"),
        ({"amount": 11_999}, 422, "amount_mismatch"),
        ({"currency": "USD"}, 422, "currency_mismatch"),
        ({"client_reference": ""}, 400, "invalid_request"),
        ({"amount": "12000"}, 400, "invalid_request"),
        ({"tip": 1}, 400, "invalid_request"),
    ],
)
def test_a_refund_that_does_not_fit_its_quote_is_refused(
    provider: Provider, changes: Json, status: int, code: str
) -> None:
    assert code_of(provider.refund(provider.quote(), **changes)) == (status, code)
    assert provider.outcomes() == [code]
    assert provider.effects() == 0


def test_a_refund_without_a_key_is_refused_and_counted_as_a_post(provider: Provider) -> None:
    assert code_of(provider.refund(provider.quote(), key=None)) == (400, "idempotency_key_required")
    assert provider.outcomes() == ["idempotency_key_required"]


def test_even_a_body_that_is_nonsense_is_counted_as_a_post(provider: Provider) -> None:
    answer = provider.api.post("/v1/refunds", content=b'{"amount', headers={"Idempotency-Key": "key-1"})
    assert code_of(answer) == (400, "invalid_request")
    assert provider.outcomes() == ["invalid_request"]


def test_a_used_quote_is_refused_under_another_key(provider: Provider) -> None:
    quote = provider.quote(amount=1_000)
    provider.refund(quote)
    assert code_of(provider.refund(quote, key="key-2")) == (409, "quote_consumed")


def test_an_expired_quote_is_refused(provider: Provider) -> None:
    provider.switch(quote_seconds=0)
    quote = provider.quote()
    assert quote["state"] == "expired"
    assert code_of(provider.refund(quote)) == (409, "quote_expired")


def test_a_quote_for_a_replaced_payment_is_refused(provider: Provider) -> None:
    quote = provider.quote()
    replaced = provider.admin.post("/_admin/orders/O-17/replace-payment").json()
    assert replaced["payment"]["payment_id"] != "pay-17"
    assert (replaced["payment"]["amount"], replaced["version"]) == (12_000, 2)
    assert code_of(provider.refund(quote)) == (422, "payment_changed")
    assert provider.refund(provider.quote()).status_code == 201


def test_a_refund_by_another_quote_changes_the_payment_that_was_quoted(provider: Provider) -> None:
    first, second = provider.quote(amount=1_000), provider.quote(amount=1_000)
    provider.refund(first)
    assert code_of(provider.refund(second, key="key-2")) == (422, "payment_changed")


def test_a_refund_may_take_a_while_to_complete(provider: Provider) -> None:
    provider.switch(completion_seconds=1)
    refund = provider.refund(provider.quote()).json()
    assert (refund["status"], refund["completed_at"]) == ("pending", None)
    until(lambda: provider.api.get("/v1/refunds/rf-204").json()["status"] == "completed")
    assert provider.refund({**refund, "version": 1}).json()["status"] == "pending", "the stored answer does not age"


@pytest.mark.parametrize("by", [{}, {"idempotency_key": "key-1", "client_reference": "op-1"}])
def test_a_look_up_wants_exactly_one_name(provider: Provider, by: dict[str, str]) -> None:
    assert code_of(provider.api.get("/v1/refunds", params=by)) == (400, "invalid_request")


# Keys that are forgotten


def test_a_forgotten_key_is_not_found_but_the_reference_is(provider: Provider) -> None:
    provider.refund(provider.quote())
    provider.switch(key_lifetime_seconds=0)
    assert provider.found(idempotency_key="key-1") == []
    assert [refund["refund_id"] for refund in provider.found(client_reference="op-1")] == ["rf-204"]


def test_a_single_use_quote_protects_where_the_key_is_forgotten(provider: Provider) -> None:
    quote = provider.quote(amount=5_000)
    provider.refund(quote)
    provider.switch(key_lifetime_seconds=0)
    assert code_of(provider.refund(quote)) == (409, "quote_consumed")
    assert provider.effects() == 1


def test_a_repeat_after_the_key_is_forgotten_pays_again_if_the_quote_lets_it(provider: Provider) -> None:
    provider.switch(quote_single_use=False)
    quote = provider.quote(amount=5_000)
    provider.refund(quote)
    provider.switch(quote_single_use=False, key_lifetime_seconds=0)
    assert provider.refund(quote).status_code == 201
    assert provider.ledger()["effects_by_key"] == {"key-1": 2}
    assert provider.ledger()["effects_by_client_reference"] == {"op-1": 2}
    assert provider.order("O-17")["payment"]["refunded"] == 10_000
    assert code_of(provider.refund(quote)) == (422, "amount_exceeds_refundable")


# Many at once


def test_many_posts_with_one_key_make_one_effect(provider: Provider) -> None:
    quote = provider.quote()
    answers = all_at_once([partial(provider.refund, quote)] * AT_ONCE)
    statuses = Counter(answer.status_code for answer in answers)
    assert statuses[201] == 1
    assert set(statuses) <= {200, 201, 409}
    assert {code_of(answer)[1] for answer in answers if answer.status_code == 409} <= {"idempotency_in_flight"}
    assert provider.ledger()["effects_by_key"] == {"key-1": 1}
    assert len(provider.outcomes()) == AT_ONCE
    assert "received" not in provider.outcomes()


def test_a_repeat_while_the_first_is_still_at_work_is_told_so(provider: Provider, payments_dsn: str) -> None:
    quote = provider.quote()
    with psycopg.connect(payments_dsn) as blocker, ThreadPoolExecutor() as caller:
        blocker.execute("SELECT FROM payments.quotes FOR UPDATE")
        first = caller.submit(provider.refund, quote)
        until(lambda: somebody_waits_for_a_row(payments_dsn))
        repeats = all_at_once([partial(provider.refund_impatiently, quote)] * AT_ONCE)
        blocker.rollback()
        assert first.result().status_code == 201
    assert {code_of(repeat) for repeat in repeats} == {(409, "idempotency_in_flight")}
    assert provider.ledger()["effects_by_key"] == {"key-1": 1}


def test_many_keys_on_one_quote_make_one_effect(provider: Provider) -> None:
    quote = provider.quote(amount=100)
    answers = all_at_once([partial(provider.refund, quote, key=f"key-{n}") for n in range(AT_ONCE)])
    assert Counter(answer.status_code for answer in answers) == {201: 1, 409: AT_ONCE - 1}
    assert Counter(provider.outcomes()) == {"executed": 1, "quote_consumed": AT_ONCE - 1}
    assert provider.order("O-17")["payment"]["refunded"] == 100


def test_many_quotes_on_one_payment_make_one_effect(provider: Provider) -> None:
    quotes = [provider.quote(amount=1_000) for _ in range(AT_ONCE)]
    answers = all_at_once([partial(provider.refund, quote, key=quote["quote_id"]) for quote in quotes])
    assert Counter(answer.status_code for answer in answers) == {201: 1, 422: AT_ONCE - 1}
    assert Counter(provider.outcomes()) == {"executed": 1, "payment_changed": AT_ONCE - 1}


def test_no_race_refunds_more_than_was_paid(provider: Provider) -> None:
    provider.switch(quote_single_use=False)
    quote = provider.quote(amount=5_000)
    all_at_once([partial(provider.refund, quote, key=f"key-{n}") for n in range(AT_ONCE)])
    assert Counter(provider.outcomes()) == {"executed": 2, "amount_exceeds_refundable": AT_ONCE - 2}
    assert provider.order("O-17")["payment"]["refundable"] == 2_000


# Replies that go wrong


def test_a_lost_reply_leaves_the_effect_and_a_repeat_gets_its_answer(provider: Provider) -> None:
    provider.switch({"on": "refund", "do": "commit-then-drop"})
    quote = provider.quote()
    with pytest.raises(httpx2.TransportError):
        provider.refund(quote)
    assert provider.outcomes() == ["executed"]
    repeat = provider.refund(quote)
    assert (repeat.status_code, repeat.headers["Idempotent-Replayed"]) == (200, "true")
    assert repeat.json()["refund_id"] == provider.found(client_reference="op-1")[0]["refund_id"]
    assert provider.effects() == 1


@pytest.mark.parametrize("do", ["commit-then-drop", "drop-before-commit", "commit-late"])
def test_a_cut_connection_carries_not_one_byte(provider: Provider, do: str) -> None:
    provider.switch({"on": "refund", "do": do, "seconds": 0})
    request = provider.api.build_request(
        "POST", "/v1/refunds", json=body_for(provider.quote()), headers={"Idempotency-Key": "key-1"}
    )
    head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    with socket.create_connection(("127.0.0.1", provider.port), timeout=PATIENCE_SECONDS) as wire:
        wire.sendall(f"POST /v1/refunds HTTP/1.1\r\n{head}\r\n".encode() + request.read())
        try:
            heard = wire.recv(1)
        except ConnectionResetError:
            heard = b""
    assert heard == b""


def test_a_request_that_is_dropped_before_the_commit_does_nothing(provider: Provider) -> None:
    provider.switch({"on": "refund", "do": "drop-before-commit"})
    quote = provider.quote()
    with pytest.raises(httpx2.TransportError):
        provider.refund(quote)
    assert (provider.outcomes(), provider.effects()) == (["drop-before-commit"], 0)
    assert provider.refund(quote).status_code == 201


def test_a_refusal_whose_reply_is_lost_is_in_the_ledger(provider: Provider) -> None:
    provider.switch({"on": "refund", "do": "commit-then-drop"})
    with pytest.raises(httpx2.TransportError):
        provider.refund(provider.quote(), amount=1)
    assert (provider.outcomes(), provider.effects()) == (["amount_mismatch"], 0)


def test_a_late_commit_is_in_flight_until_it_lands(provider: Provider) -> None:
    provider.switch({"on": "refund", "do": "commit-late", "seconds": 3})
    quote = provider.quote()
    with pytest.raises(httpx2.TransportError):
        provider.refund(quote)
    assert (provider.outcomes(), provider.effects()) == (["received"], 0)
    assert provider.found(client_reference="op-1") == []
    assert code_of(provider.refund(quote)) == (409, "idempotency_in_flight")
    until(lambda: provider.effects() == 1)
    assert provider.refund(quote).status_code == 200
    assert provider.outcomes() == ["executed", "idempotency_in_flight", "replayed"]
    assert provider.effects() == 1


def test_two_late_commits_under_one_key_make_one_effect(provider: Provider) -> None:
    provider.switch({"on": "refund", "do": "commit-late", "seconds": 1, "times": 2})
    quote = provider.quote()
    with pytest.raises(httpx2.TransportError):
        provider.refund(quote)
    assert code_of(provider.refund(quote)) == (409, "idempotency_in_flight")
    until(lambda: provider.outcomes() == ["executed", "idempotency_in_flight"])
    assert provider.effects() == 1


def test_a_reset_drops_what_has_not_been_committed_yet(provider: Provider) -> None:
    provider.switch({"on": "refund", "do": "commit-late", "seconds": 3600})
    quote = provider.quote()
    with pytest.raises(httpx2.TransportError):
        provider.refund(quote)
    provider.reset()
    assert provider.refund(provider.quote()).json()["refund_id"] == "rf-204"


def test_a_reply_that_hangs_comes_after_the_effect(provider: Provider) -> None:
    provider.switch({"on": "refund", "do": "commit-then-hang", "seconds": 3600})
    quote = provider.quote()
    with pytest.raises(httpx2.ReadTimeout):
        provider.refund_impatiently(quote)
    until(lambda: provider.effects() == 1)
    assert provider.refund(quote).status_code == 200


def test_a_reply_that_hangs_is_let_go_when_the_switches_are_cleared(provider: Provider) -> None:
    provider.switch({"on": "refund", "do": "commit-then-hang", "seconds": 3600})
    with ThreadPoolExecutor(1) as meanwhile:
        reply = meanwhile.submit(provider.refund, provider.quote())
        until(lambda: provider.effects() == 1)
        provider.admin.delete("/_admin/switches").raise_for_status()
        assert reply.result(PATIENCE_SECONDS).status_code == 201


def test_a_reply_that_hangs_for_a_moment_is_still_the_right_one(provider: Provider) -> None:
    provider.switch({"on": "refund", "do": "commit-then-hang", "seconds": 0.2})
    began = time.monotonic()
    assert provider.refund(provider.quote()).status_code == 201
    assert time.monotonic() - began >= 0.2


@pytest.mark.parametrize(
    ("do", "status", "code", "retry_after"),
    [
        ("429", 429, "rate_limited", "7"),
        ("503", 503, "unavailable", "7"),
        ("500", 500, "internal_error", None),
        ("422", 422, "refused", None),
    ],
)
def test_a_status_switch_does_nothing_and_says_so(
    provider: Provider, do: str, status: int, code: str, retry_after: str | None
) -> None:
    provider.switch({"on": "refund", "do": do, "seconds": 7})
    quote = provider.quote()
    answer = provider.refund(quote)
    assert code_of(answer) == (status, code)
    assert answer.headers.get("Retry-After") == retry_after
    assert (provider.outcomes(), provider.effects()) == ([do], 0)
    assert provider.refund(quote).status_code == 201


@pytest.mark.parametrize(
    ("on", "path"),
    [
        ("order", "/v1/orders/O-17"),
        ("lookup", "/v1/refunds?client_reference=op-1"),
        ("lookup", "/v1/refunds?idempotency_key=key-1"),
        ("lookup", "/v1/refunds/rf-204"),
        ("quote", "/v1/quotes/qt-301"),
    ],
)
def test_reads_can_be_slow_refused_or_cut(provider: Provider, on: str, path: str) -> None:
    provider.refund(provider.quote())
    do = {"drop-before-commit": {}, "503": {}, "slow-read": {"seconds": 0.2}}
    provider.switch(*({"on": on, "do": name, **more} for name, more in do.items()))
    with pytest.raises(httpx2.TransportError):
        provider.api.get(path)
    assert provider.api.get(path).status_code == 503
    began = time.monotonic()
    assert provider.api.get(path).status_code == 200
    assert time.monotonic() - began >= 0.2


def test_a_lost_quote_was_given_and_can_be_asked_for_again(provider: Provider) -> None:
    provider.switch({"on": "quote", "do": "commit-then-drop"})
    with pytest.raises(httpx2.TransportError):
        provider.quote()
    assert provider.quote()["quote_id"] == "qt-302"


def test_a_switch_can_be_for_one_reference_or_one_order(provider: Provider) -> None:
    provider.switch(
        {"on": "refund", "do": "429", "match": {"client_reference": "op-2"}},
        {"on": "refund", "do": "503", "match": {"order_id": "O-18"}},
    )
    assert provider.refund(provider.quote("O-17")).status_code == 201
    eighteen = provider.quote("O-18", 5_000)
    assert provider.refund(eighteen, key="key-2", reference="op-2").status_code == 429
    assert provider.refund(eighteen, key="key-2", reference="op-2").status_code == 503
    assert provider.refund(eighteen, key="key-2", reference="op-2").status_code == 201


def test_cleared_switches_do_not_fire(provider: Provider) -> None:
    provider.switch({"on": "refund", "do": "500", "times": None}, completion_seconds=60)
    quote = provider.quote()
    assert [provider.refund(quote).status_code for _ in range(3)] == [500, 500, 500]
    assert provider.admin.delete("/_admin/switches").json()["faults"] == []
    assert provider.refund(quote).json()["status"] == "completed"


def test_a_switch_that_makes_no_sense_is_refused_and_changes_nothing(provider: Provider) -> None:
    provider.switch(completion_seconds=60)
    bad = {"faults": [{"on": "order", "do": "commit-then-drop"}]}
    assert code_of(provider.admin.put("/_admin/switches", json=bad)) == (400, "invalid_request")
    assert provider.admin.get("/_admin/switches").json()["completion_seconds"] == 60


# Evidence and set-up


def test_the_ledger_can_be_read_for_one_reference(provider: Provider) -> None:
    provider.refund(provider.quote("O-17"), key="a", reference="op-a")
    provider.refund(provider.quote("O-18", 5_000), key="b", reference="op-b")
    ledger = provider.ledger(client_reference="op-b")
    assert [post["idempotency_key"] for post in ledger["posts"]] == ["b"]
    assert ledger["effects_by_client_reference"] == {"op-b": 1}
    assert provider.ledger()["effects_by_client_reference"] == {"op-a": 1, "op-b": 1}


def test_an_order_can_be_added_once(provider: Provider) -> None:
    new = {"order_id": "O-99", "merchant": "tenant-b", "customer": "user-9", "currency": "KRW", "amount": 900}
    assert provider.admin.post("/_admin/orders", json=new).status_code == 201
    assert code_of(provider.admin.post("/_admin/orders", json=new)) == (409, "order_exists")
    assert provider.refund(provider.quote("O-99", 900)).status_code == 201


def test_a_reset_goes_back_to_the_seed_data(provider: Provider) -> None:
    provider.switch({"on": "order", "do": "500", "times": None})
    provider.refund(provider.quote())
    provider.reset()
    assert provider.order("O-17")["payment"]["refundable"] == 12_000
    assert (provider.ledger()["posts"], provider.effects()) == ([], 0)
    assert provider.refund(provider.quote()).json()["refund_id"] == "rf-204"


# The process


@pytest.fixture
def missing_database_dsn(payments_dsn: str) -> Iterator[str]:
    """A database that nobody has made yet, on the same server."""
    name = f"payments_{os.getpid()}_not-there"
    yield make_url(payments_dsn).set(database=name).render_as_string(hide_password=False)
    with psycopg.connect(payments_dsn, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def test_the_books_are_made_when_missing_and_survive_a_restart(missing_database_dsn: str) -> None:
    with running(missing_database_dsn) as first:
        first.refund(first.quote())
    with running(missing_database_dsn) as second:
        assert second.effects() == 1
        assert second.order("O-17")["payment"]["refundable"] == 0


def test_two_providers_may_start_at_once_on_nothing(missing_database_dsn: str) -> None:
    ports = free_port(), free_port()
    with process(missing_database_dsn, ports[0]) as one, process(missing_database_dsn, ports[1]) as other:
        wait_until_up(one, ports[0])
        wait_until_up(other, ports[1])
        with Provider(ports[1]) as provider:
            assert provider.order("O-17")["version"] == 1


def test_settings_are_where_the_switches_start(payments_dsn: str) -> None:
    with running(payments_dsn, QUOTE_SECONDS="60", QUOTE_SINGLE_USE="false", COMPLETION_SECONDS="5") as provider:
        switches = provider.admin.get("/_admin/switches").json()
    assert (switches["quote_seconds"], switches["quote_single_use"], switches["completion_seconds"]) == (60, False, 5)


@pytest.mark.parametrize(
    ("changes", "setting"),
    [
        ({"PORT": "http"}, "PAYMENTS_PROVIDER_PORT"),
        ({"ADMIN_KEY": ""}, "PAYMENTS_PROVIDER_ADMIN_KEY"),
        ({"DSN": "postgresql://u:hunter2@127.0.0.1:1/payments"}, "PAYMENTS_PROVIDER_DSN"),
    ],
)
def test_a_bad_setting_ends_the_process_with_one_sentence(changes: dict[str, str], setting: str) -> None:
    env = environment("postgresql://u:hunter2@127.0.0.1:1/payments", free_port(), **changes)
    ended = subprocess.run(
        command(), cwd=REPOSITORY, env=env, capture_output=True, text=True, timeout=START_SECONDS, check=False
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith(setting)
    assert ended.stderr.count("\n") == 1
    assert "hunter2" not in ended.stderr
