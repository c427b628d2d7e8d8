"""The page of the audit log: who sees it, what a search finds, and what may be taken away as a file."""

import csv
import io
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest

from adapters.http.back_office import audit_files
from adapters.http.limits import Limiter, Limits
from tests.unit.back_office_house import DECISION, ISSUER, OWN_PAGE, Browser, House, house_of
from tests.unit.memory_back_office import NOON
from worker.audit_export import LINE
from worker.dev.issuer import DevelopmentIssuer, IssuerSettings
from workflows.domain.audit import AuditLine
from workflows.domain.errors import StoreUnavailable

AUDIT = "/back-office/audit"
DRAWN = AuditLine(
    tenant="tenant-a",
    event_id=0,
    at=NOON,
    actor="approver-2",
    what="decision.refused",
    operation_id="op_1",
    tool="refund_payment",
    resource="order:O-17",
    detail='{"code": "approval_already_decided"}',
    written_by="onceward_door",
)


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> httpx2.ASGITransport:
    folder: Path = tmp_path_factory.mktemp("issuer")
    return httpx2.ASGITransport(DevelopmentIssuer(IssuerSettings(dev_issuer_state_dir=folder, issuer=ISSUER)).app())


@pytest.fixture
def house(issuer: httpx2.ASGITransport) -> House:
    house = house_of(issuer)
    house.audit.add(DRAWN)
    house.audit.seal()
    return house


@pytest.fixture
async def operator(house: House) -> Browser:
    return await house.signed_in("operator-1")


FORGED: dict[str, tuple[dict[str, str], dict[str, str], str]] = {
    "another token": ({"csrf": "guessed"}, OWN_PAGE, "foreign_form"),
    "another site": ({}, {"Sec-Fetch-Site": "cross-site"}, "foreign_form"),
    "no choice of ours": ({"choice": "perhaps"}, OWN_PAGE, "odd_form"),
}


@pytest.mark.parametrize(("changed", "headers", "code"), FORGED.values(), ids=FORGED)
async def test_a_form_that_was_not_accepted_is_told_of_whoever_is_signed_in(
    house: House, changed: dict[str, str], headers: dict[str, str], code: str
) -> None:
    browser = await house.signed_in("approver-1")
    await browser.post(DECISION, await browser.hidden() | {"choice": "approve", "reason": ""} | changed, headers)
    line = house.audit.lines[-1]
    assert (line.tenant, line.actor, line.what) == ("tenant-a", "approver-1", "form.refused")
    assert json.loads(line.detail) == {"code": code, "form": "decision"}


async def test_forged_forms_do_not_flood_the_log(issuer: httpx2.ASGITransport) -> None:
    house = house_of(issuer, limits=Limits(forged=Limiter(3)))
    browser = await house.signed_in("approver-1")
    for _ in range(9):
        await browser.post(DECISION, {"csrf": "guessed"})
    assert [line.what for line in house.audit.lines].count("form.refused") == 3


async def test_a_form_of_nobody_is_not_told(house: House) -> None:
    before = len(house.audit.lines)
    await house.browser().post(DECISION, {"csrf": "guessed"})
    assert len(house.audit.lines) == before


async def test_a_denial_without_a_reason_and_a_word_on_no_revision_reach_the_store_that_tells_them(
    house: House,
) -> None:
    browser = await house.signed_in("approver-1")
    assert (await browser.decide("deny")).status_code == 422
    assert (await browser.decide("approve", revision="")).status_code == 409
    assert (await browser.decide("approve", intent_hash="")).status_code == 409
    assert [choice for _, _, choice in house.store.attempts] == ["deny", "approve", "approve"]


@pytest.mark.parametrize("person", ["viewer-1", "approver-1"])
@pytest.mark.parametrize("path", ["", "/download/csv", "/download/jsonl"])
async def test_nobody_but_auditors_and_operators_finds_it(house: House, person: str, path: str) -> None:
    browser = await house.signed_in(person)
    assert (await browser.get(f"{AUDIT}{path}")).status_code == 404
    assert AUDIT not in (await browser.get("/back-office/")).text


async def test_who_is_not_signed_in_is_led_to_the_sign_in(house: House) -> None:
    assert (await house.browser().get(AUDIT)).status_code == 303


async def test_it_tells_who_tried_what_and_the_head_of_the_chain(house: House, operator: Browser) -> None:
    page = (await operator.get(AUDIT)).text
    for told in ("approver-2", "decision.refused", "it did not count", "refund_payment", "order:O-17", "op_1"):
        assert told in page
    assert house.audit.heads["tenant-a"].hash in page
    assert "The newest line of the chain holds." in page
    assert "Nothing in it can be changed or removed." in page


async def test_it_speaks_korean_to_who_reads_korean(house: House) -> None:
    house.audit.add(DRAWN)
    browser = await house.signed_in("operator-1")
    page = (await browser.client.get(AUDIT, headers={"Accept-Language": "ko"})).text
    assert "감사 로그" in page
    assert "결정을 시도했으나 반영되지 않음" in page


async def test_a_broken_chain_is_told_with_its_place(house: House, operator: Browser) -> None:
    house.audit.lines[0] = replace(house.audit.lines[0], actor="somebody")
    page = (await operator.get(AUDIT)).text
    assert "The log does not hold: line 1 is the first" in page
    assert "Nothing in it can be changed or removed." not in page


async def test_what_waits_to_be_sealed_is_told(house: House, operator: Browser) -> None:
    house.audit.add(DRAWN)
    page = (await operator.get(AUDIT)).text
    assert "Lines that are not sealed yet: 1." in page
    assert "Not sealed yet" in page


SEARCHES = {
    "actor=approver-2": True,
    "actor=approver-9": False,
    "what=decision": True,
    "what=proposed": False,
    "about=O-17": True,
    "about=O-18": False,
    "operation=op_1": True,
    "operation=op_2": False,
    "since=2026-03-02&until=2026-03-02": True,
    "since=2026-03-03": False,
    "until=2026-03-01": False,
}


@pytest.mark.parametrize(("search", "finds"), SEARCHES.items())
async def test_a_search_finds_what_is_meant(operator: Browser, search: str, finds: bool) -> None:
    page = (await operator.get(f"{AUDIT}?{search}")).text
    assert ("order:O-17" in page) is finds
    assert ("Nothing was found." in page) is not finds


async def test_a_page_leads_to_the_earlier_lines_of_the_same_search(house: House, operator: Browser) -> None:
    for number in range(60):
        house.audit.add(replace(DRAWN, operation_id=f"op_9{number}"))
    first = (await operator.get(f"{AUDIT}?actor=approver-2")).text
    assert f"{AUDIT}?actor=approver-2&amp;before=12" in first
    later = (await operator.get(f"{AUDIT}?actor=approver-2&before=12")).text
    assert "op_90" in later
    assert "Earlier lines" not in later


@pytest.mark.parametrize("odd", ["before=x", "before=-1"])
async def test_a_cursor_that_no_page_has_given_is_absent(operator: Browser, odd: str) -> None:
    assert (await operator.get(f"{AUDIT}?{odd}")).status_code == 404


MISTYPED = {
    "since=yesterday": "This is no day, such as 2026-03-02.",
    "since=2026-02-30": "This is no day, such as 2026-03-02.",
    "until=9999-12-31": "This is no day, such as 2026-03-02.",
    f"actor={'x' * 256}": "This cannot be looked for.",
    "about=a%00b": "This cannot be looked for.",
}


@pytest.mark.parametrize("path", ["", "/download/csv", "/download/jsonl"])
@pytest.mark.parametrize(("typed", "said"), MISTYPED.items())
async def test_what_was_mistyped_is_told_beside_its_field_and_nothing_is_listed(
    operator: Browser, path: str, typed: str, said: str
) -> None:
    answer = await operator.get(f"{AUDIT}{path}?{typed}")
    assert answer.status_code == 422
    name = typed.partition("=")[0]
    assert f'<p class="fault" id="{name}-fault">{said}</p>' in answer.text
    assert f'aria-describedby="{name}-fault"' in answer.text
    assert "order:O-17" not in answer.text
    assert "Nothing was found." not in answer.text


async def test_a_mistyped_day_is_told_in_korean_to_who_reads_korean(operator: Browser) -> None:
    answer = await operator.client.get(f"{AUDIT}?since=yesterday", headers={"Accept-Language": "ko"})
    assert answer.status_code == 422
    assert "2026-03-02와 같은 날짜 형식이 아닙니다." in answer.text


async def test_what_others_wrote_is_inert(house: House, operator: Browser) -> None:
    house.audit.add(replace(DRAWN, actor="<script>alert(1)</script>", detail='{"code": "<b>\u202e"}'))
    page = (await operator.get(f"{AUDIT}?actor={quote('<script>')}")).text + (await operator.get(AUDIT)).text
    assert "<script>" not in page
    assert "\u202e" not in page


async def test_json_lines_have_every_line_of_the_search_as_it_is_hashed(house: House, operator: Browser) -> None:
    house.audit.add(replace(DRAWN, actor="executor", at=NOON + timedelta(hours=1)))
    house.audit.seal()
    answer = await operator.get(f"{AUDIT}/download/jsonl?actor=approver-2")
    assert answer.headers["content-disposition"] == 'attachment; filename="audit.jsonl"'
    (line,) = [LINE.validate_json(text) for text in answer.text.splitlines()]
    assert line == house.audit.lines[0]
    assert line.hash == line.true_hash()


async def test_csv_has_a_header_and_no_cell_that_a_spreadsheet_would_carry_out(house: House, operator: Browser) -> None:
    house.audit.add(replace(DRAWN, actor='=HYPERLINK("http://x")'))
    answer = await operator.get(f"{AUDIT}/download/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["actor"] for row in rows] == ['\'=HYPERLINK("http://x")', "approver-2"]
    assert json.loads(rows[1]["detail"]) == {"code": "approval_already_decided"}


async def test_a_file_is_read_a_part_at_a_time(
    house: House, operator: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_files, "AT_ONCE", 7)
    for _ in range(19):
        house.audit.add(DRAWN)
    answer = await operator.get(f"{AUDIT}/download/jsonl")
    numbers = [json.loads(text)["event_id"] for text in answer.text.splitlines()]
    assert numbers == list(range(20, 0, -1))


async def test_a_format_that_there_is_not_is_refused(operator: Browser) -> None:
    assert (await operator.get(f"{AUDIT}/download/xlsx")).status_code == 404


async def test_an_outage_is_told_instead_of_half_a_file(
    house: House, operator: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> object:
        raise StoreUnavailable

    monkeypatch.setattr(house.audit, "search", away)
    for path in (AUDIT, f"{AUDIT}/download/csv"):
        assert (await operator.get(path)).status_code == 503
