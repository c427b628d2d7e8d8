"""What holds of every answer of the back office."""

import re
from typing import Any

import httpx2
import pytest

from adapters.http.back_office.settings import BackOfficeSettings
from tests.unit.back_office_house import DECISION, HERE, INBOX, ISSUER, PAGE, SECRET, Browser, House, application
from tests.unit.back_office_sheets import approval_sheet, operation_sheet
from tests.unit.memory_back_office import MemoryBackOffice
from workflows.domain.errors import InvalidConfiguration, StoreUnavailable


@pytest.mark.parametrize(
    "path", ["approvals/%00", "approvals/a%20b", "operations/..%2F", "operations/%E2%80%AE", "nope"]
)
async def test_an_odd_address_is_absent(approver: Browser, path: str) -> None:
    assert (await approver.get(f"/back-office/{path}")).status_code == 404


@pytest.mark.parametrize("path", ["approvals/typed-4242", "operations/typed-4242", "typed-4242"])
async def test_a_refused_page_does_not_repeat_its_address(approver: Browser, path: str) -> None:
    answer = await approver.get(f"/back-office/{path}")
    assert answer.status_code == 404
    assert "typed-4242" not in answer.text


async def test_every_answer_carries_the_security_headers(house: House, approver: Browser) -> None:
    house.store.record(operation_sheet())
    paths = [INBOX, PAGE, "/back-office/operations", "/back-office/operations/operation-1", "/back-office/nope"]
    answers = [await approver.get(path) for path in (*paths, DECISION, "/back-office/assets/back-office.css")]
    answers += [
        await house.browser().get(path) for path in ("/back-office/sign-in", "/back-office/sign-in/start", INBOX)
    ]
    answers.append(await approver.decide("approve", revision="9"))
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'self'")
        assert "script-src" not in policy
        for rule in ("form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"):
            assert rule in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"


async def test_pages_need_nothing_from_elsewhere_and_no_script(house: House, approver: Browser) -> None:
    house.store.record(operation_sheet())
    for path in (INBOX, PAGE, "/back-office/operations/operation-1"):
        page = (await approver.get(path)).text
        assert not re.search(r"<script|<style| style=| on\w+=", page)
        assert all(
            source.startswith("/back-office/") for source in re.findall(r'(?:src|<link[^>]* href)="([^"]*)"', page)
        )


async def test_a_surprise_says_nothing_of_the_inside(house: House, development_issuer: httpx2.ASGITransport) -> None:
    class BrokenBackOffice(MemoryBackOffice):
        """Cannot be read."""

        async def pending(self, viewer: Any, query: Any = None) -> Any:
            raise RuntimeError("secret-of-the-house")

    app = application(BrokenBackOffice(house.clock), house.clock, development_issuer)
    here = httpx2.ASGITransport(app, raise_app_exceptions=False)
    browser = Browser({HERE: here, ISSUER: development_issuer})
    await browser.sign_in("approver-1")
    answer = await browser.get(INBOX)
    assert answer.status_code == 500
    assert "secret-of-the-house" not in answer.text
    assert answer.headers["content-security-policy"]


async def test_an_outage_of_the_store_says_that_a_word_may_have_counted(
    house: House, development_issuer: httpx2.ASGITransport
) -> None:
    class AwayWhenAskedToDecide(MemoryBackOffice):
        """Can be read, and is gone when a decision comes."""

        async def decide(self, *_: Any) -> Any:
            raise StoreUnavailable

    store = AwayWhenAskedToDecide(house.clock)
    store.ask(approval_sheet())
    here = httpx2.ASGITransport(application(store, house.clock, development_issuer))
    browser = Browser({HERE: here, ISSUER: development_issuer})
    await browser.sign_in("approver-1")
    answer = await browser.decide("approve")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "your word may have counted" in answer.text


@pytest.mark.parametrize(
    "wrong",
    [
        {"public_url": "localhost:8000"},
        {"public_url": "ftp://office.test"},
        {"session_secret": "short"},
        {"console_workflow_url": "javascript:alert(1)"},
    ],
)
def test_unfit_settings_stop_the_start(wrong: dict[str, str]) -> None:
    with pytest.raises(InvalidConfiguration):
        BackOfficeSettings(**{"public_url": HERE, "session_secret": SECRET, **wrong})
