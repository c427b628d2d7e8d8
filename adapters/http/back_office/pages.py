"""Templates turned into answers. Every string that a template prints is made visible and escaped on the way.

Templates say `_("Asked by %(who)s", who=…)` and `ngettext("%(num)d request", "%(num)d requests", count)`. The sentences
are ours and are text, never HTML; what is put into them is a value like any other. Whatever speaks knows the reader's
language from the template's context, so the macros of parts.html are imported `with context`.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from adapters.http.back_office import figures, words
from adapters.http.back_office.audit_ports import may_read
from adapters.http.back_office.inert_text import marked, visible
from adapters.http.back_office.language_choice import shown_page
from adapters.http.back_office.languages import Language, language_of, languages
from adapters.http.back_office.own_pages import HOME
from adapters.http.back_office.session import Clock, Session
from adapters.http.back_office.settings import PREFIX

REFUSED = "refused.html"

TEMPLATES = Path(__file__).parent / "templates"

T = TypeVar("T")


class Pages:
    """Pages of the templates, as of a clock's time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def answer(
        self, request: Request, template: str, session: Session | None, status: int = 200, **shown: Any
    ) -> HTMLResponse:
        """One page in the reader's language. `now`, `language` and `distance` are known to every template."""
        now, language = self._clock(), language_of(request, session)
        page = (
            _templates()
            .get_template(template)
            .render(
                session=session,
                now=now,
                language=language,
                # A refusal repeats nothing that was sent, its address neither.
                here=HOME if template == REFUSED else shown_page(request, narrowed=status < 400),
                distance=lambda at: figures.distance(at, now, language),
                zone_name=figures.zone_name(language),
                **shown,
            )
        )
        return HTMLResponse(page, status)


@cache
def _templates() -> Environment:
    """With the words and figures that they may use."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_inert,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals.update(prefix=PREFIX, words=words, languages=languages().values(), reads_audit=may_read)
    templates.globals.update(_=_gettext, gettext=_gettext, ngettext=_ngettext)
    templates.filters.update(
        marked=_in_language(_marked),
        amount=_in_language(figures.amount),
        in_groups=_in_language(figures.in_groups),
        number=_in_language(figures.number),
        moment=_in_language(figures.moment),
        exact_moment=_in_language(figures.exact_moment),
        age=_in_language(figures.age),
        fingerprint=figures.fingerprint,
    )
    return templates


def _in_language(write: Callable[[Any, Language], T]) -> Callable[[Context, Any], T]:
    """A filter that knows the reader's language."""

    @pass_context
    def written(context: Context, value: Any) -> T:
        return write(value, context["language"])

    return written


@pass_context
def _gettext(context: Context, sentence: str, **values: Any) -> Markup:
    language: Language = context["language"]
    told = language.gettext(sentence)
    if not values and told == sentence:
        # Words of tables come here too, and one that no table knows is a value. It may hold a percent sign.
        return _marked(sentence, language)
    return _filled(told, values, language)


@pass_context
def _ngettext(context: Context, one: str, many: str, num: int, **values: Any) -> Markup:
    language: Language = context["language"]
    return _filled(language.ngettext(one, many, num), {"num": num, **values}, language)


def _filled(sentence: str, values: dict[str, Any], language: Language) -> Markup:
    # `type`, not `isinstance`: Markup is a string too and has been through `marked` or a template already.
    inert = {name: _marked(value, language) if type(value) is str else value for name, value in values.items()}
    return escape(sentence) % inert if inert else escape(sentence)


def _marked(text: str, language: Language) -> Markup:
    return marked(text, language.gettext)


def _inert(value: Any) -> Any:
    return visible(value) if type(value) is str else value
