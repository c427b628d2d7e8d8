"""Templates turned into answers. Every string that a template prints is made visible and escaped on the way."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from adapters.http.back_office import figures, words
from adapters.http.back_office.inert_text import marked, visible
from adapters.http.back_office.session import Clock, Session
from adapters.http.back_office.settings import PREFIX

TEMPLATES = Path(__file__).parent / "templates"


class Pages:
    """The templates with the words and figures that they may use."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._templates = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_inert,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals.update(prefix=PREFIX, words=words)
        self._templates.filters.update(
            marked=marked,
            amount=figures.amount,
            moment=figures.moment,
            exact_moment=figures.exact_moment,
            fingerprint=figures.fingerprint,
        )

    def answer(self, template: str, session: Session | None, status: int = 200, **shown: Any) -> HTMLResponse:
        """One page. `now` is known to every template."""
        now = self._clock()
        page = self._templates.get_template(template)
        return HTMLResponse(
            page.render(session=session, now=now, distance=lambda at: figures.distance(at, now), **shown), status
        )


def _inert(value: Any) -> Any:
    # `type`, not `isinstance`: Markup is a string too and has been through `marked` or a template already.
    return visible(value) if type(value) is str else value
