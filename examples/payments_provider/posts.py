"""A refund request on its way in: written down first, broken if a switch says so, then carried out."""

import json

from starlette.responses import JSONResponse, Response

from examples.payments_provider import keys, ledger, quotes, refunds
from examples.payments_provider.connection import Cut
from examples.payments_provider.envelope import parse
from examples.payments_provider.faults import NOTHING_DONE, Fault
from examples.payments_provider.provider import Provider, clock, stopped_by, under
from examples.payments_provider.refusals import Refusal


async def receive_refund(provider: Provider, key: str | None, body: bytes) -> Response:
    """Every post leaves a row, whatever the switches do to its answer."""
    client_reference = _named_in(body, "client_reference")
    fault = await _run_into(provider, client_reference, _named_in(body, "quote_id"))
    does = fault.do if fault else None
    post_id = await ledger.record_post(provider.engine, clock(), key, client_reference, does)

    async def act() -> Response:
        return await _settled(provider, post_id, key, body)

    if fault is not None and fault.do in NOTHING_DONE:
        await ledger.settle_refused_post(provider.engine, post_id, fault.do)
        return stopped_by(fault)
    if fault is not None and fault.do == "commit-late" and not provider.late.holds(key or ""):
        provider.late.start(key or "", fault.wait, act)
        return Cut()
    return await under(fault, act, provider)


async def _settled(provider: Provider, post_id: int, key: str | None, body: bytes) -> Response:
    try:
        return await _carry_out(provider, post_id, key, body)
    except Refusal as refusal:
        await ledger.settle_refused_post(provider.engine, post_id, refusal.code)
        raise


async def _carry_out(provider: Provider, post_id: int, key: str | None, body: bytes) -> Response:
    key = keys.require_key(key)
    asked = parse(refunds.RefundRequest, body)
    if provider.late.holds(key):
        raise keys.in_flight(key)
    async with provider.engine.begin() as books:
        told = await refunds.refund(books, key, asked, provider.switches, clock())
        outcome = "replayed" if told.replayed else "executed"
        await ledger.settle_post(books, post_id, outcome, told.body["refund_id"])
    if told.replayed:
        return JSONResponse(told.body, 200, {"Idempotent-Replayed": "true"})
    return JSONResponse(told.body, 201)


async def _run_into(provider: Provider, client_reference: str | None, quote_id: str | None) -> Fault | None:
    """The order is read only if there are switches: without them a refund should cost no more than it must."""
    if not provider.switches.faults:
        return None
    async with provider.engine.connect() as books:
        order_id = await quotes.order_of(books, quote_id)
    return provider.run_into("refund", reading=False, client_reference=client_reference, order_id=order_id)


def _named_in(body: bytes, field: str) -> str | None:
    """A field of a body that may turn out to be nonsense: even that post is written down."""
    try:
        value = json.loads(body)[field]
    except (ValueError, TypeError, KeyError, IndexError):
        return None
    return value if isinstance(value, str) else None
