"""Who calls the API of the back office: a person, by a token that was issued for it and for nothing else.

The rule of who may decide stays where the pages have it, in the store; here is only said who somebody is.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase
from starlette.requests import Request

from adapters.http.identity import TokenVerifier, Unauthenticated, bearer_token, caller_of, keep_with, principal_from
from adapters.http.limits import Limiter, TooManyRequests, speaker_of
from adapters.http.problems import Problem
from workflows.domain.errors import ERRORS
from workflows.domain.principal import Principal

ROLES = frozenset({"viewer", "operator", "auditor"})
"""Roles that open the back office, beside those of approvers."""


class PersonIdentity(SecurityBase):
    """The caller as the `Authorization` header proves it, kept with the request for the route."""

    scheme_name = "person"
    model = HTTPBearer(
        bearerFormat="JWT", description="A person's access token for the audience of the back office's API alone."
    )

    def __init__(self, verifier: TokenVerifier, audience: str, words: Limiter | None = None) -> None:
        """`verifier` is that of the agents' door: what names its audience too is worth nothing here.

        `words` says how often one person may change something, and how often software may try to.
        """
        self._words = words
        self._verifier, self._agents_audience = verifier.for_audience(audience), verifier.audience

    async def __call__(self, request: Request) -> Principal:
        """Return the caller.

        Raises:
            Unauthenticated: no token, or none for here and for here alone.
            IssuerUnavailable: the issuer's keys cannot be had.
            TooManyRequests: the person, or the software, has changed too much within a minute.
        """
        claims = await self._verifier.claims(bearer_token(request.headers.getlist("authorization")))
        if self._agents_audience in _audiences(claims):
            raise Unauthenticated("invalid_token")
        caller = _who(claims)
        keep_with(request, caller, claims)
        self._count(request, caller)
        return caller

    def _count(self, request: Request, caller: Principal) -> None:
        if self._words is None or request.method in ("GET", "HEAD"):
            return
        seconds = self._words.wait(speaker_of(caller))
        if seconds:
            raise TooManyRequests(seconds)


def person_of(request: Request) -> Principal:
    """The person who was let in, and who may see what people see on the pages.

    Raises:
        Problem: `permission_denied`, because software calls, or somebody whom the back office is not for.
    """
    caller = caller_of(request)
    if caller.agent:
        raise _denied("Only people look into the back office.")
    if not is_for(caller):
        raise _denied("This account has none of the roles that the back office is for.")
    return caller


def is_for(person: Principal) -> bool:
    """Whether the back office is for this person: on the pages, and over the API."""
    return any(role in ROLES or role.startswith("approver:") for role in person.roles)


def _denied(detail: str) -> Problem:
    entry = ERRORS["permission_denied"]
    kind, next_action = entry.kind.value, entry.next_action.value
    return Problem(403, "permission_denied", entry.meaning, detail, kind=kind, next_action=next_action)


def _who(claims: Mapping[str, Any]) -> Principal:
    caller = principal_from(claims)
    return replace(caller, agent=caller.agent or caller.subject) if _is_of_software(claims) else caller


def _is_of_software(claims: Mapping[str, Any]) -> bool:
    """Whether a client has the token for itself, with nobody behind it; each kind of issuer says so in its own way."""
    clients = [claims[name] for name in ("client_id", "azp", "cid") if isinstance(claims.get(name), str)]
    subject, account = claims["sub"], str(claims.get("preferred_username", "")).lower()
    return (
        # RFC 9068 section 2.2, and Okta: the client is its own subject. Auth0 and Entra ID have a claim for it.
        subject in clients
        or any(subject == f"{client}@clients" for client in clients)
        or claims.get("gty") == "client-credentials"
        or claims.get("idtyp") == "app"
        # Keycloak gives each client an account of its own.
        or any(account == f"service-account-{client}".lower() for client in clients)
    )


def _audiences(claims: Mapping[str, Any]) -> list[Any]:
    named = claims["aud"]
    return named if isinstance(named, list) else [named]
