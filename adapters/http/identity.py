"""Who calls: bearer tokens (JWT) from one issuer, verified to the letter.

    Problem
    ├── Unauthenticated      missing_token · invalid_token · expired_token; 401 with `WWW-Authenticate`
    └── IssuerUnavailable    the issuer's keys cannot be had; 503, says nothing about the token

Signature algorithms are pinned to the key's own, never taken from the token. Tenant, roles and acting agent come from
the verified claims and from nowhere else.
"""

import math
import re
import time
from collections.abc import Mapping
from typing import Any

import jwt
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase
from starlette.requests import Request

from adapters.http.issuer import IssuerKeys
from adapters.http.problems import Problem
from workflows.domain.principal import Principal
from workflows.domain.visibility import is_plain

LEEWAY_SECONDS = 30
"""How far the issuer's clock and ours may be apart."""

LONGEST_TOKEN = 8192
"""Characters; a longer one is not looked at."""

LONGEST_NAME = 255
"""Characters of a subject, tenant, role or agent."""

LONGEST_CHAIN = 8
"""Agents that one token may name, each acting for the next."""

REQUIRED_CLAIMS = ("exp", "iat", "iss", "aud", "sub", "tenant")

MOMENTS = ("exp", "nbf", "iat")
"""Claims that are numbers (RFC 7519 section 2); the library would read digits in quotes as well."""

COUNTS_UNTIL = "onceward.counts_until"
"""Where a request carries the last moment of its credential, in seconds since 1970."""

UNSTORABLE = re.compile(r"[\0\ud800-\udfff]")

MEANINGS = {
    "missing_token": "A bearer token is needed.",
    "invalid_token": "The bearer token is not valid here.",
    "expired_token": "The bearer token has expired.",
}


class Unauthenticated(Problem):
    """No acceptable credential; `code` is one of `MEANINGS`."""

    def __init__(self, code: str) -> None:
        super().__init__(401, code, MEANINGS[code], headers={"WWW-Authenticate": _challenge(code)})


class TokenVerifier:
    """Verifies tokens of one issuer for one audience."""

    def __init__(self, keys: IssuerKeys, *, issuer: str, audience: str) -> None:
        self._keys = keys
        self.issuer = issuer
        self.audience = audience

    def for_audience(self, audience: str) -> "TokenVerifier":
        """The same issuer and keys for another audience: a token for one is worth nothing at the other."""
        return TokenVerifier(self._keys, issuer=self.issuer, audience=audience)

    async def principal(self, token: str) -> Principal:
        """Who the token names.

        Raises:
            Unauthenticated: `invalid_token` or `expired_token`.
            IssuerUnavailable: the issuer's keys cannot be had.
        """
        return principal_from(await self.claims(token))

    async def claims(self, token: str) -> dict[str, Any]:
        """The token's claims after every check but those of `principal_from`; raises as `principal` does."""
        key = await self._key(token)
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],
                audience=self.audience,
                issuer=self.issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": list(REQUIRED_CLAIMS), "enforce_minimum_key_length": True},
            )
        except jwt.ExpiredSignatureError as error:
            raise Unauthenticated("expired_token") from error
        except jwt.PyJWTError as error:
            raise Unauthenticated("invalid_token") from error
        _require_moments(claims)
        return claims

    async def _key(self, token: str) -> jwt.PyJWK:
        key = await self._keys.find(_key_id(token))
        if key is None:
            raise Unauthenticated("invalid_token")
        return key


class BearerIdentity(SecurityBase):
    """The caller as the `Authorization` header proves it, else `Unauthenticated`; kept with the request."""

    scheme_name = "caller"
    model = HTTPBearer(bearerFormat="JWT", description="An access token for the agents' door.")

    def __init__(self, verifier: TokenVerifier) -> None:
        self._verifier = verifier

    async def __call__(self, request: Request) -> Principal:
        """Return the caller; raises as `TokenVerifier.principal` does, or `missing_token`."""
        claims = await self._verifier.claims(bearer_token(request.headers.getlist("authorization")))
        caller = principal_from(claims)
        keep_with(request, caller, claims)
        return caller


def keep_with(request: Request, caller: Principal, claims: Mapping[str, Any]) -> None:
    """Say to whoever handles the request who is let in, and until when the credential counts."""
    request.state.caller, request.scope[COUNTS_UNTIL] = caller, claims["exp"] + LEEWAY_SECONDS


def require_current(request: Request) -> None:
    """Raise `Unauthenticated` if the credential has expired since it was looked at; ask once all of the body is here.

    Whoever may speak until a certain time could otherwise begin to, and finish whenever they please.
    """
    if request.scope.get(COUNTS_UNTIL, math.inf) <= time.time():
        raise Unauthenticated("expired_token")


def caller_of(request: Request) -> Principal:
    """Who was let in to this route; nobody is where no identity stands before it."""
    caller: Principal = request.state.caller
    return caller


def bearer_token(authorization: list[str]) -> str:
    """The token in the `Authorization` headers of one request.

    Raises:
        Unauthenticated: `missing_token` without a bearer header, `invalid_token` with two headers or an odd one.
    """
    if not authorization:
        raise Unauthenticated("missing_token")
    scheme, _, token = authorization[0].partition(" ")
    if scheme.lower() != "bearer":
        raise Unauthenticated("missing_token")
    if len(authorization) > 1 or not token.strip():
        raise Unauthenticated("invalid_token")
    return token.strip()


def principal_from(claims: Mapping[str, Any]) -> Principal:
    """Read verified claims: `sub`, `tenant`, `roles` (list), `scope` (words), `act.sub` (the agent), `name`.

    An agent may act on behalf of another, which stands inside its own `act`: the outermost is who acts now, and no
    right depends on the others (RFC 8693 section 4.1).

    Raises:
        Unauthenticated: `invalid_token`, when one of them has another shape. An odd `act` is never read as no agent.
    """
    agents = _agents(claims)
    return Principal(
        tenant=_identifier(claims.get("tenant")),
        subject=_identifier(claims.get("sub")),
        roles=frozenset(_word(role) for role in _list(claims.get("roles", []))),
        scopes=frozenset(_text(claims.get("scope", "")).split()),
        agent=agents[0] if agents else "",
        name=_text(claims.get("name", ""))[:LONGEST_NAME],
        agents_before=agents[1:],
    )


def _require_moments(claims: Mapping[str, Any]) -> None:
    for name in MOMENTS:
        moment = claims.get(name, 0)
        if isinstance(moment, bool) or not isinstance(moment, int | float):
            raise Unauthenticated("invalid_token")


def _agents(claims: Mapping[str, Any]) -> tuple[str, ...]:
    agents: list[str] = []
    while "act" in claims:
        actor = claims["act"]
        if not isinstance(actor, Mapping) or len(agents) == LONGEST_CHAIN:
            raise Unauthenticated("invalid_token")
        agents.append(_identifier(actor.get("sub")))
        claims = actor
    return tuple(agents)


def _key_id(token: str) -> str:
    if len(token) > LONGEST_TOKEN:
        raise Unauthenticated("invalid_token")
    try:
        key_id = jwt.get_unverified_header(token).get("kid")
    except (jwt.PyJWTError, ValueError) as error:
        raise Unauthenticated("invalid_token") from error
    return _word(key_id)


def _identifier(value: Any) -> str:
    # All of it must be seen: whose word counts is read by people, and two that look the same must be the same.
    word = _word(value)
    if is_plain(word):
        return word
    raise Unauthenticated("invalid_token")


def _word(value: Any) -> str:
    # What is stored and shown as a name must be printable; NUL cannot even be stored.
    if isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and value.isprintable():
        return value
    raise Unauthenticated("invalid_token")


def _text(value: Any) -> str:
    # The store takes neither a NUL nor half of a surrogate pair, and no answer can be written with the latter.
    if isinstance(value, str) and not UNSTORABLE.search(value):
        return value
    raise Unauthenticated("invalid_token")


def _list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    raise Unauthenticated("invalid_token")


def _challenge(code: str) -> str:
    # RFC 6750 section 3.1: no error code when no credential was sent.
    if code == "missing_token":
        return 'Bearer realm="onceward"'
    return f'Bearer realm="onceward", error="invalid_token", error_description="{MEANINGS[code]}"'
