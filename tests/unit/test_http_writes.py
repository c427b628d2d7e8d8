"""What the fate of an HTTP exchange proves about a write: the tables, row by row."""

import email.utils
import time

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.downstream.http_writes import error_code, fate_of_failure, fate_of_refusal
from adapters.pauses import retry_after
from workflows.domain.effect import Effect, Outcome

CODES = {"quote_expired": "quote_expired", "amount_exceeds_refundable": "refund_amount_exceeded"}


def answer(status: int, code: str | None = None, **headers: str) -> httpx2.Response:
    content = {} if code is None else {"error": {"code": code, "message": "words"}}
    return httpx2.Response(
        status, json=content, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )


@pytest.mark.parametrize(
    "error",
    [httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol],
)
def test_what_never_left_has_done_nothing_and_may_be_sent_again(error: type[httpx2.TransportError]) -> None:
    assert fate_of_failure(error("gone")) == Effect.rejected("upstream_unavailable", retryable=True)


@pytest.mark.parametrize(
    "error",
    [
        httpx2.ReadTimeout,
        httpx2.WriteTimeout,
        httpx2.ReadError,
        httpx2.WriteError,
        httpx2.CloseError,
        httpx2.RemoteProtocolError,
        httpx2.LocalProtocolError,
        httpx2.ProxyError,
        httpx2.DecodingError,
    ],
)
def test_what_may_have_left_is_uncertain(error: type[httpx2.TransportError]) -> None:
    assert fate_of_failure(error("gone")) == Effect.unknown()


def test_every_failure_that_an_exchange_can_have_has_its_fate() -> None:
    for error in all_kinds_of(httpx2.TransportError):
        assert fate_of_failure(error("gone")).outcome in (Outcome.REJECTED, Outcome.UNKNOWN)


@pytest.mark.parametrize(("code", "ours"), CODES.items())
@pytest.mark.parametrize("status", [400, 404, 409, 422])
def test_a_refusal_that_the_service_explains_is_a_refusal(status: int, code: str, ours: str) -> None:
    assert fate_of_refusal(answer(status, code), CODES) == Effect.rejected(ours)


@pytest.mark.parametrize("status", [400, 403, 404, 409, 410, 412, 422])
def test_a_refusal_in_a_word_that_we_do_not_know_is_a_refusal_all_the_same(status: int) -> None:
    assert fate_of_refusal(answer(status, "their_own_word"), CODES) == Effect.rejected("downstream_rejected")


@pytest.mark.parametrize("status", [400, 403, 404, 409, 410, 412, 422])
@pytest.mark.parametrize("code", [None, ""])
def test_a_refusal_that_nobody_explains_is_uncertain(status: int, code: str | None) -> None:
    assert fate_of_refusal(answer(status, code), CODES) == Effect.unknown()


@pytest.mark.parametrize("status", [400, 409, 422])
def test_a_code_that_proves_nothing_is_uncertain(status: int) -> None:
    assert fate_of_refusal(answer(status, "key_taken"), CODES, frozenset({"key_taken"})) == Effect.unknown()


@pytest.mark.parametrize("status", [401, 405, 407, 408, 418, 425, 451, 499])
def test_a_status_that_a_proxy_may_have_made_is_uncertain(status: int) -> None:
    assert fate_of_refusal(answer(status, "quote_expired"), CODES) == Effect.unknown()


@pytest.mark.parametrize("status", [500, 502, 503, 504, 599, 301, 307, 304])
@pytest.mark.parametrize("code", [None, "quote_expired"])
def test_a_failing_service_proves_nothing_whatever_it_says(status: int, code: str | None) -> None:
    assert fate_of_refusal(answer(status, code), CODES) == Effect.unknown()


def test_come_back_later_is_a_refusal_for_now() -> None:
    told = fate_of_refusal(answer(429, "rate_limited", retry_after="7"), CODES)
    assert told == Effect.rejected("rate_limited", retryable=True, retry_after_seconds=7.0)
    assert fate_of_refusal(answer(429), CODES) == Effect.rejected("rate_limited", retryable=True)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>busy</html>",
        b"[]",
        b'"quote_expired"',
        b'{"error": "quote_expired"}',
        b'{"error": {"code": 7}}',
        b"\xff",
    ],
)
def test_an_odd_body_names_no_code(content: bytes) -> None:
    response = httpx2.Response(422, content=content)
    assert error_code(response) == ""
    assert fate_of_refusal(response, CODES) == Effect.unknown()


# -- Retry-After


@pytest.mark.parametrize(("value", "seconds"), [("0", 0.0), ("7", 7.0), (" 120 ", 120.0), ("0007", 7.0)])
def test_retry_after_in_seconds(value: str, seconds: float) -> None:
    assert retry_after(answer(429, retry_after=value)) == seconds


@pytest.mark.parametrize("moment", [email.utils.formatdate, lambda at: email.utils.formatdate(at, usegmt=True)])
def test_retry_after_as_a_moment(moment: object) -> None:
    assert callable(moment)
    left = retry_after(answer(429, retry_after=moment(time.time() + 100)))
    assert left == pytest.approx(100, abs=5)


def test_a_moment_that_has_passed_asks_for_no_pause() -> None:
    assert retry_after(answer(429, retry_after="Wed, 21 Oct 2015 07:28:00 GMT")) == 0.0


@pytest.mark.parametrize(
    "value",
    [
        "",
        "soon",
        "Wed",
        "Wed, 99 Foo 2015 07:28:00 GMT",
        "Wed, 21 Oct 2015 25:28:00 GMT",
        "Wed, 21 Oct 2015 07:28:00 +9999999999999",
        "-5",
        "1.5",
        "1e3",
        "²",
        "7, 8",
        "Infinity",
    ],
)
def test_an_unreadable_retry_after_says_nothing(value: str) -> None:
    assert retry_after(httpx2.Response(429, headers=[(b"retry-after", value.encode("latin-1"))])) is None


def test_no_retry_after_says_nothing() -> None:
    assert retry_after(answer(429)) is None


@pytest.mark.parametrize("value", ["9" * 12, "9" * 400, "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_nobody_is_sent_away_for_ages(value: str) -> None:
    """A workflow cannot wait longer than its timers can count."""
    left = retry_after(answer(429, retry_after=value))
    assert left is not None
    assert left <= 24 * 3600


@given(st.binary(max_size=40))
def test_no_retry_after_ever_breaks_the_exchange(value: bytes) -> None:
    if any(byte in value for byte in b"\r\n\0"):
        return
    left = retry_after(httpx2.Response(429, headers=[(b"retry-after", value)]))
    assert left is None or 0 <= left <= 24 * 3600


def all_kinds_of(error: type[httpx2.TransportError]) -> list[type[httpx2.TransportError]]:
    return [error, *(kind for child in error.__subclasses__() for kind in all_kinds_of(child))]
