"""One delivery: signed so that anybody can check it, and indifferent to whatever the receiver does."""

import base64
import hashlib
import hmac
from datetime import UTC, datetime

import pytest
from standardwebhooks.webhooks import WebhookVerificationError

from adapters.webhooks.receivers import Receiver
from adapters.webhooks.sender import Event, Fate, Sender
from tests.support.listener import (
    OLD_SECRET,
    SECRET,
    Answer,
    Listener,
    babbles,
    boasts,
    closes,
    drips,
    floods,
    listening,
    status,
)

ASKED_AT = datetime(2026, 11, 30, 12, 0, 5, tzinfo=UTC)
EVENT = Event("evt_1_7", "approval.asked", ASKED_AT, {"operation_id": "op_1", "amount": {"minor_units": 12_000}})


def now() -> datetime:
    return datetime.now(UTC)


async def send(listener: Listener, *keys: str, path: str = "/hook", seconds: float = 10.0) -> Fate:
    sender = Sender(keys or (SECRET,), seconds, now)
    try:
        return await sender.send(Receiver("chat", f"http://127.0.0.1:{listener.port}{path}"), EVENT)
    finally:
        await sender.close()


async def test_the_official_package_verifies_it_and_reads_the_event() -> None:
    async with listening() as listener:
        assert await send(listener) == Fate()
    (heard,) = listener.heard
    assert heard.verified() == {
        "type": "approval.asked",
        "timestamp": "2026-11-30T12:00:05+00:00",
        "data": {"operation_id": "op_1", "amount": {"minor_units": 12_000}},
    }
    assert (heard.event_id, heard.headers["content-type"]) == ("evt_1_7", "application/json")


async def test_the_signature_is_that_of_the_standard() -> None:
    async with listening() as listener:
        await send(listener)
    (heard,) = listener.heard
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    signed = f"evt_1_7.{heard.headers['webhook-timestamp']}.".encode() + heard.body
    expected = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    assert heard.headers["webhook-signature"] == f"v1,{expected}"


async def test_while_keys_are_changed_a_receiver_with_either_verifies_it() -> None:
    async with listening() as listener:
        await send(listener, SECRET, OLD_SECRET)
    (heard,) = listener.heard
    assert heard.verified(SECRET) == heard.verified(OLD_SECRET)
    with pytest.raises(WebhookVerificationError):
        heard.verified("whsec_" + base64.b64encode(b"somebody else's key, long").decode())


async def test_what_somebody_changed_on_the_way_does_not_verify() -> None:
    async with listening() as listener:
        await send(listener)
    (heard,) = listener.heard
    changed = type(heard)(heard.path, heard.headers, heard.body.replace(b"12000", b"99000"))
    with pytest.raises(WebhookVerificationError):
        changed.verified()


@pytest.mark.parametrize("code", [200, 201, 202, 204, 299])
async def test_any_success_is_one(code: int) -> None:
    async with listening(status(code)) as listener:
        assert await send(listener) == Fate()


@pytest.mark.parametrize("code", [301, 302, 307, 308, 400, 401, 404, 500, 502])
async def test_any_other_answer_is_a_failure_that_names_the_status(code: int) -> None:
    async with listening(status(code)) as listener:
        assert await send(listener) == Fate(f"status {code}")


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
async def test_nobody_is_sent_elsewhere_by_a_receiver(code: int) -> None:
    async with listening() as elsewhere, listening(status(code, location=elsewhere.url)) as listener:
        assert (await send(listener)).failure == f"status {code}"
    assert (len(listener.heard), elsewhere.heard) == (1, [])


async def test_a_receiver_that_is_gone_is_not_asked_again() -> None:
    async with listening(status(410)) as listener:
        assert await send(listener) == Fate("status 410", refused=True)


@pytest.mark.parametrize(
    ("code", "after", "seconds"),
    [(429, "120", 120), (503, "7", 7), (429, "soon", 0), (503, "999999999", 86_400), (500, "120", 0)],
)
async def test_a_pause_that_is_asked_for_is_kept_up_to_a_day(code: int, after: str, seconds: float) -> None:
    async with listening(status(code, retry_after=after)) as listener:
        assert await send(listener) == Fate(f"status {code}", not_before_seconds=seconds)


@pytest.mark.parametrize(
    ("answer", "failure"),
    [(closes, "RemoteProtocolError"), (babbles, "RemoteProtocolError"), (boasts, "RemoteProtocolError")],
)
async def test_a_receiver_that_speaks_no_http_has_not_taken_it(answer: Answer, failure: str) -> None:
    async with listening(answer) as listener:
        assert await send(listener) == Fate(failure)


async def test_a_slow_drip_ends_with_the_time_that_it_has() -> None:
    async with listening(drips) as listener:
        assert await send(listener, seconds=0.5) == Fate("TimeoutError")


async def test_one_that_never_answers_ends_with_the_time_that_it_has() -> None:
    async with listening() as listener:
        listener.answer = listener.hangs
        assert (await send(listener, seconds=0.3)).failure in {"TimeoutError", "ReadTimeout"}
    assert listener.hanging == 1


async def test_an_answer_without_an_end_is_not_read() -> None:
    async with listening(floods) as listener:
        assert await send(listener) == Fate()


async def test_where_nobody_listens_it_fails() -> None:
    async with listening() as listener:
        pass
    assert await send(listener) == Fate("ConnectError")


async def test_no_proxy_of_the_environment_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening() as proxy, listening() as listener:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert await send(listener) == Fate()
    assert (len(listener.heard), proxy.heard) == (1, [])


async def test_the_path_and_the_query_of_an_address_are_kept() -> None:
    async with listening() as listener:
        await send(listener, path="/services/T0/B0?thread=7")
    assert listener.heard[0].path == "/services/T0/B0?thread=7"
