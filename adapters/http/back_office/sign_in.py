"""People come in and go out."""

import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from adapters.http.back_office.code_flow import Attempt, CodeFlow, FlowBroken
from adapters.http.back_office.forms import trusted_form
from adapters.http.back_office.languages import N_
from adapters.http.back_office.pages import Pages
from adapters.http.back_office.refusal import PageRefused
from adapters.http.back_office.session import Sessions, SignedCookie
from adapters.http.back_office.settings import PREFIX
from adapters.http.identity import Unauthenticated, principal_from
from workflows.domain.principal import Principal

ATTEMPT_LIFETIME = timedelta(minutes=10)

HOME = f"{PREFIX}/"

OWN_PAGE = re.compile(rf"{PREFIX}/(?:approvals|operations)?(?:/[A-Za-z0-9_-]+)?(?:/approval)?")


TAG = re.compile(r"[A-Za-z0-9_/+-]{1,64}")
"""What the name of a language or of a time zone is made of."""


class SignIn:
    """Routes about signing in and out."""

    def __init__(self, flow: CodeFlow, pages: Pages, sessions: Sessions, attempts: SignedCookie, origin: str) -> None:
        self._flow, self._pages, self._sessions = flow, pages, sessions
        self._attempts, self._origin = attempts, origin

    async def page(self, request: Request) -> Response:
        """The page that says what this is and leads to the issuer."""
        if self._sessions.find(request):
            return RedirectResponse(HOME, 303)
        start = "?" + urlencode({"next": _returning(request)})
        return self._pages.answer(request, "sign_in.html", None, start=f"{PREFIX}/sign-in/start{start}")

    async def start(self, request: Request) -> Response:
        """Off to the issuer."""
        attempt = Attempt.new(_returning(request))
        response = RedirectResponse(await self._flow.address(attempt), 303)
        self._attempts.write(response, attempt.kept())
        return response

    async def callback(self, request: Request) -> Response:
        """Back from the issuer: a new session, if this browser began the sign-in and the person may come in."""
        attempt = self._attempt(request)
        try:
            claims = await self._flow.claims(attempt, dict(request.query_params))
        except FlowBroken as error:
            raise PageRefused.sign_in_failed() from error
        response = RedirectResponse(attempt.returning, 303)
        self._sessions.start(response, admitted(claims), _tag(claims, "locale"), _tag(claims, "zoneinfo"))
        self._attempts.clear(response)
        return response

    async def sign_out(self, request: Request) -> Response:
        """Forget the session in this browser."""
        response = RedirectResponse(f"{PREFIX}/sign-in", 303)
        session = self._sessions.find(request)
        if session is not None:
            await trusted_form(request, session, self._origin)
            self._sessions.end(response)
        return response

    def _attempt(self, request: Request) -> Attempt:
        kept = self._attempts.read(request)
        if kept is None:
            raise PageRefused.sign_in_failed()
        return Attempt(kept["state"], kept["nonce"], kept["verifier"], kept["returning"])


def admitted(claims: dict[str, Any]) -> Principal:
    """The person whom verified claims name, if the back office is for them.

    Raises:
        PageRefused: an agent acts in the credential, or the person has none of the roles.
    """
    try:
        principal = principal_from(claims)
    except Unauthenticated as error:
        raise PageRefused.sign_in_failed() from error
    if principal.agent:
        raise PageRefused.no_entry(
            N_("This credential lets software act for a person. Decisions are made by people alone.")
        )
    if not any(_opens(role) for role in principal.roles):
        raise PageRefused.no_entry(N_("Your account has none of the roles that the back office is for."))
    return principal


def _tag(claims: dict[str, Any], name: str) -> str:
    """A short claim that says how to speak to the person; an odd one says nothing and keeps nobody out."""
    value = claims.get(name)
    return value if isinstance(value, str) and TAG.fullmatch(value) else ""


def _opens(role: str) -> bool:
    return role in ("viewer", "operator") or role.startswith("approver:")


def _returning(request: Request) -> str:
    wanted = request.query_params.get("next", "")
    return wanted if OWN_PAGE.fullmatch(wanted) else HOME
