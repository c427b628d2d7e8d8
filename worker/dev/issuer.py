"""A small OpenID Connect issuer, for development only: ``python -m worker.dev.issuer``.

Nobody has to prove anything here: whoever opens the page picks a person to be. It gives codes only to addresses of this
machine, keeps one signing key (ES256) in its state folder, and says on its page what it is.
"""

import hashlib
import hmac
import secrets
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import uvicorn
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic_settings import BaseSettings, SettingsConfigDict
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from worker.dev.people import PEOPLE, Person
from worker.dev.signing_key import SigningKey

CODE_SECONDS = 60.0
TOKEN_SECONDS = 3600
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
WHO = "onceward_dev_issuer_person"
"""The cookie by which this issuer knows whom its visitor was last, as a real one knows who is signed in there."""

ASKED = ("client_id", "redirect_uri", "state", "nonce", "code_challenge")
"""What an authorization request brings that goes with the choice of a person."""


class IssuerSettings(BaseSettings):
    """The settings of this development tool."""

    model_config = SettingsConfigDict(env_prefix="ONCEWARD_", extra="ignore")

    dev_issuer_host: str = "127.0.0.1"
    dev_issuer_port: int = 8400
    dev_issuer_state_dir: Path = Path(".onceward/issuer")
    issuer: str = "http://localhost:8400"
    audience: str = "onceward"


@dataclass(frozen=True)
class Grant:
    """What a code stands for until `ends` (seconds of a monotonic clock)."""

    person: Person
    client_id: str
    redirect_uri: str
    nonce: str
    code_challenge: str
    ends: float


def mint(
    state_dir: Path,
    *,
    issuer: str,
    audience: str,
    subject: str,
    tenant: str,
    roles: Sequence[str],
    agent: str = "",
    seconds: int = TOKEN_SECONDS,
    scopes: Sequence[str] = (),
    name: str = "",
) -> str:
    """An access token of the issuer whose state is in `state_dir`; it need not run. `agent` acts for `subject`."""
    claims = _claims(issuer, audience, Person(subject, name or subject, tenant, tuple(roles)), seconds)
    claims |= {"scope": " ".join(scopes), **({"act": {"sub": agent}} if agent else {})}
    return SigningKey(state_dir).sign(claims, "at+jwt")


class DevelopmentIssuer:
    """The issuer's pages and endpoints."""

    def __init__(self, settings: IssuerSettings, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._url = settings.issuer
        self._audience = settings.audience
        self._key = SigningKey(settings.dev_issuer_state_dir)
        self._now = monotonic
        self._grants: dict[str, Grant] = {}
        pages = Environment(
            loader=FileSystemLoader(Path(__file__).parent / "issuer_pages"), autoescape=True, undefined=StrictUndefined
        )
        self._page = pages.get_template("people.html")

    def app(self) -> Starlette:
        """The ASGI application."""
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self.metadata),
                Route("/jwks.json", self.keys),
                Route("/.well-known/jwks.json", self.keys),
                Route("/authorize", self.people),
                Route("/authorize", self.chosen, methods=["POST"]),
                Route("/token", self.token, methods=["POST"]),
                Route("/healthz", self.healthy),
            ]
        )

    async def metadata(self, _: Request) -> Response:
        """OpenID Connect discovery."""
        root = self._url.rstrip("/")
        return JSONResponse(
            {
                "issuer": self._url,
                "authorization_endpoint": f"{root}/authorize",
                "token_endpoint": f"{root}/token",
                "jwks_uri": f"{root}/jwks.json",
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["ES256"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
                "scopes_supported": ["openid", "profile"],
            }
        )

    async def keys(self, _: Request) -> Response:
        """The public key."""
        return JSONResponse({"keys": [self._key.public]})

    async def healthy(self, _: Request) -> Response:
        """Alive."""
        return JSONResponse({"status": "ok"})

    async def people(self, request: Request) -> Response:
        """The page on which a person is picked."""
        asked = dict(request.query_params)
        if fault := _fault_of(asked):
            return JSONResponse({"error": "invalid_request", "error_description": fault}, 400)
        if asked.get("prompt") == "none":
            return self._unasked(asked, request.cookies.get(WHO, ""))
        kept = {name: asked.get(name, "") for name in ASKED}
        return HTMLResponse(self._page.render(people=PEOPLE, asked=kept), headers=_page_headers(kept["redirect_uri"]))

    async def chosen(self, request: Request) -> Response:
        """Back to the client with a code for the person picked."""
        form = {name: str(value) for name, value in (await request.form()).items()}
        person = next((one for one in PEOPLE if one.subject == form.get("person")), None)
        if person is None or _fault_of(form | {"response_type": "code", "code_challenge_method": "S256"}):
            return JSONResponse({"error": "invalid_request"}, 400)
        response = self._back(form, code=self._grant(person, form))
        response.set_cookie(WHO, person.subject, httponly=True, samesite="lax")
        return response

    def _unasked(self, asked: Mapping[str, str], known: str) -> Response:
        """Back with a code for whom the visitor was last; no page is shown."""
        person = next((one for one in PEOPLE if one.subject == known), None)
        return self._back(asked, **({"code": self._grant(person, asked)} if person else {"error": "login_required"}))

    def _back(self, asked: Mapping[str, str], **answer: str) -> Response:
        query = urlencode({**answer, "state": asked.get("state", ""), "iss": self._url})
        joint = "&" if urlsplit(asked["redirect_uri"]).query else "?"
        return RedirectResponse(asked["redirect_uri"] + joint + query, 303)

    async def token(self, request: Request) -> Response:
        """The exchange of a code for tokens."""
        form = {name: str(value) for name, value in (await request.form()).items()}
        if form.get("grant_type") != "authorization_code":
            return JSONResponse({"error": "unsupported_grant_type"}, 400)
        # Taken out before it is looked at: a code is good for one attempt.
        grant = self._grants.pop(form.get("code", ""), None)
        if grant is None or not self._honours(grant, form):
            return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse(self._tokens(grant), headers={"Cache-Control": "no-store"})

    def _grant(self, person: Person, asked: Mapping[str, str]) -> str:
        now = self._now()
        self._grants = {code: grant for code, grant in self._grants.items() if grant.ends > now}
        code = secrets.token_urlsafe(32)
        details = (asked["client_id"], asked["redirect_uri"], asked.get("nonce", ""), asked["code_challenge"])
        self._grants[code] = Grant(person, *details, ends=now + CODE_SECONDS)
        return code

    def _honours(self, grant: Grant, form: Mapping[str, str]) -> bool:
        return (
            self._now() < grant.ends
            and form.get("client_id") == grant.client_id
            and form.get("redirect_uri") == grant.redirect_uri
            and hmac.compare_digest(_challenge(form.get("code_verifier", "")), grant.code_challenge.encode())
        )

    def _tokens(self, grant: Grant) -> dict[str, Any]:
        identity = _claims(self._url, grant.client_id, grant.person, TOKEN_SECONDS) | {"nonce": grant.nonce}
        identity |= _manners(grant.person)
        access = _claims(self._url, self._audience, grant.person, TOKEN_SECONDS)
        return {
            "token_type": "Bearer",
            "expires_in": TOKEN_SECONDS,
            "id_token": self._key.sign(identity, "JWT"),
            "access_token": self._key.sign(access, "at+jwt"),
        }


def _claims(issuer: str, audience: str, person: Person, seconds: int) -> dict[str, Any]:
    now = int(time.time())
    return {
        "iss": issuer,
        "aud": audience,
        "sub": person.subject,
        "iat": now,
        "nbf": now,
        "exp": now + seconds,
        "jti": uuid.uuid4().hex,
        "tenant": person.tenant,
        "roles": list(person.roles),
        "name": person.name,
    }


def _manners(person: Person) -> dict[str, str]:
    """The claims of OpenID Connect's `profile` that say how to speak to somebody."""
    told = {"locale": person.locale, "zoneinfo": person.zone}
    return {claim: value for claim, value in told.items() if value}


def _fault_of(asked: Mapping[str, str]) -> str:
    if asked.get("response_type") != "code":
        return "response_type must be code"
    if not asked.get("client_id"):
        return "client_id is needed"
    if not asked.get("code_challenge") or asked.get("code_challenge_method") != "S256":
        return "PKCE with S256 is needed"
    target = urlsplit(asked.get("redirect_uri", ""))
    if target.scheme not in ("http", "https") or target.hostname not in LOOPBACK or target.fragment:
        return "redirect_uri must be an address of this machine"
    return ""


def _page_headers(redirect_uri: str) -> dict[str, str]:
    target = urlsplit(redirect_uri)
    # Browsers hold the redirect that follows a form to the form's policy as well.
    policy = f"default-src 'none'; style-src 'unsafe-inline'; form-action 'self' {target.scheme}://{target.netloc}; "
    return {
        "Content-Security-Policy": policy + "frame-ancestors 'none'; base-uri 'none'",
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }


def _challenge(verifier: str) -> bytes:
    return urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=")


def main() -> None:
    """Serve until told to stop."""
    settings = IssuerSettings()
    app = DevelopmentIssuer(settings).app()
    uvicorn.run(app, host=settings.dev_issuer_host, port=settings.dev_issuer_port, log_level="warning")


if __name__ == "__main__":
    main()
