"""The page of invariants: what is broken and by what, and plots whose numbers are those that were counted."""

import html
import re
from xml.etree import ElementTree

import httpx2
import pytest

from adapters.http.back_office.dashboard_ports import AGES, TIMES_TO_DECIDE, End, Figures, Overview, Span
from adapters.http.back_office.dashboard_words import AGES as AGE_WORDS
from adapters.http.back_office.dashboard_words import ENDS, INVARIANTS
from adapters.http.back_office.dashboard_words import TIMES_TO_DECIDE as TIME_WORDS
from adapters.http.back_office.drawing import BOTTOM, Drawing, drawn, scale
from adapters.http.back_office.languages import ENGLISH
from adapters.http.back_office.plots import Bar, Plot, Series, plots_of
from adapters.http.back_office.security import POLICY
from adapters.postgres.invariants import NAMES
from tests.fakes.dashboard import Claimed, MemoryDashboard, Row
from tests.unit.back_office_house import Browser, House
from tests.unit.memory_back_office import NOON
from worker.kept_dashboard import MOST_KEPT, KeptDashboard
from workflows.domain.effect import ABANDONED
from workflows.domain.gate import Layer
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal

PAGE = "/back-office/invariants"
HOUR = 3600.0
HOSTILE = '</title></text><script>alert(1)</script><rect onload="x" \u202e&amp; 환불'
"""A name of a tool as a model may have made it up."""


@pytest.fixture
async def viewer(house: House) -> Browser:
    """Somebody of tenant-a."""
    return await house.signed_in("approver-1")


def ended(operation_id: str, state: State = State.SUCCEEDED, *, ago: float = 0.0, **more: object) -> Row:
    return Row(operation_id, "tenant-a", state, changed=ago, ended=ago, **more)  # type: ignore[arg-type]


def text_of(answer: httpx2.Response) -> str:
    """What a reader sees, with single spaces."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.text)).split()).replace(" ,", ",")


def pictures(page: str) -> list[ElementTree.Element]:
    """Every drawing of the page, read as XML: one that is not well-formed is an error."""
    return [ElementTree.fromstring(found) for found in re.findall(r"<svg class=\"plot\".*?</svg>", page, re.DOTALL)]


def table(page: str, key: str) -> list[list[str]]:
    """The rows of the numbers of one plot."""
    figure = next(part for part in page.split("<figure")[1:] if f'id="plot-{key}"' in part)
    rows = re.findall(r"<tr>(.*?)</tr>", figure, re.DOTALL)[1:]
    return [[html.unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]


# ── what must hold ──


def test_every_invariant_has_a_name_and_a_promise_in_words() -> None:
    assert set(INVARIANTS) == set(NAMES)


async def test_where_nothing_has_happened_every_promise_holds_and_nothing_is_drawn(viewer: Browser) -> None:
    answer = await viewer.get(PAGE)
    assert answer.status_code == 200
    assert "Every promise holds." in text_of(answer)
    assert "Broken" not in text_of(answer)
    assert pictures(answer.text) == []
    assert text_of(answer).count("Nothing to count") == 8


async def test_a_broken_promise_stands_first_with_links_to_what_breaks_it(house: House, viewer: Browser) -> None:
    house.dashboard.operations.append(Row("op_broken", "tenant-a", State.SUCCEEDED, changed=2 * HOUR))
    answer = await viewer.get(PAGE)
    assert "1 of these promises is broken." in text_of(answer)
    assert '<a class="id" href="/back-office/operations/op_broken">op_broken</a>' in answer.text
    assert (
        "1 case. The one that has been so for the longest was changed last on 2 Mar 2026, 10:00 UTC, 2 hours ago."
        in (text_of(answer))
    )
    assert answer.text.index("op_broken") < answer.text.index("Holds")


async def test_what_another_tenant_has_broken_is_not_shown(house: House, viewer: Browser) -> None:
    house.dashboard.operations.append(Row("op_theirs", "tenant-b", State.SUCCEEDED))
    answer = await viewer.get(PAGE)
    assert "Every promise holds." in text_of(answer)
    assert "op_theirs" not in answer.text


async def test_what_waits_is_shown_with_the_age_of_the_oldest(house: House, viewer: Browser) -> None:
    house.dashboard.operations += [
        Row(f"op_{place}", "tenant-a", State.UNCONFIRMED, changed=place * HOUR) for place in range(1, 4)
    ]
    assert "Not confirmed 3 the oldest for 3 hours" in text_of(await viewer.get(PAGE))


async def test_nobody_sees_it_who_is_not_signed_in(house: House) -> None:
    answer = await house.browser().get(PAGE)
    assert answer.status_code == 303
    assert "sign-in" in answer.headers["location"]


async def test_a_span_that_is_not_offered_is_not_found(viewer: Browser) -> None:
    assert (await viewer.get(f"{PAGE}?span=year")).status_code == 404


async def test_in_korean_the_page_is_korean(house: House) -> None:
    house.dashboard.operations += [ended("op_1"), Row("op_2", "tenant-a", State.STARTED, ended=1.0)]
    korean = await house.signed_in("approver-5")
    shown = text_of(await korean.get(PAGE))
    for words in (
        "불변 조건",
        "약속 1개가 깨졌습니다.",
        "효과는 한 번",
        "시간당 작업 수, 종료 방식별",
        "3월 2일 21:00",
        "숫자로 보기",
    ):
        assert words in shown, words


# ── the plots ──


async def test_the_numbers_beside_a_plot_are_those_of_the_rows(house: House, viewer: Browser) -> None:
    house.dashboard.operations += [
        ended("op_1", ago=2 * HOUR),
        ended("op_2", ago=2 * HOUR),
        ended("op_3", State.FAILED_TERMINAL, ago=2 * HOUR),
        ended("op_4", State.FAILED_TERMINAL, code=ABANDONED),
    ]
    house.dashboard.claims += [Claimed("op_1", 1, 2, 1), Claimed("op_2", 2, 1, 4), Claimed("op_3", 0, 0, 1)]
    page = (await viewer.get(PAGE)).text
    rows = table(page, "ends")
    assert len(rows) == Span.DAY.bars
    assert rows[-3:] == [
        ["2 Mar, 10:00", "2", "0", "1", "0"],
        ["2 Mar, 11:00", "0", "0", "0", "0"],
        ["2 Mar, 12:00", "0", "0", "0", "1"],
    ]
    assert table(page, "effects") == [["0", "1", "0"], ["1", "1", "0"], ["2 or more", "0", "1"]]
    assert table(page, "sends") == [["0", "2"], ["1", "1"], ["2", "0"], ["3 or more", "0"]]
    assert table(page, "claims") == [["0", "2"], ["1", "0"], ["2", "0"], ["3 or more", "1"]]


async def test_a_plot_says_in_a_sentence_what_it_shows(house: House, viewer: Browser) -> None:
    house.dashboard.refusals += [("tenant-a", Layer.BUSINESS, "quote_changed", HOUR)] * 3
    picture = pictures((await viewer.get(PAGE)).text)[0]
    page = await viewer.get(PAGE)
    assert picture.attrib["role"] == "img"
    name, sentence = picture.attrib["aria-labelledby"].split()
    assert f'id="{name}">Refusals by layer and code<' in page.text
    assert f'id="{sentence}">3 in all (refusals); most at Fits the business rules · quote_changed: 3.<' in page.text


async def test_a_hostile_name_of_a_tool_is_text_in_a_well_formed_picture(house: House, viewer: Browser) -> None:
    house.dashboard.corrections.append(("tenant-a", HOSTILE, HOUR))
    page = (await viewer.get(PAGE)).text
    (picture,) = pictures(page)
    tags = {element.tag for element in picture.iter()}
    assert tags == {"svg", "rect", "title", "text"}
    assert {name for element in picture.iter("rect") for name in element.attrib} == {
        "class",
        "x",
        "y",
        "width",
        "height",
    }
    assert HOSTILE.replace("\u202e", "\\u{202E}") in [element.text for element in picture.iter("text")]
    assert "<script" not in page
    assert "\u202e" not in page


async def test_the_page_needs_nothing_that_the_policy_forbids(house: House, viewer: Browser) -> None:
    house.dashboard.operations.append(ended("op_1"))
    answer = await viewer.get(PAGE)
    assert answer.headers["Content-Security-Policy"] == POLICY
    assert "default-src 'none'" in POLICY
    assert "unsafe" not in POLICY
    assert re.search(r"<script|<style|\sstyle=|\son[a-z]+=|javascript:|https?://", answer.text) is None


def test_the_bounds_of_the_figures_have_a_name_each() -> None:
    assert (len(AGE_WORDS), len(TIME_WORDS)) == (len(AGES) + 1, len(TIMES_TO_DECIDE) + 1)
    assert set(ENDS) == set(End)


@pytest.mark.parametrize(
    ("largest", "end"), [(0, 1), (1, 1), (2, 2), (3, 5), (6, 10), (11, 20), (21, 50), (99, 100), (1001, 2000)]
)
def test_an_axis_ends_at_a_round_number(largest: int, end: int) -> None:
    assert scale(largest) == end


def heights(drawing: Drawing, tone: str) -> list[float]:
    return [box.height for box in drawing.boxes if box.tone == tone]


def test_bars_are_as_high_as_their_numbers_and_stand_on_one_another() -> None:
    plot = Plot(
        "k", "", "", "", (Series("a", "good"), Series("b", "bad")), (Bar("x", (3, 1), "x"), Bar("y", (2, 0), "y"))
    )
    drawing = drawn(plot)
    (first, second), (upper,) = heights(drawing, "good"), heights(drawing, "bad")
    assert first / second == pytest.approx(3 / 2, rel=0.01)
    assert first / upper == pytest.approx(3, rel=0.01)
    lower, above = drawing.boxes[0], drawing.boxes[1]
    assert lower.y + lower.height == pytest.approx(BOTTOM)
    assert above.y + above.height == pytest.approx(lower.y)


@pytest.mark.parametrize("span", list(Span))
def test_every_plot_fits_into_its_picture(span: Span) -> None:
    refusals = {(Layer.SCHEMA, f"code_{place}"): place + 1 for place in range(12)}
    figures = Figures(NOON, ends={(NOON, End.SUCCEEDED): 7}, refusals=refusals, other_refusals=4, effects={1: 90})
    for plot in plots_of(figures, span, ENGLISH):
        drawing = drawn(plot)
        for box in drawing.boxes:
            assert 0 <= box.x <= box.x + box.width <= drawing.width
            assert 0 <= box.y <= box.y + box.height <= drawing.height


def test_what_is_not_told_one_by_one_is_told_together() -> None:
    figures = Figures(NOON, corrections={"tool_a": 5}, other_corrections=3)
    plot = plots_of(figures, Span.DAY, ENGLISH)[-1]
    assert [(bar.label, bar.numbers) for bar in plot.bars] == [("tool_a", (5,)), ("All others", (3,))]


# ── kept for a while ──


class Counting(MemoryDashboard):
    """Counts how often it is read, and for whom."""

    read: list[str]

    async def overview(self, viewer: Principal, span: Span) -> Overview:
        self.read = [*getattr(self, "read", []), viewer.tenant]
        return await super().overview(viewer, span)


def of(tenant: str) -> Principal:
    return Principal(tenant, "viewer-1", frozenset({"viewer"}))


async def test_each_tenants_overview_is_read_once_in_a_while_and_never_shown_to_another() -> None:
    source = Counting(operations=[Row("op_1", "tenant-a", State.STARTED, ended=0.0)])
    now = [0.0]
    kept = KeptDashboard(source, clock=lambda: now[0])
    for _ in range(3):
        for tenant, broken in (("tenant-a", 1), ("tenant-b", 0)):
            seen = await kept.overview(of(tenant), Span.DAY)
            assert seen is not None
            assert sum(each.broken for each in seen.invariants) == broken
    assert source.read == ["tenant-a", "tenant-b"]
    now[0] = 6.0
    await kept.overview(of("tenant-a"), Span.DAY)
    assert source.read == ["tenant-a", "tenant-b", "tenant-a"]


async def test_only_so_many_are_kept() -> None:
    source = Counting()
    kept = KeptDashboard(source, clock=lambda: 0.0)
    for place in range(MOST_KEPT + 1):
        await kept.overview(of(f"tenant-{place}"), Span.DAY)
    await kept.overview(of(f"tenant-{MOST_KEPT}"), Span.DAY)
    await kept.overview(of("tenant-0"), Span.DAY)
    assert source.read[-2:] == [f"tenant-{MOST_KEPT}", "tenant-0"]
