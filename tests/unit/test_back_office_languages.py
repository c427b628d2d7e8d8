"""The pages in the reader's language: what they say, how they write amounts and times, and how to change it."""

import html
import re
from dataclasses import asdict, replace
from typing import Any

import httpx2
import pytest

from adapters.http.back_office.languages import COOKIE
from tests.unit.back_office_house import DECISION, INBOX, OWN_PAGE, PAGE, Browser, House
from tests.unit.back_office_sheets import REFUND, approval_sheet, operation_sheet
from tests.unit.memory_back_office import NOON
from workflows.domain.approval import ApprovalState
from workflows.domain.impact import Fact, Money
from workflows.domain.lifecycle import State

OPERATION = "/back-office/operations/operation-1"
OPERATIONS = "/back-office/operations"
SIGN_IN = "/back-office/sign-in"
LANGUAGE = "/back-office/language"


@pytest.fixture
def house(house: House) -> House:
    """A back office in which one approval waits, and one operation is unconfirmed."""
    house.store.record(operation_sheet())
    return house


@pytest.fixture
async def korean(house: House) -> Browser:
    """Somebody whose issuer says that they speak Korean and live in Seoul."""
    return await house.signed_in("approver-5")


@pytest.fixture
async def english(house: House) -> Browser:
    return await house.signed_in("approver-1")


def text_of(answer: httpx2.Response) -> str:
    """What a reader sees, with single spaces."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", answer.text)).split())


# ── what the pages say ──


@pytest.mark.parametrize(
    ("path", "sentences"),
    [
        (
            INBOX,
            [
                "결정을 기다리는 요청",
                "요청 1건, 기한이 가까운 순서입니다.",
                "18분 전 요청 · 요청자 support-7",
                "2일 후 마감",
            ],
        ),
        (PAGE, ["핵심 정보", "되돌릴 수 없음", "결정하기", "거절할 때 필요", "에이전트 support-agent 경유", "0/1"]),
        (OPERATIONS, ["작업", "전체", "40분 전 시작 · 요청자 support-7", "확인되지 않음", "마지막 변경 2분 전"]),
        (
            OPERATION,
            [
                "전송했으나 응답이 오지 않았습니다.",
                "게이트의 판정",
                "업무 규칙에 맞음",
                "사람에게 확인",
                "1회",
                "개정 1",
            ],
        ),
        ("/back-office/nope", ["표시할 내용이 없습니다", "승인 목록으로 돌아가기"]),
    ],
)
async def test_every_page_speaks_korean(korean: Browser, path: str, sentences: list[str]) -> None:
    answer = await korean.get(path)
    assert '<html lang="ko">' in answer.text
    shown = text_of(answer)
    assert [sentence for sentence in sentences if sentence not in shown] == []


LATIN_WORD = re.compile(r"[A-Za-z]{2,}")

NAMES = "Onceward English Refund approver"
"""What stays as it is on every page: names."""


def values_of(sheet: Any) -> str:
    """Every value in a sheet, without the names of its fields."""
    if isinstance(sheet, dict):
        return " ".join(values_of(value) for value in sheet.values())
    if isinstance(sheet, tuple | list | frozenset):
        return " ".join(values_of(value) for value in sheet)
    return str(sheet)


@pytest.mark.parametrize("state", list(State))
async def test_on_a_korean_page_only_data_are_english(house: House, korean: Browser, state: State) -> None:
    house.store.record(operation_sheet(state=state))
    shown = " ".join([text_of(await korean.get(path)) for path in (INBOX, PAGE, OPERATIONS, OPERATION)])
    given = values_of([asdict(approval_sheet()), asdict(operation_sheet(state=state))])
    assert set(LATIN_WORD.findall(shown)) - set(LATIN_WORD.findall(f"{given} {NAMES}")) == set()


async def test_an_english_page_says_that_it_is_english(english: Browser) -> None:
    assert '<html lang="en">' in (await english.get(INBOX)).text


async def test_amounts_are_written_as_the_language_writes_them(house: House, korean: Browser, english: Browser) -> None:
    for money, in_korean, in_english in (
        (Money(12000, "KRW"), "₩12,000", "₩12,000"),
        (Money(250050, "USD"), "US$2,500.50", "$2,500.50"),
        (Money(1234567, "KWD"), "1,234.567 KWD", "1,234.567 KWD"),
        (Money(1234567, "XXX"), "최소 단위 1,234,567", "1,234,567 minor units"),
    ):
        house.store.ask(approval_sheet(impact=replace(REFUND, money=money)))
        assert in_korean in text_of(await korean.get(PAGE))
        assert in_english in text_of(await english.get(PAGE))


async def test_times_are_those_of_the_persons_zone_which_is_named(korean: Browser, english: Browser) -> None:
    assert "2026년 3월 2일 20:42 한국 표준시에 서버가 확인한 내용입니다." in text_of(await korean.get(PAGE))
    assert "What the server found on 2 Mar 2026, 11:42 UTC." in text_of(await english.get(PAGE))
    story = text_of(await korean.get(OPERATION))
    assert "3월 2일 20:20:00" in story
    assert "시각은 한국 시간 기준입니다." in story


async def test_a_machine_reads_the_same_time_whatever_the_zone(korean: Browser, english: Browser) -> None:
    told = [re.findall(r'<time datetime="([^"]+)"', (await browser.get(PAGE)).text) for browser in (korean, english)]
    assert told[0] == told[1] != []


async def test_a_decision_is_answered_in_korean(house: House, korean: Browser) -> None:
    missing = await korean.decide("deny")
    assert "거절하려면 사유가 필요합니다" in missing.text
    counted = await korean.decide("deny", "중복 요청입니다.")
    assert "거절이 반영되었습니다" in counted.text
    assert "2026년 3월 2일 21:00 한국 표준시에 환불 승인자 (approver-5) 님이 거절했습니다." in text_of(counted)
    assert house.state() is ApprovalState.DENIED


async def test_people_who_are_missing_are_counted_in_every_form(
    house: House, korean: Browser, english: Browser
) -> None:
    house.store.ask(approval_sheet(quorum=3))
    first = text_of(await korean.decide("approve"))
    assert "승인 1/3. 2명이 더 승인하면 진행됩니다." in first
    second = text_of(await english.decide("approve"))
    assert "2 of 3 approvals. It goes on when one more person has approved." in second


# ── what others wrote, inside our sentences ──


async def test_what_others_wrote_stays_inert_inside_a_translated_sentence(house: House, korean: Browser) -> None:
    hostile = "x\u202e<b>%(when)s</b>{{ 7*7 }}"
    sheet = approval_sheet(impact=replace(REFUND, facts=(Fact("이름", "p\u0430y"),)))
    house.store.ask(replace(sheet, tool=hostile, requester=replace(sheet.requester, agent=hostile, subject=hostile)))
    for path in (INBOX, PAGE):
        page = (await korean.get(path)).text
        assert "<b>" not in page
        assert "\u202e" not in page
        assert "&lt;b&gt;%(when)s&lt;/b&gt;{{ 7*7 }}" in page
    assert "여러 문자 체계가 섞임" in page


async def test_a_word_that_no_table_knows_is_shown_as_a_value(house: House, korean: Browser) -> None:
    sheet = operation_sheet()
    house.store.record(replace(sheet, line=replace(sheet.line, waiting_for="100% <i>\u200b")))
    page = (await korean.get(OPERATION)).text
    assert "100% &lt;i&gt;" in page
    assert "\u200b" not in page


# ── changing the language ──


async def choose(browser: Browser, path: str, language: str, **changed: str) -> httpx2.Response:
    """Press the button in the header of a page."""
    page = (await browser.get(path)).text
    form = re.search(r'<form class="languages".*?</form>', page, re.DOTALL)
    assert form is not None
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form[0])
    fields = {name: html.unescape(value) for name, value in hidden}
    return await browser.post(LANGUAGE, fields | {"language": language} | changed)


@pytest.mark.parametrize("path", [INBOX, PAGE, OPERATION, f"{OPERATIONS}?state=succeeded&after=50"])
async def test_the_switch_keeps_the_page_and_the_choice(english: Browser, path: str) -> None:
    answer = await choose(english, path, "ko")
    assert (answer.status_code, answer.headers["location"]) == (303, path)
    assert '<html lang="ko">' in (await english.get(path)).text
    assert (await choose(english, path, "en")).headers["location"] == path
    assert '<html lang="en">' in (await english.get(path)).text


async def test_the_persons_choice_outlives_the_sign_in_and_counts_more_than_it(house: House, korean: Browser) -> None:
    await choose(korean, INBOX, "en")
    await korean.sign_in("approver-5")
    assert '<html lang="en">' in (await korean.get(INBOX)).text


async def test_the_language_can_be_chosen_before_signing_in_and_the_way_back_is_kept(house: House) -> None:
    browser = house.browser()
    wanted = f"{SIGN_IN}?next=%2Fback-office%2Fapprovals%2Fapproval-1"
    assert (await choose(browser, wanted, "ko")).headers["location"] == wanted
    page = (await browser.get(wanted)).text
    assert '<html lang="ko">' in page
    assert "start?next=%2Fback-office%2Fapprovals%2Fapproval-1" in page


async def test_a_browser_that_asks_for_korean_is_answered_in_korean(house: House) -> None:
    browser = house.browser()
    browser.client.headers["Accept-Language"] = "ko-KR,ko;q=0.9,en-US;q=0.8"
    assert "에이전트가 요청한 일을 사람이 결정하고" in (await browser.get(SIGN_IN)).text


async def test_after_a_decision_the_switch_leads_to_the_page_and_not_to_the_form(english: Browser) -> None:
    decided = await english.decide("approve")
    assert f'name="page" value="{PAGE}"' in decided.text


async def test_a_failed_sign_in_keeps_nothing_that_the_issuer_sent(house: House) -> None:
    answer = await house.browser().get(f"{SIGN_IN}/callback?code=secret-code&state=x")
    assert answer.status_code == 400
    assert "secret-code" not in answer.text
    assert 'name="page" value="/back-office/"' in answer.text


async def test_the_choice_is_a_plain_cookie_that_no_script_reads(english: Browser) -> None:
    answer = await choose(english, INBOX, "ko")
    (cookie,) = answer.headers.get_list("set-cookie")
    assert cookie.startswith(f"{COOKIE}=ko; ")
    assert {"HttpOnly", "SameSite=lax", "Path=/", "Max-Age=31536000"} <= set(cookie.split("; "))


@pytest.mark.parametrize("language", ["", "xx", "ko\r\nSet-Cookie: a=b", "../ko", "KO"])
async def test_a_language_that_we_do_not_speak_is_not_kept(english: Browser, language: str) -> None:
    answer = await choose(english, INBOX, language)
    assert answer.status_code == 400
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.test/",
        "//evil.test",
        "/back-office//evil.test",
        "/back-office/../v1/turns",
        "/back-office/\\evil.test",
        "/back-office/\r\nSet-Cookie: a=b",
        "/v1/turns",
        "/back-office/" + "a" * 3000,
        "",
    ],
)
async def test_the_switch_never_leads_elsewhere(english: Browser, elsewhere: str) -> None:
    answer = await choose(english, INBOX, "ko", page=elsewhere)
    assert answer.headers["location"] == INBOX


async def test_another_sites_form_changes_no_language(house: House, english: Browser) -> None:
    form = {"language": "ko", "page": INBOX}
    for browser in (english, house.browser()):
        for headers in ({}, {"Origin": "https://evil.test"}, {"Sec-Fetch-Site": "cross-site"}):
            assert (await browser.post(LANGUAGE, form, headers)).status_code == 403
    # Whoever is signed in proves it as with every other form.
    assert (await english.post(LANGUAGE, form, OWN_PAGE)).status_code == 403
    assert COOKIE not in english.client.cookies


async def test_a_decision_counts_the_same_in_every_language(house: House, korean: Browser, english: Browser) -> None:
    assert set(await korean.hidden()) == set(await english.hidden())
    answer = await korean.post(DECISION, await korean.hidden() | {"choice": "approve"})
    assert (answer.status_code, house.state()) == (200, ApprovalState.GRANTED)
    assert house.store.approvals["approval-1"].votes[0].at == NOON
