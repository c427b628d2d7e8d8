"""Propose a refund to the stack that `make dev` has started, and wait for the person who decides.

The three responses are made by hand where a model would have sent them; all else is as in
`examples.agent_loops.anthropic_messages`.
"""

import argparse
import asyncio
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx2

from adapters.client import Onceward, OncewardError, Result, Turn
from adapters.currencies import minor_digits
from worker.dev.errors import NothingStarted, Unusable
from worker.dev.folder import StateFolder
from worker.dev.issuer import mint
from worker.dev.layout import AUDIENCE
from worker.dev.ports import HOST

SURFACE = "anthropic-messages"

DEFAULT_STATE = Path(".onceward")

ORDERS = ("O-17", "O-18", "O-22", "O-20", "O-19")
"""Of the sample shop; the first that still has something refundable is taken."""

LONGEST_WAIT_SECONDS = 4 * 24 * 3600.0
"""Longer than the question about a refund stands."""

Json = dict[str, Any]


class NothingToRefund(Exception):
    """Every order has been refunded."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0 when a refund was proposed, whatever came of it; 1 when that was not possible, 2 without a stack."""
    parser = argparse.ArgumentParser(prog="python -m examples.propose_refund", description=__doc__)
    parser.add_argument("--state", type=Path, default=DEFAULT_STATE, help="of the stack (default: %(default)s)")
    try:
        asyncio.run(propose(parser.parse_args(arguments).state))
    except KeyboardInterrupt:
        print("\nLeft waiting: the question stays open, and the approval counts without this program.")
    except Unusable as refusal:
        print(refusal, file=sys.stderr)
        return refusal.exit_code
    except (OncewardError, NothingToRefund) as failure:
        print(f"{failure} Is `make dev` running?" if _unreachable(failure) else failure, file=sys.stderr)
        return 1
    return 0


def _unreachable(failure: Exception) -> bool:
    return isinstance(failure, OncewardError) and failure.status is None


async def propose(state: Path) -> None:
    """Look for something to refund, quote it, ask for it, wait."""
    url = _url(state, "api")
    # Without the proxy that the environment may name: everything is on this machine.
    async with Onceward(url, lambda: _token(state), transport=httpx2.AsyncHTTPTransport()) as door:
        order = await _refundable(door)
        amount = {"amount": order["refundable"], "currency": order["currency"]}
        quote = _data(await door.turn(SURFACE, response("prepare_refund", order_id=order["order_id"], **amount)))
        print(f"prepare_refund: quote {quote['quote_id']} for {_spoken(amount)}")
        asked = {name: quote[name] for name in ("order_id", "quote_id", "amount", "currency")}
        proposal = response("refund_payment", **asked, quote_version=quote["version"])
        result = (await door.turn(SURFACE, proposal)).results[0]
        if not result.final:
            print(f"refund_payment: {_told(result)}\n\nTo decide, sign in as Refund approver:")
            print(f"  {url}/back-office/operations/{result.operation_id}/approval\n")
            print("Waiting for the decision; Ctrl-C leaves it waiting.", flush=True)
            result = (await door.until_complete(SURFACE, proposal, patience_seconds=LONGEST_WAIT_SECONDS)).results[0]
        print(f"refund_payment: {_told(result)}")


async def _refundable(door: Onceward) -> Json:
    """The first order that has something left, as the tool tells it."""
    for order_id in ORDERS:
        order = _data(await door.turn(SURFACE, response("get_order", order_id=order_id)))
        left = {"amount": order["refundable"], "currency": order["currency"]}
        print(f"get_order: {order_id}, {_spoken(left)} refundable")
        if order["refundable"]:
            return order
    raise NothingToRefund("Every sample order has been refunded; start a stack with another --state for new ones.")


def response(tool: str, **arguments: Any) -> Json:
    """What a model sends that wants this one call."""
    call = {"type": "tool_use", "id": "call-1", "name": tool, "input": arguments}
    message = {"id": f"msg_{secrets.token_hex(12)}", "type": "message", "role": "assistant"}
    return {**message, "content": [call], "stop_reason": "tool_use"}


def _data(turn: Turn) -> Json:
    result = turn.results[0]
    if result.data is None:
        raise NothingToRefund(f"{result.tool_name}: {_told(result)}")
    return dict(result.data)


def _told(result: Result) -> str:
    if result.error is None:
        data = result.data
        if "refund_id" not in data:
            # An operator has found out that it happened; nobody but the provider knows more than the reference.
            return f"done, receipt {data['reference']}"
        return f"done, {_spoken(data)}, receipt {data['refund_id']}"
    return f"{result.code}. {result.error['message']}"


def _spoken(money: Json) -> str:
    digits = minor_digits(money["currency"]) or 0
    return f"{money['amount'] / 10**digits:,.{digits}f} {money['currency']}"


def _url(state: Path, server: str) -> str:
    folder = StateFolder(state)
    port = folder.recall("ports").get(server)
    if port is None:
        raise NothingStarted(folder.root)
    return f"http://{HOST}:{port}"


def _token(state: Path) -> str:
    """Minted when it is needed: the wait for a person may outlive a token."""
    return mint(
        StateFolder(state).issuer,
        issuer=_url(state, "issuer"),
        audience=AUDIENCE,
        subject="user-17",
        tenant="tenant-a",
        roles=["support"],
        agent="support-agent",
    )


if __name__ == "__main__":
    sys.exit(main())
