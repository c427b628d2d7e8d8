"""OpenID Connect's authorization code flow with PKCE, state and nonce, for people's sign-in."""

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import httpx2

from adapters.http.back_office.settings import BackOfficeSettings
from adapters.http.identity import TokenVerifier, Unauthenticated
from adapters.http.issuer import Answer, Issuer, IssuerUnavailable

BUSY = ("server_error", "temporarily_unavailable")
"""What an issuer says that cannot answer now (RFC 6749 section 4.1.2.1). It says nothing of the person."""

OF_ADDRESSES = ":/%#?=@[]!$&'()*+,;"
"""What an address is made of, besides letters and digits."""

LATER = (408, 429)
"""Statuses of an issuer that may answer the same later."""


class FlowBroken(Exception):
    """The answer does not belong to this sign-in, or the issuer did not honour it."""


class FlowRefused(FlowBroken):
    """The issuer's answer to this very sign-in is a refusal, such as `login_required`."""


class FlowUnfit(FlowBroken):
    """The issuer has answered this very sign-in with nothing that names somebody here. The same again is no better."""


class FlowForeign(FlowBroken):
    """The issuer has named somebody, and its answer belongs to another sign-in or to another client.

    `claims` are verified but for that; `code` says which.
    """

    def __init__(self, claims: dict[str, Any], code: str) -> None:
        super().__init__(code)
        self.claims, self.code = claims, code


@dataclass(frozen=True)
class Attempt:
    """One sign-in under way; kept in the person's own browser until they are back.

    `renewing` is the session for which the issuer is asked again without a question to the person, empty at a sign-in.
    """

    state: str
    nonce: str
    verifier: str
    returning: str
    renewing: str = ""

    @classmethod
    def new(cls, returning: str, renewing: str = "") -> "Attempt":
        """Fresh secrets for a sign-in that ends on the page `returning`."""
        return cls(secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(48), returning, renewing)

    def kept(self) -> dict[str, str]:
        """As a JSON object."""
        return asdict(self)


class CodeFlow:
    """This application as a client of the issuer."""

    def __init__(self, issuer: Issuer, verifier: TokenVerifier, settings: BackOfficeSettings) -> None:
        self._issuer, self._settings = issuer, settings
        # The token must be for us: an access token for the agents' door signs nobody in.
        self._verifier = verifier.for_audience(settings.client_id)

    async def address(self, attempt: Attempt) -> str:
        """Where the person goes to sign in; raises `IssuerUnavailable`."""
        query = {
            "response_type": "code",
            "scope": "openid profile",
            "client_id": self._settings.client_id,
            "redirect_uri": self._settings.callback_url,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": _challenge(attempt.verifier),
            "code_challenge_method": "S256",
        }
        if attempt.renewing:
            query["prompt"] = "none"
        endpoint = await self._issuer.endpoint("authorization_endpoint")
        # It goes into headers, which hold no other letters.
        return quote(f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(query)}", safe=OF_ADDRESSES)

    async def claims(self, attempt: Attempt, answer: Mapping[str, str]) -> dict[str, Any]:
        """The verified claims of who came back.

        Raises:
            FlowBroken: a foreign or failed answer.
            FlowForeign: one that names somebody.
            FlowRefused: the issuer says no.
            FlowUnfit: its tokens cannot be had, or are not worth anything here.
            IssuerUnavailable: the issuer does not answer, or says that it cannot just now.
        """
        if not hmac.compare_digest(answer.get("state", "").encode(), attempt.state.encode()):
            raise FlowBroken
        if answer.get("iss", self._issuer.url) != self._issuer.url:
            raise FlowBroken
        if "error" in answer:
            raise IssuerUnavailable("busy") if answer["error"] in BUSY else FlowRefused
        if "code" not in answer:
            raise FlowBroken
        return await self._verified(await self._exchange(attempt, answer["code"]), attempt)

    async def _verified(self, token: str, attempt: Attempt) -> dict[str, Any]:
        try:
            claims = await self._verifier.claims(token)
        except Unauthenticated as error:
            raise FlowUnfit(error.code) from error
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode(errors="replace"), attempt.nonce.encode()):
            raise FlowForeign(claims, "another_sign_in")
        if claims.get("azp", self._settings.client_id) != self._settings.client_id:
            raise FlowForeign(claims, "another_client")
        return claims

    async def _exchange(self, attempt: Attempt, code: str) -> str:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._settings.callback_url,
            "client_id": self._settings.client_id,
            "code_verifier": attempt.verifier,
        }
        endpoint = await self._issuer.endpoint("token_endpoint")
        return _id_token(await self._issuer.ask("POST", endpoint, data=form, auth=self._credentials()))

    def _credentials(self) -> httpx2.Auth:
        secret = self._settings.client_secret
        return httpx2.BasicAuth(self._settings.client_id, secret) if secret else httpx2.Auth()


def _id_token(answer: Answer) -> str:
    if answer.status in LATER or answer.status >= 500:
        raise IssuerUnavailable(f"status {answer.status}")
    if answer.status != 200:
        raise FlowUnfit(f"token endpoint: {answer.status}")
    token = (answer.json_object() or {}).get("id_token")
    if not isinstance(token, str):
        raise FlowUnfit("token endpoint: no id token")
    return token


def _challenge(verifier: str) -> str:
    return urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
