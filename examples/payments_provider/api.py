"""The public API under /v1, and /healthz."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Request
from pydantic import BaseModel
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.responses import Response

from examples.payments_provider import orders, quotes, refunds
from examples.payments_provider.envelope import Ours, answer, parse, require_bearer
from examples.payments_provider.faults import Fault
from examples.payments_provider.posts import receive_refund
from examples.payments_provider.provider import Provider, clock, under
from examples.payments_provider.refusals import Refusal

Read = Callable[[AsyncConnection], Awaitable[BaseModel]]


def _require_api_key(provider: Ours, authorization: Annotated[str | None, Header()] = None) -> None:
    require_bearer(authorization, provider.settings.api_key)


health = APIRouter()
router = APIRouter(prefix="/v1", dependencies=[Depends(_require_api_key)])


class FoundRefunds(BaseModel):
    """What a look-up knows, oldest first."""

    refunds: list[refunds.Refund]


@health.get("/healthz")
async def healthz(provider: Ours) -> dict[str, str]:
    """Answers once the books are open and reachable."""
    async with provider.engine.connect() as books:
        await books.execute(text("SELECT 1"))
    return {"status": "ok"}


@router.get("/orders/{order_id}")
async def get_order(provider: Ours, order_id: str) -> Response:
    """The order with its payment of now."""
    fault = provider.run_into("order", reading=True, order_id=order_id)
    return await _read(provider, fault, lambda books: orders.read_order(books, order_id))


@router.post("/quotes")
async def post_quote(provider: Ours, request: Request) -> Response:
    """Offers a refund; moves no money."""
    asked = parse(quotes.QuoteRequest, await request.body())
    lifetime = timedelta(seconds=provider.switches.quote_seconds)

    async def give() -> Response:
        async with provider.engine.begin() as books:
            return answer(await quotes.give_quote(books, asked, lifetime, clock()), status=201)

    return await under(provider.run_into("quote", reading=False, order_id=asked.order_id), give, provider)


@router.get("/quotes/{quote_id}")
async def get_quote(provider: Ours, quote_id: str) -> Response:
    """The quote and whether it can still be used."""
    fault = provider.run_into("quote", reading=True)
    return await _read(provider, fault, lambda books: quotes.read_quote(books, quote_id, clock()))


@router.post("/refunds")
async def post_refund(
    provider: Ours, request: Request, idempotency_key: Annotated[str | None, Header()] = None
) -> Response:
    """Carries out a quote, once per quote and once per key."""
    return await receive_refund(provider, idempotency_key, await request.body())


@router.get("/refunds/{refund_id}")
async def get_refund(provider: Ours, refund_id: str) -> Response:
    """One refund by our own number."""
    fault = provider.run_into("lookup", reading=True)
    return await _read(provider, fault, lambda books: refunds.read_refund(books, refund_id, clock()))


@router.get("/refunds")
async def find_refunds(
    provider: Ours, idempotency_key: str | None = None, client_reference: str | None = None
) -> Response:
    """Refunds by what the caller called them; an empty list is an answer."""
    fault = provider.run_into("lookup", reading=True, client_reference=client_reference)
    return await _read(provider, fault, lambda books: _find(provider, books, idempotency_key, client_reference))


async def _read(provider: Provider, fault: Fault | None, read: Read) -> Response:
    async def act() -> Response:
        async with provider.engine.connect() as books:
            return answer(await read(books))

    return await under(fault, act, provider)


async def _find(
    provider: Provider, books: AsyncConnection, key: str | None, client_reference: str | None
) -> FoundRefunds:
    if key is not None and client_reference is None:
        lifetime = timedelta(seconds=provider.switches.key_lifetime_seconds)
        return FoundRefunds(refunds=await refunds.find_by_key(books, key, clock(), lifetime))
    if client_reference is not None and key is None:
        return FoundRefunds(refunds=await refunds.find_by_reference(books, client_reference, clock()))
    raise Refusal("invalid_request", "Look refunds up by idempotency_key or by client_reference, one of the two.")
