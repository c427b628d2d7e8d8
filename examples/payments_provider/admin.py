"""Fault switches and evidence under /_admin. No real payments service has these."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request
from starlette.responses import Response

from examples.payments_provider import orders, seed
from examples.payments_provider.envelope import Ours, answer, parse, require_bearer
from examples.payments_provider.faults import SwitchChanges, Switches
from examples.payments_provider.ledger import read_ledger
from examples.payments_provider.provider import clock


def _require_admin_key(provider: Ours, authorization: Annotated[str | None, Header()] = None) -> None:
    require_bearer(authorization, provider.settings.admin_key)


router = APIRouter(prefix="/_admin", dependencies=[Depends(_require_admin_key)])


@router.get("/switches")
async def get_switches(provider: Ours) -> Response:
    """As they stand now: each switch with the times that it still fires."""
    return answer(provider.switches)


@router.put("/switches")
async def put_switches(provider: Ours, request: Request) -> Response:
    """States all switches at once: what is not named goes back to its setting."""
    changes = parse(SwitchChanges, await request.body())
    provider.switches = Switches.from_settings(provider.settings, changes)
    return answer(provider.switches)


@router.delete("/switches")
async def delete_switches(provider: Ours) -> Response:
    """Every switch off, every lifetime as in the settings."""
    provider.clear_switches()
    return answer(provider.switches)


@router.get("/ledger")
async def get_ledger(provider: Ours, client_reference: str | None = None) -> dict[str, Any]:
    """All posts and effects, or those of one client reference."""
    async with provider.engine.connect() as books:
        return await read_ledger(books, client_reference)


@router.post("/orders")
async def post_order(provider: Ours, request: Request) -> Response:
    """An order of the test's own, with a fresh payment."""
    new = parse(orders.NewOrder, await request.body())
    async with provider.engine.begin() as books:
        return answer(await orders.add_order(books, new, clock()), status=201)


@router.post("/orders/{order_id}/replace-payment")
async def post_replace_payment(provider: Ours, order_id: str) -> Response:
    """What was checked before is no longer so: same amounts, another payment."""
    async with provider.engine.begin() as books:
        return answer(await orders.replace_payment(books, order_id))


@router.post("/reset")
async def post_reset(provider: Ours) -> dict[str, str]:
    """As on the first start: seed data, no switches, nothing on its way."""
    provider.clear_switches()
    provider.late.cancel()
    async with provider.engine.begin() as books:
        await seed.replant(books)
    return {"status": "reset"}
