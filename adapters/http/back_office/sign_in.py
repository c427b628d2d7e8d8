"""People come in and go out."""

import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import structlog
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from adapters.http.back_office.admission import Doorkeeper, NotAdmitted
from adapters.http.back_office.code_flow import Attempt, CodeFlow, FlowBroken, FlowForeign, FlowRefused, FlowUnfit
from adapters.http.back_office.cookies import SignedCookie
from adapters.http.back_office.forms import leaving_form
from adapters.http.back_office.own_pages import HOME, page_to_return_to
from adapters.http.back_office.pages import Pages
from adapters.http.back_office.refusal import PageRefused
from adapters.http.back_office.session import Sessions
from adapters.http.back_office.session_store import Arrival
from adapters.http.back_office.settings import PREFIX

log = structlog.get_logger(__name__)

ATTEMPT_LIFETIME = timedelta(minutes=10)

TAG = re.compile(r"[A-Za-z0-9_/+-]{1,64}")
"""What the name of a language or of a time zone is made of."""


class SignIn:
    """Routes about signing in and out."""

    def __init__(
        self,
        flow: CodeFlow,
        doorkeeper: Doorkeeper,
        pages: Pages,
        sessions: Sessions,
        attempts: SignedCookie,
        origin: str,
    ) -> None:
        self._flow, self._doorkeeper, self._pages, self._sessions = flow, doorkeeper, pages, sessions
        self._attempts, self._origin = attempts, origin

    async def page(self, request: Request) -> Response:
        """The page that says what this is and leads to the issuer."""
        session = self._sessions.find(request)
        if session is not None and not session.renewal_due:
            return RedirectResponse(HOME, 303)
        start = "?" + urlencode({"next": _returning(request)})
        return self._pages.answer(request, "sign_in.html", None, start=f"{PREFIX}/sign-in/start{start}")

    async def start(self, request: Request) -> Response:
        """Off to the issuer."""
        return await self._leave(Attempt.new(_returning(request)))

    async def renew(self, request: Request) -> Response:
        """Off to the issuer with nothing to do for the person: is this still them, and which roles have they now?

        By way of a page that goes on by itself. A redirect would do, but for a search or a choice of language: browsers
        hold every redirect that follows a form to the form's policy, and that leads to nobody but us.
        """
        session = self._sessions.find(request)
        if session is None:
            return _to_sign_in(_returning(request))
        attempt = Attempt.new(_returning(request), session.session_id)
        address = await self._flow.address(attempt)
        response = self._pages.answer(request, "renewal.html", session, address=address)
        response.headers["Refresh"] = f"0; url={address}"
        self._attempts.write(response, attempt.kept())
        return response

    async def callback(self, request: Request) -> Response:
        """Back from the issuer: a session, if this browser began the sign-in and the person may come in."""
        try:
            attempt = self._attempt(request)
            claims = await self._flow.claims(attempt, dict(request.query_params))
        except FlowRefused:
            return await self._refused(request, attempt)
        except FlowForeign as error:
            await self._doorkeeper.tell_of_claims(error.claims, error.code)
            raise PageRefused.sign_in_failed() from error
        except FlowUnfit as error:
            log.warning("sign_in_unfit", reason=str(error))
            return self._anothers_answer(request, PageRefused.sign_in_unfit(), due=False)
        except FlowBroken:
            return self._anothers_answer(request, PageRefused.sign_in_failed(), due=True)
        return await self._let_in(request, attempt, claims)

    def _anothers_answer(self, request: Request, refusal: PageRefused, *, due: bool) -> Response:
        """Where two pages at once had to ask the issuer, the other one's answer counts; otherwise raises `refusal`.

        `due`: also for a session whose own answer is still on its way. An answer that was unfit would be so again, and
        the browser would be led in a circle.
        """
        session = self._sessions.find(request)
        if session is None or (session.renewal_due and not due):
            raise refusal
        return RedirectResponse(HOME, 303)

    async def sign_out(self, request: Request) -> Response:
        """End the session, or with `everywhere` all of this person's."""
        response = RedirectResponse(f"{PREFIX}/sign-in", 303)
        session = self._sessions.find(request)
        if session is not None:
            form = await leaving_form(request, session, self._origin)
            await self._sessions.end(request, response, everywhere="everywhere" in form)
        return response

    async def _leave(self, attempt: Attempt) -> Response:
        response = RedirectResponse(await self._flow.address(attempt), 303)
        self._attempts.write(response, attempt.kept())
        return response

    async def _let_in(self, request: Request, attempt: Attempt, claims: dict[str, Any]) -> Response:
        response = RedirectResponse(attempt.returning, 303)
        try:
            arrival = Arrival(self._doorkeeper.admitted(claims), _tag(claims, "locale"), _tag(claims, "zoneinfo"))
        except PageRefused as refusal:
            # Whoever may not come in now may not stay either.
            await self._sessions.end(request, response)
            if isinstance(refusal, NotAdmitted):
                await self._doorkeeper.tell(refusal.who, refusal.code)
            raise
        if not attempt.renewing:
            await self._sessions.start(request, response, arrival)
        elif not await self._sessions.renew(request, response, arrival):
            await self._doorkeeper.tell_of_another(self._sessions.find(request), arrival.viewer)
            return await self._refused(request, attempt)
        self._attempts.clear(response)
        return response

    async def _refused(self, request: Request, attempt: Attempt) -> Response:
        if not attempt.renewing:
            raise PageRefused.sign_in_failed()
        response = _to_sign_in(attempt.returning)
        await self._sessions.end(request, response)
        self._attempts.clear(response)
        return response

    def _attempt(self, request: Request) -> Attempt:
        kept = self._attempts.read(request)
        if kept is None:
            raise FlowBroken
        return Attempt(kept["state"], kept["nonce"], kept["verifier"], kept["returning"], kept.get("renewing", ""))


def _to_sign_in(returning: str) -> Response:
    return RedirectResponse(f"{PREFIX}/sign-in?{urlencode({'next': returning})}", 303)


def _tag(claims: dict[str, Any], name: str) -> str:
    """A short claim that says how to speak to the person; an odd one says nothing and keeps nobody out."""
    value = claims.get(name)
    return value if isinstance(value, str) and TAG.fullmatch(value) else ""


def _returning(request: Request) -> str:
    return page_to_return_to(request.query_params.get("next", ""))
