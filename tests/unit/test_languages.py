"""Every sentence of the pages in every language, and whose word counts for the language and the time zone."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

import pytest
from babel.messages.catalog import Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po
from iso4217 import Currency
from starlette.requests import Request

from adapters.http.back_office import notices, operations, words
from adapters.http.back_office.figures import amount, distance, moment, zone_name
from adapters.http.back_office.inert_text import visible
from adapters.http.back_office.languages import COOKIE, FOLDER, Language, language_of, languages, zone_of
from adapters.http.back_office.session import Session
from adapters.postgres.back_office.operation_lists import WAITING
from tests.unit.memory_back_office import NOON
from workflows.domain.errors import ERRORS, OWN_CODES
from workflows.domain.impact import Money
from workflows.domain.principal import Principal

PAGES = FOLDER.parent

EXTRACTORS = [("**.py", "python"), ("**.html", "jinja2")]

PLACEHOLDER = re.compile(r"%\((\w+)\)([sd])")

FOREIGN = [code for code in languages() if code != "en"]


def marked() -> Iterator[str | tuple[str, ...]]:
    """Everything that is marked for translation, and the words that the store and the catalogue of errors give."""
    yield from (found[2] for found in extract_from_dir(str(PAGES), EXTRACTORS))
    yield from WAITING.values()
    yield from (ERRORS[code].meaning for code in OWN_CODES)


def translated(code: str) -> Iterator[tuple[Path, Message]]:
    for file in sorted((FOLDER / code).glob("*.po")):
        with file.open("rb") as written:
            yield from ((file, message) for message in read_po(written, locale=code, abort_invalid=True) if message.id)


def forms(sentence: str | Sequence[str] | None) -> tuple[str, ...]:
    return (sentence,) if isinstance(sentence, str) else tuple(sentence or ())


@pytest.mark.parametrize("code", FOREIGN)
def test_every_sentence_has_a_translation(code: str) -> None:
    known = {forms(message.id) for _, message in translated(code) if all(forms(message.string)) and not message.fuzzy}
    assert [sentence for sentence in marked() if forms(sentence) not in known] == []


@pytest.mark.parametrize("code", FOREIGN)
def test_no_translation_outlives_its_sentence(code: str) -> None:
    wanted = {forms(sentence) for sentence in marked()}
    assert [message.id for _, message in translated(code) if forms(message.id) not in wanted] == []


@pytest.mark.parametrize("code", FOREIGN)
def test_every_translation_takes_the_same_values(code: str) -> None:
    for _, message in translated(code):
        wanted = {kind for form in forms(message.id) for kind in PLACEHOLDER.findall(form)}
        for form in forms(message.string):
            assert set(PLACEHOLDER.findall(form)) == wanted, message.id
            # Nothing else in it may be taken for a place to fill.
            assert not wanted or "%" not in PLACEHOLDER.sub("", form), message.id


@pytest.mark.parametrize("code", FOREIGN)
def test_one_sentence_is_translated_in_one_way(code: str) -> None:
    ways: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for _, message in translated(code):
        ways.setdefault(forms(message.id), set()).add(forms(message.string))
    assert {sentence: told for sentence, told in ways.items() if len(told) > 1} == {}


# ── nothing is left unmarked ──

STATEMENT = re.compile(r"\{% block width %\}\w*|\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
SPOKEN_ATTRIBUTE = re.compile(r'(?:aria-label|alt|title|placeholder)="([^"]*)"')


@pytest.mark.parametrize("template", sorted((PAGES / "templates").glob("*.html")), ids=lambda path: path.name)
def test_a_template_says_nothing_but_marked_sentences_and_its_own_name(template: Path) -> None:
    markup = STATEMENT.sub("", template.read_text())
    said = [*SPOKEN_ATTRIBUTE.findall(markup), *TAG.sub("\n", markup).replace("Onceward", "").splitlines()]
    assert [words.strip() for words in said if re.search(r"[A-Za-z]", words)] == []


def test_every_word_of_the_tables_is_marked() -> None:
    korean = languages()["ko"]
    tables = [
        value for module in (words, notices, operations) for name, value in vars(module).items() if name.isupper()
    ]
    told = {sentence for table in tables for sentence in spoken(table)}
    assert len(told) > 50
    assert [sentence for sentence in told if korean.gettext(sentence) == sentence] == []


def spoken(value: object) -> Iterator[str]:
    """The sentences in a table of ours, or in one word of it."""
    if isinstance(value, dict):
        for one in value.values():
            yield from ((one,) if isinstance(one, str) else spoken(one))
    elif isinstance(value, words.Standing):
        yield from (text for text in (value.chip, value.sentence) if text)


SAID_TO_PEOPLE = {"PageRefused", "Notice", "Standing", "no_entry", "cls"}


@pytest.mark.parametrize("module", sorted(PAGES.glob("*.py")), ids=lambda path: path.name)
def test_no_refusal_and_no_notice_is_left_unmarked(module: Path) -> None:
    calls = [node for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.Call)]
    sentences = [
        argument.value
        for call in calls
        if getattr(call.func, "attr", getattr(call.func, "id", "")) in SAID_TO_PEOPLE
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]
    assert [sentence for sentence in sentences if sentence[:1].isupper()] == []


# ── figures ──


@pytest.mark.parametrize("language", languages().values(), ids=languages())
def test_no_figure_holds_a_character_that_is_shown_as_an_escape(language: Language) -> None:
    told = [amount(Money(-123456789, currency.code), language).figure for currency in Currency]
    for name in sorted(available_timezones()):
        told += [moment(NOON, there := replace(language, zone=zone_of(name))), zone_name(there)]
    told += [distance(NOON + timedelta(seconds=2**number), NOON, language) for number in range(30)]
    assert [figure for figure in told if visible(figure) != figure] == []


@pytest.mark.parametrize(("name", "summer"), [("Europe/Berlin", "CEST"), ("America/New_York", "EDT")])
def test_a_time_is_told_with_the_name_that_its_zone_has_then(name: str, summer: str) -> None:
    there = replace(languages()["en"], zone=zone_of(name))
    july = datetime(2026, 7, 2, 12, tzinfo=UTC)
    assert july.astimezone(there.zone).tzname() == summer
    assert moment(july, there).endswith("Summer Time" if summer == "CEST" else "Daylight Time")
    assert moment(NOON, there).endswith("Standard Time")
    # For a whole list of times it is the name for all of the year.
    assert "Standard" not in zone_name(there)


def test_korean_has_one_form_for_every_number() -> None:
    korean = languages()["ko"]
    one, many = "%(num)d request.", "%(num)d requests, the nearest deadline first."
    assert {korean.ngettext(one, many, number) % {"num": number} for number in (1, 2)} == {
        "요청 1건, 기한이 가까운 순서입니다.",
        "요청 2건, 기한이 가까운 순서입니다.",
    }


@pytest.mark.parametrize("language", languages().values(), ids=languages())
def test_no_word_is_no_word_in_every_language(language: Language) -> None:
    assert language.gettext("") == ""


# ── whose word counts ──


def asked(cookie: str = "", accepted: str = "") -> Request:
    headers = [(b"cookie", f"{COOKIE}={cookie}".encode("latin-1")), (b"accept-language", accepted.encode("latin-1"))]
    return Request({"type": "http", "method": "GET", "path": "/", "headers": headers})


def signed_in(locale: str = "", zone: str = "") -> Session:
    return Session(
        Principal("tenant-a", "approver-1", frozenset()), "csrf", datetime(2026, 3, 2, tzinfo=UTC), locale, zone
    )


@pytest.mark.parametrize(
    ("cookie", "locale", "accepted", "code"),
    [
        ("en", "ko-KR", "ko", "en"),
        ("ko", "en-US", "en", "ko"),
        ("", "ko-KR", "en", "ko"),
        ("", "ko_KR", "en", "ko"),
        ("", "en-GB", "ko", "en"),
        ("", "", "ko-KR,ko;q=0.9,en-US;q=0.8", "ko"),
        ("", "", "fr, ko;q=0.5, en;q=0.4", "ko"),
        ("", "", "en;q=0.4, ko;q=0.5", "ko"),
        ("", "", "ko;q=0, en", "en"),
        ("", "", "ko;q=9, en", "en"),
        ("", "de", "fr", "en"),
        ("", "", "", "en"),
    ],
)
def test_the_persons_choice_counts_before_the_sign_in_and_that_before_the_browser(
    cookie: str, locale: str, accepted: str, code: str
) -> None:
    assert language_of(asked(cookie, accepted), signed_in(locale)).code == code


@pytest.mark.parametrize(
    "odd", ["xx", "ko\x00", "../ko", "KO KR", "<script>", "\xff\xfe", "k" * 10_000, "-", "_", "*", ",;,;="]
)
def test_an_odd_wish_is_no_wish(odd: str) -> None:
    for request, session in (
        (asked(cookie=odd), None),
        (asked(accepted=odd), None),
        (asked(), signed_in(odd, odd)),
        (asked(odd, odd), signed_in(odd, odd)),
    ):
        language = language_of(request, session)
        assert (language.code, language.zone) == ("en", UTC)


def test_a_wish_list_without_end_is_looked_at_from_its_beginning_only() -> None:
    assert language_of(asked(accepted="fr," * 20_000 + "ko"), None).code == "en"
    assert language_of(asked(accepted="ko" + ",fr" * 20_000), None).code == "ko"


@pytest.mark.parametrize("name", ["Asia/Seoul", "America/New_York"])
def test_a_zone_that_people_live_in_is_taken(name: str) -> None:
    assert zone_of(name) == ZoneInfo(name)


@pytest.mark.parametrize(
    "name", ["", "UTC", "Etc/GMT+5", "localtime", "Asia/Nowhere", "../etc/passwd", "/etc/localtime"]
)
def test_another_zone_is_utc(name: str) -> None:
    assert zone_of(name) is UTC
