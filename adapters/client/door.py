"""The agents' door, as an agent loop uses it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Literal, Self, TypeVar
from urllib.parse import quote

import httpx2

from .answers import Cancellation, Offer, Operation, Turn, cancellation_from, offer_from, operation_from, turn_from
from .errors import OncewardError, refused, unexpected, unreachable
from .provided import delivered, written

T = TypeVar("T")
WaitFor = Literal["progress", "end"]
Token = str | Callable[[], str]

TURN_SECONDS = 10.0
"""How long the door may wait for results in one request, unless told otherwise."""

LONGEST_TURN_SECONDS = 30.0
"""How long `until_complete` lets the door wait in one request: shorter than the usual idle limit of a proxy."""

MARGIN_SECONDS = 15.0
"""What a request may take beyond the wait that it asks for."""

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.25, 15.0
"""Between two deliveries of one response, doubled each time that the door cannot be reached."""


class Onceward:
    """One door. Every method raises `OncewardError` when no answer can be had.

    `token` is the bearer token, or a function that gives the one of the moment: a loop that waits for people may
    outlive a token. `transport` replaces the network, for tests.
    """

    def __init__(
        self,
        url: str,
        token: Token,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._http = httpx2.AsyncClient(base_url=url, transport=transport)
        self._token, self._clock, self._sleep = token, clock, sleep

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Give the connections back."""
        await self._http.aclose()

    async def turn(
        self,
        surface: str,
        response: Any = None,
        *,
        events: Iterable[Any] | None = None,
        request_id: str | None = None,
        conversation: str | None = None,
        output_limit: int | None = None,
        wait_seconds: float = TURN_SECONDS,
        wait_for: WaitFor = "progress",
    ) -> Turn:
        """Hand in a model's response and get the messages to append.

        `response` is the provider's own JSON or the object of its package. A response that was streamed may be handed
        in as all its `events` instead, in their order: those of the raw stream (`stream=True`), which a package's own
        conveniences replace by others. The same response may be handed in any number of times: each delivery finds the
        same operations. `request_id` names the response when it has no id of its own, `conversation` the conversation
        that it belongs to: calls and corrections are counted within it. `output_limit` is the `max_tokens` of the
        request, by whatever name: a response that took them all may have been cut, and is refused. With
        `wait_for="progress"` the answer comes as soon as only people are waited for.
        """
        delivery = _delivery(
            surface, response, events, request_id=request_id, conversation=conversation, output_limit=output_limit
        )
        return await self._deliver(delivery, wait_seconds, wait_for)

    async def until_complete(
        self,
        surface: str,
        response: Any = None,
        *,
        events: Iterable[Any] | None = None,
        request_id: str | None = None,
        conversation: str | None = None,
        output_limit: int | None = None,
        patience_seconds: float = 3600.0,
    ) -> Turn:
        """Hand the same response in again until every result is final, or patience ends.

        People and outages are waited for alike. When patience ends, the last answer comes back with `complete` False,
        and the loop may go on later with the same response; nothing is lost and nothing is done twice.
        """
        delivery = _delivery(
            surface, response, events, request_id=request_id, conversation=conversation, output_limit=output_limit
        )
        ends, pause = self._clock() + patience_seconds, FIRST_PAUSE_SECONDS
        while True:
            left = max(0.0, ends - self._clock())
            turn = await self._turn_or_outage(delivery, left)
            if turn is not None and (turn.complete or left == 0):
                return turn
            pause = FIRST_PAUSE_SECONDS if turn else min(2 * pause, LONGEST_PAUSE_SECONDS)
            await self._sleep(min(pause, max(0.0, ends - self._clock())))

    async def _turn_or_outage(self, delivery: Mapping[str, Any], left: float) -> Turn | None:
        """One delivery; None when the door is out of reach and there is time left."""
        try:
            return await self._deliver(delivery, min(left, LONGEST_TURN_SECONDS), "end")
        except OncewardError as error:
            if left == 0 or not error.passing:
                raise
            return None

    async def _deliver(self, delivery: Mapping[str, Any], wait_seconds: float, wait_for: WaitFor) -> Turn:
        content = written({**delivery, "wait_seconds": wait_seconds, "wait_for": wait_for})
        return await self._ask("POST", "/v1/turns", turn_from, seconds=wait_seconds, content=content)

    async def operation(self, operation_id: str) -> Operation:
        """Where an operation of this caller stands."""
        return await self._ask("GET", f"/v1/operations/{quote(operation_id, safe='')}", operation_from)

    async def cancel(self, operation_id: str) -> Cancellation:
        """Take an operation of this caller back. It stops if nothing was sent yet; asking twice is asking once."""
        return await self._ask("POST", f"/v1/operations/{quote(operation_id, safe='')}/cancel", cancellation_from)

    async def tools(self, surface: str) -> list[dict[str, Any]]:
        """The tools that may be offered to the model for this caller, in the surface's own form."""
        return (await self.offer(surface)).tools

    async def offer(self, surface: str, *, search: Literal["ours", "provider"] = "ours") -> Offer:
        """All that a request may list for this caller; `search` says who finds the tools that are deferred."""
        return await self._ask("GET", "/v1/tools", offer_from, params={"surface": surface, "search": search})

    async def shortlist(
        self, surface: str, query: str, *, limit: int = 5, conversation: str = ""
    ) -> list[dict[str, Any]]:
        """The few tools that fit what the user wants, the best first; from now on the conversation may call them."""
        asked = {"surface": surface, "query": query, "limit": limit, "conversation": conversation}
        return (await self._ask("GET", "/v1/tools", offer_from, params=asked)).tools

    async def _ask(
        self, method: str, path: str, read: Callable[[Mapping[str, Any]], T], *, seconds: float = 0.0, **request: Any
    ) -> T:
        token = self._token if isinstance(self._token, str) else self._token()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        try:
            answer = await self._http.request(
                method, path, headers=headers, timeout=seconds + MARGIN_SECONDS, **request
            )
        except httpx2.RequestError as failure:
            raise unreachable(failure) from failure
        return _read(answer, read)


def _delivery(surface: str, response: Any, events: Iterable[Any] | None, **named: Any) -> dict[str, Any]:
    given = {name: value for name, value in named.items() if value is not None}
    return {"surface": surface, **delivered(response, events), **given}


def _read(answer: httpx2.Response, read: Callable[[Mapping[str, Any]], T]) -> T:
    try:
        body = answer.json()
        if answer.is_success:
            return read(body)
        raise refused(answer.status_code, body)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise unexpected(answer.status_code) from None
