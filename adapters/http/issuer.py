"""The issuer of credentials, as seen from here: its endpoints and its public keys.

Keys are cached. A key id that is not in the cache (the issuer has rotated) causes one fetch, at most one per
`REFETCH_SECONDS`, so that a stream of made-up key ids cannot become a stream of requests.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import httpx2
import jwt

from adapters.http.problems import Problem

ALGORITHMS = ("ES256", "RS256")
"""Signatures that are accepted; a key of any other kind is not even kept."""

FRESH_SECONDS = 600.0
"""How long fetched keys are used without asking again."""

USABLE_SECONDS = 3600.0
"""How long they still count while the issuer does not answer; after that nobody is let in."""

REFETCH_SECONDS = 10.0
"""The shortest time between two fetches."""

FIRST_FETCH_SECONDS = 1.0
"""The same while there are no keys at all."""


class IssuerUnavailable(Problem):
    """The issuer does not answer, so nobody's credential can be checked. It says nothing about the credential."""

    def __init__(self) -> None:
        super().__init__(
            503,
            "upstream_unavailable",
            "The sign-in service does not answer.",
            "Credentials cannot be checked now; the same request may be sent again later.",
            headers={"Retry-After": "5"},
        )


class Issuer:
    """An OpenID Connect issuer found by discovery. Its metadata is fetched once.

    `discovery_url` is for networks in which the issuer's public address cannot be reached from here.
    """

    def __init__(self, url: str, client: httpx2.AsyncClient, discovery_url: str = "") -> None:
        self.url = url
        self.client = client
        self._discovery_url = discovery_url or f"{url.rstrip('/')}/.well-known/openid-configuration"
        self._metadata: dict[str, Any] | None = None

    async def endpoint(self, name: str) -> str:
        """The address published under `name`, e.g. `jwks_uri`.

        Raises:
            IssuerUnavailable: no answer, not this issuer's metadata, or an address that is less safe than its own.
        """
        if self._metadata is None:
            self._metadata = await self._discover()
        address = self._metadata.get(name)
        schemes = ("https://",) if self.url.startswith("https://") else ("https://", "http://")
        if not isinstance(address, str) or not address.startswith(schemes):
            raise IssuerUnavailable
        return address

    async def json(self, address: str) -> dict[str, Any]:
        """GET a JSON object.

        Raises:
            IssuerUnavailable: no answer, or no JSON object.
        """
        try:
            document = (await self.client.get(address)).raise_for_status().json()
        except (httpx2.HTTPError, ValueError) as error:
            raise IssuerUnavailable from error
        if not isinstance(document, dict):
            raise IssuerUnavailable
        return document

    async def _discover(self) -> dict[str, Any]:
        metadata = await self.json(self._discovery_url)
        if metadata.get("issuer") != self.url:
            raise IssuerUnavailable
        return metadata


class IssuerKeys:
    """The issuer's public keys by key id."""

    def __init__(self, issuer: Issuer, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._now = monotonic
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched_at = self._asked_at = float("-inf")
        self._lock = asyncio.Lock()

    async def find(self, key_id: str) -> jwt.PyJWK | None:
        """The key of this id, None when the issuer has no such key.

        Raises:
            IssuerUnavailable: there are no keys that may still be trusted.
        """
        if not self._current(key_id):
            async with self._lock:
                if not self._current(key_id) and self._may_ask():
                    await self._fetch()
        if self._now() - self._fetched_at > USABLE_SECONDS:
            raise IssuerUnavailable
        return self._keys.get(key_id)

    def _current(self, key_id: str) -> bool:
        return key_id in self._keys and self._now() - self._fetched_at < FRESH_SECONDS

    def _may_ask(self) -> bool:
        pause = REFETCH_SECONDS if self._keys else FIRST_FETCH_SECONDS
        return self._now() - self._asked_at >= pause

    async def _fetch(self) -> None:
        self._asked_at = self._now()
        try:
            document = await self._issuer.json(await self._issuer.endpoint("jwks_uri"))
        except IssuerUnavailable:
            return  # The keys at hand go on counting, for a while.
        self._keys = _usable_keys(document.get("keys"))
        self._fetched_at = self._now()


def _usable_keys(entries: Any) -> dict[str, jwt.PyJWK]:
    found = (_usable_key(entry) for entry in entries if isinstance(entry, dict)) if isinstance(entries, list) else ()
    return {key.key_id: key for key in found if key is not None and key.key_id}


def _usable_key(entry: dict[str, Any]) -> jwt.PyJWK | None:
    if entry.get("use", "sig") != "sig":
        return None
    try:
        key = jwt.PyJWK(entry)
    except jwt.PyJWTError:
        return None
    return key if key.algorithm_name in ALGORITHMS else None
