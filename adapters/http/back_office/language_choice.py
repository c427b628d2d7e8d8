"""The small form in every page's header that changes the language."""

import re
from datetime import timedelta

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from adapters.http.back_office.forms import form_of_ours, trusted_form
from adapters.http.back_office.languages import COOKIE, languages
from adapters.http.back_office.refusal import PageRefused
from adapters.http.back_office.session import Sessions
from adapters.http.back_office.settings import PREFIX, BackOfficeSettings

LIFETIME = timedelta(days=365)

HOME = f"{PREFIX}/"

PAGE = re.compile(rf"{PREFIX}/(?:[A-Za-z0-9_-]+/?)*(?:\?[A-Za-z0-9_.~:@!$()*+;,=&%/-]*)?")
"""An address of ours that can be gone back to. Nothing in it can lead to another host."""

LONGEST_PAGE = 2000
"""Characters of an address."""


class LanguageChoice:
    """The route that keeps a person's own choice, signed in or not."""

    def __init__(self, sessions: Sessions, settings: BackOfficeSettings) -> None:
        self._sessions, self._origin, self._secure = sessions, settings.origin, settings.secure

    async def choose(self, request: Request) -> Response:
        """Keep the choice in a cookie and go back to the page."""
        session = self._sessions.find(request)
        form = await (trusted_form(request, session, self._origin) if session else form_of_ours(request, self._origin))
        if form.get("language") not in languages():
            raise PageRefused.odd_form()
        response = RedirectResponse(_page(form.get("page", "")), 303)
        response.set_cookie(
            COOKIE,
            form["language"],
            max_age=int(LIFETIME.total_seconds()),
            path="/",
            secure=self._secure,
            httponly=True,
            samesite="lax",
        )
        return response


def shown_page(request: Request) -> str:
    """Where to come back to: the address of the page, or of the page whose form this answers."""
    path = request.url.path
    if request.method not in ("GET", "HEAD"):
        return _page(path.rpartition("/")[0])
    if path.startswith(f"{PREFIX}/sign-in/"):
        # What the issuer has sent a person back with is good once and is not kept.
        return f"{PREFIX}/sign-in"
    return _page(path + (f"?{request.url.query}" if request.url.query else ""))


def _page(address: str) -> str:
    return address if len(address) <= LONGEST_PAGE and PAGE.fullmatch(address) else HOME
