"""The issuer of credentials, as seen from here: its endpoints and its public keys.

Keys are cached. A key id that is not in the cache (the issuer has rotated) causes one fetch, at most one per
`REFETCH_SECONDS`, so that a stream of made-up key ids cannot become a stream of requests.
"""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx2
import jwt
import structlog
from cryptography.exceptions import UnsupportedAlgorithm

from adapters.http.problems import Problem

log = structlog.get_logger(__name__)

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

ANSWER_SECONDS = 5.0
"""What a whole answer may take, however slowly it trickles in."""

LARGEST_ANSWER = 1024 * 1024
"""Bytes; of a larger one the rest is not taken."""


class IssuerUnavailable(Problem):
    """The issuer does not answer, so nobody's credential can be checked. It says nothing about the credential.

    `reason` is for our own log, where whoever has set something up wrongly looks for it; empty when it is known there.
    """

    def __init__(self, reason: str = "") -> None:
        if reason:
            log.warning("issuer_unavailable", reason=reason)
        super().__init__(
            503,
            "upstream_unavailable",
            "The sign-in service does not answer.",
            "Credentials cannot be checked now; the same request may be sent again later.",
            headers={"Retry-After": "5"},
        )


@dataclass(frozen=True)
class Answer:
    """What the issuer has answered, whole."""

    status: int
    body: bytes

    def json_object(self) -> dict[str, Any] | None:
        """Its JSON object, None when it is none."""
        try:
            document = json.loads(self.body)
        except (ValueError, RecursionError):
            return None
        return document if isinstance(document, dict) else None


class Issuer:
    """An OpenID Connect issuer found by discovery. Its metadata is kept until an address in it fails.

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
            self.forget()
            raise IssuerUnavailable(f"metadata: {name} is missing or unsafe")
        return address

    def forget(self) -> None:
        """Ask for the metadata anew the next time: an address in it may have moved."""
        self._metadata = None

    async def json(self, address: str) -> dict[str, Any]:
        """GET a JSON object.

        Raises:
            IssuerUnavailable: no answer, or no JSON object.
        """
        answer = await self.ask("GET", address)
        document = answer.json_object() if answer.status == 200 else None
        if document is None:
            raise IssuerUnavailable(f"status {answer.status}, or no JSON object")
        return document

    async def ask(self, method: str, address: str, **more: Any) -> Answer:
        """One request of ours and the whole answer; raises `IssuerUnavailable` when none comes in time."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS), self.client.stream(method, address, **more) as answer:
                return Answer(answer.status_code, await _taken(answer))
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
            raise IssuerUnavailable(f"no answer: {type(error).__name__}") from error

    async def _discover(self) -> dict[str, Any]:
        metadata = await self.json(self._discovery_url)
        if metadata.get("issuer") != self.url:
            raise IssuerUnavailable("metadata: of another issuer than ONCEWARD_ISSUER, letter by letter")
        return metadata


async def _taken(answer: httpx2.Response) -> bytes:
    body = bytearray()
    async for chunk in answer.aiter_bytes():
        body += chunk
        if len(body) > LARGEST_ANSWER:
            raise IssuerUnavailable("an answer that is too large")
    return bytes(body)


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
        if not self._current(key_id) and not self._is_being_asked_about(key_id):
            async with self._lock:
                if not self._current(key_id) and self._may_ask():
                    await self._fetch()
        if not self._usable():
            raise IssuerUnavailable
        return self._keys.get(key_id)

    def _current(self, key_id: str) -> bool:
        return key_id in self._keys and self._now() - self._fetched_at < FRESH_SECONDS

    def _usable(self) -> bool:
        return self._now() - self._fetched_at <= USABLE_SECONDS

    def _is_being_asked_about(self, key_id: str) -> bool:
        # A key at hand goes on counting meanwhile: one caller waits for a slow issuer, not all of them.
        return self._lock.locked() and key_id in self._keys and self._usable()

    def _may_ask(self) -> bool:
        pause = REFETCH_SECONDS if self._keys else FIRST_FETCH_SECONDS
        return self._now() - self._asked_at >= pause

    async def _fetch(self) -> None:
        try:
            entries = await self._entries()
        except IssuerUnavailable:
            self._issuer.forget()
            return  # The keys at hand go on counting, for a while.
        finally:
            # The pause begins now: whoever has waited for an issuer that hangs does not wait for it once more.
            self._asked_at = self._now()
        self._keys = _usable_keys(entries)
        self._fetched_at = self._now()

    async def _entries(self) -> list[Any]:
        entries = (await self._issuer.json(await self._issuer.endpoint("jwks_uri"))).get("keys")
        if not isinstance(entries, list):
            # Not the same as an issuer that has no key any more.
            raise IssuerUnavailable("no list of keys")
        return entries


def _usable_keys(entries: list[Any]) -> dict[str, jwt.PyJWK]:
    found = (_usable_key(entry) for entry in entries if isinstance(entry, dict))
    return {key.key_id: key for key in found if key is not None and key.key_id}


def _usable_key(entry: dict[str, Any]) -> jwt.PyJWK | None:
    names = (entry.get(name, "") for name in ("kid", "kty", "alg", "crv"))
    if entry.get("use", "sig") != "sig" or not all(isinstance(name, str) for name in names):
        return None
    try:
        key = jwt.PyJWK(entry)
    except (jwt.PyJWTError, UnsupportedAlgorithm, TypeError, ValueError):
        return None  # One odd key of the issuer's is no reason to take none.
    return key if key.algorithm_name in ALGORITHMS else None
