"""What others wrote is shown as inert text."""

import re
from dataclasses import replace

import pytest

from adapters.http.back_office.inert_text import marked, visible
from tests.unit.back_office_house import INBOX, PAGE, Browser, House
from tests.unit.back_office_sheets import REFUND, approval_sheet, operation_sheet
from workflows.domain.impact import Fact

HOSTILE = (
    Fact("payee", "Kim\u202etfel\u2066"),
    Fact("note", "<img src=x onerror=alert(1)><script>alert(1)</script>"),
    Fact("link", "[ok](javascript:alert(1)) https://evil.test"),
    Fact("template", "{{ 7*7 }}{% raw %}"),
    Fact("e\u200bmail", "p\u0430yments@shop.test"),
    Fact("long", "APPROVED BY CFO\n" * 5000),
)


async def test_hostile_values_are_shown_as_inert_text(house: House, approver: Browser) -> None:
    impact = replace(REFUND, action="Refund\u202e <b>all</b>", facts=HOSTILE)
    hostile = replace(approval_sheet(impact=impact), arguments=HOSTILE, why="'\"><svg onload=alert(1)>")
    house.store.ask(hostile)
    for path in (INBOX, PAGE):
        page = (await approver.get(path)).text
        assert not re.search(r"<(script|img src=x|svg|b>)", page)
        assert not re.search("[\u200b\u202e\u2066]", page)
    assert r"\u{202E}" in page
    assert "{{ 7*7 }}" in page
    assert "mixes alphabets" in page
    assert 'href="javascript' not in page
    assert 'href="https://evil' not in page


async def test_a_long_value_stands_after_the_key_facts_and_the_amount(house: House, approver: Browser) -> None:
    house.store.ask(replace(approval_sheet(), arguments=HOSTILE))
    page = (await approver.get(PAGE)).text
    assert page.index("₩12,000") < page.index("Key facts") < page.index("Still refundable") < page.index("APPROVED BY")
    assert "80,000 characters, scroll to read all" in page


async def test_a_hostile_downstream_is_inert_on_the_operation_page(house: House, approver: Browser) -> None:
    sheet = replace(operation_sheet(), reference="<script>1</script>\u202e", evidence=HOSTILE)
    house.store.record(sheet)
    page = (await approver.get("/back-office/operations/operation-1")).text
    assert "<script>" not in page
    assert "\u202e" not in page


async def test_a_typed_reason_comes_back_as_text(house: House, approver: Browser) -> None:
    answer = await approver.decide("approve", "</textarea><script>1</script>", revision="9")
    assert "<script>" not in answer.text
    assert "&lt;/textarea&gt;" in answer.text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain – text, 한글, ñ", "plain – text, 한글, ñ"),
        ("a\u202eb", r"a\u{202E}b"),
        ("a\u200bb\ufeff", r"a\u{200B}b\u{FEFF}"),
        ("line\nnext\tx\r", r"line\nnext\tx\r"),
        ("nul\0 esc\x1b[31m \x9b", r"nul\u{0000} esc\u{001B}[31m \u{009B}"),
        ("a\u00a0b\u3000c", r"a\u{00A0}b\u{3000}c"),
        ("\u3164\u2800\uffa0", r"\u{3164}\u{2800}\u{FFA0}"),
        ("tag\U000e0041", r"tag\u{E0041}"),
        ("half\ud800", r"half\u{D800}"),
        ("sep\u2028", r"sep\u{2028}"),
        ("tie\u0302\u0301ng, \u05e9\u05c1\u05bc\u05b8", "tie\u0302\u0301ng, \u05e9\u05c1\u05bc\u05b8"),
        ("a\u0301\u0301\u0301\u0301\u0489b", "a\u0301\u0301\u0301" + r"\u{0301}\u{0489}b"),
    ],
)
def test_what_cannot_be_seen_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_typed_escape_is_not_taken_for_a_real_one() -> None:
    assert marked(r"\u{202E}") == r"\u{202E}"
    assert marked("\u202e") == r'<span class="unseen">\u{202E}</span>'


def test_a_heap_of_marks_is_shown_for_what_it_is() -> None:
    assert marked("a" + "\u0301" * 40).count('<span class="unseen">\\u{0301}</span>') == 37


@pytest.mark.parametrize(
    ("word", "remark"),
    [
        ("p\u0430y", "mixes alphabets"),
        ("１２０", "unusual digits"),
        ("카카오pay", ""),
        ("оплата", ""),
        ("order-1001", ""),
    ],
)
def test_dubious_words_are_marked(word: str, remark: str) -> None:
    assert (">" + remark in marked(word)) if remark else (marked(word) == word)
