"""Pages in the language of the person who reads them, with amounts and times as that language writes them.

English stands in the code and in the templates. Every other language has a folder of its own beside this module,
`languages/ko/*.po`, with one file for each family of pages; all of them are read together at start. A sentence without
a translation stays English.

Whose word counts for the language: the person's own choice, kept in a cookie; the claim `locale` of their sign-in; what
their browser asks for; English. The time zone is the claim `zoneinfo`, else UTC.
"""

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

from babel import Locale, negotiate_locale
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import NullTranslations, Translations
from starlette.requests import Request

from adapters.http.back_office.session import Session

FOLDER = Path(__file__).parent / "languages"

COOKIE = "onceward_language"
"""Holds the code of a language and nothing else; whatever else stands in it is as good as no cookie."""

MOST_RANGES = 16
"""Languages of a browser's wish list that are looked at."""

RANGE = re.compile(r"([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,4})(?:;q=([01](?:\.[0-9]{1,3})?))?")
"""One entry of Accept-Language without its spaces: RFC 9110, section 12.5.4."""


def N_(sentence: str) -> str:
    """Mark a sentence of a table for translation; it is translated when it is shown. The name is gettext's own."""
    return sentence


@dataclass(frozen=True)
class Language:
    """How to speak to one person: `code` as in HTML's `lang`, `name` as the language calls itself."""

    code: str
    name: str
    locale: Locale
    sentences: NullTranslations
    zone: tzinfo = UTC

    def gettext(self, sentence: str) -> str:
        """The sentence in this language."""
        # Under the empty sentence a catalogue keeps notes about itself.
        return str(self.sentences.gettext(sentence)) if sentence else ""

    def ngettext(self, one: str, many: str, number: int) -> str:
        """The sentence in the form that this language has for `number`."""
        return str(self.sentences.ngettext(one, many, number))


ENGLISH = Language("en", "English", Locale("en", "US"), NullTranslations())


@cache
def languages() -> Mapping[str, Language]:
    """Every language by its code, English first."""
    korean = Language("ko", "한국어", Locale("ko", "KR"), read_sentences("ko"))
    return {language.code: language for language in (ENGLISH, korean)}


def read_sentences(code: str, folder: Path = FOLDER) -> Translations:
    """All sentences of a language, from its files."""
    # One catalogue of all of them, which knows the plural forms of its language.
    catalog = Catalog(locale=code)
    for file in sorted((folder / code).glob("*.po")):
        with file.open("rb") as written:
            for message in read_po(written, locale=code, abort_invalid=True):
                if message.id:
                    catalog[message.id] = message
    with io.BytesIO() as compiled:
        write_mo(compiled, catalog)
        compiled.seek(0)
        return Translations(compiled)


def language_of(request: Request, session: Session | None) -> Language:
    """The language and the time zone of whoever sent this request."""
    chosen = request.cookies.get(COOKIE, "")
    signed_in = session.locale if session else ""
    code = _spoken(chosen) or _spoken(signed_in) or _asked_for(request) or ENGLISH.code
    return replace(languages()[code], zone=zone_of(session.zone if session else ""))


def zone_of(name: str) -> tzinfo:
    """The zone of this name in the IANA database; UTC for every name that is none of a place."""
    return ZoneInfo(name) if name in _places() else UTC


def _spoken(*wanted: str) -> str:
    """The code of the first of the wanted languages that we speak, empty when we speak none."""
    return negotiate_locale([name.replace("_", "-") for name in wanted if name], languages(), sep="-") or ""


def _asked_for(request: Request) -> str:
    ranges = request.headers.get("accept-language", "").replace(" ", "").split(",", MOST_RANGES)[:MOST_RANGES]
    weighed = [(float(match[2] or 1), match[1]) for match in map(RANGE.fullmatch, ranges) if match]
    # Sorting keeps the browser's order among equals.
    return _spoken(*(name for weight, name in sorted(weighed, key=lambda pair: -pair[0]) if weight > 0))


@cache
def _places() -> frozenset[str]:
    # The others are fixed offsets and names of machines: nobody lives there, and CLDR has no name for them.
    return frozenset(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
