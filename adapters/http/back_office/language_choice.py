"""The small form in every page's header that changes the language."""

from datetime import timedelta
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from adapters.http.back_office.forms import form_of_ours, trusted_form
from adapters.http.back_office.languages import COOKIE, languages
from adapters.http.back_office.own_pages import HOME, own_page, page_to_return_to
from adapters.http.back_office.refusal import PageRefused
from adapters.http.back_office.session import Sessions
from adapters.http.back_office.settings import PREFIX, BackOfficeSettings

LIFETIME = timedelta(days=365)


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
        response = RedirectResponse(own_page(form.get("page", "")), 303)
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


def shown_page(request: Request, *, narrowed: bool = True) -> str:
    """Where to come back to: the address of the page, or of the page whose form this answers.

    `narrowed`: with the filter that the address has.
    """
    path = request.url.path
    if request.method not in ("GET", "HEAD"):
        return own_page(path.rpartition("/")[0])
    if path.startswith(f"{PREFIX}/sign-in"):
        # What the issuer has sent a person back with is good once and is not kept; where they were going is.
        following = page_to_return_to(request.query_params.get("next", ""))
        return f"{PREFIX}/sign-in" + ("" if following == HOME else f"?{urlencode({'next': following})}")
    return own_page(path + (f"?{request.url.query}" if narrowed and request.url.query else ""))
