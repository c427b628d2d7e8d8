"""A bridge from Onceward to people: verifies each webhook and prints a line where yours sends a mail or a message.

Started beside `make dev ARGS="--webhook http://127.0.0.1:9100/"` it needs nothing else; elsewhere the environment names
the secret: WEBHOOK_SECRET, the same that the relay signs with.
"""

import argparse
import os
import sys
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import uvicorn
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.currencies import minor_digits
from worker.dev.environment import webhook_secret
from worker.dev.errors import NothingStarted, Unusable
from worker.dev.folder import StateFolder

DEFAULT_STATE = Path(".onceward")

LARGEST_BODY = 64 * 1024
"""Bytes; an event has a few hundred."""

REMEMBERED = 10_000
"""Ids of events that were passed on. A bridge that must not repeat itself after a restart keeps them in a database."""

SENTENCES = {
    "approval.asked": "A person must decide",
    "approval.granted": "Approved",
    "approval.denied": "Denied",
    "approval.expired": "Nobody decided in time",
    "approval.void": "The question was taken back",
    "operation.manual_review": "An operator must find out what happened",
    "operation.ended": "Ended",
}

Json = dict[str, Any]


class Bridge:
    """Passes on what is genuine and new. `tell` is where a mail or a chat comes in; if it fails, it is told again."""

    def __init__(self, secret: str, tell: Callable[[str], None]) -> None:
        self._webhook, self._tell = Webhook(secret), tell
        self._passed_on: OrderedDict[str, None] = OrderedDict()

    async def receive(self, request: Request) -> Response:
        """204 once it was passed on, 400 when it is not from Onceward."""
        try:
            body = await _body(request)
            event = self._webhook.verify(body, dict(request.headers))
        except (WebhookVerificationError, ValueError):
            return Response(status_code=400)
        event_id = request.headers["webhook-id"]
        if event_id not in self._passed_on:
            self._tell(line(event))
            self._remember(event_id)
        return Response(status_code=204)

    def _remember(self, event_id: str) -> None:
        self._passed_on[event_id] = None
        if len(self._passed_on) > REMEMBERED:
            self._passed_on.popitem(last=False)


async def _body(request: Request) -> bytes:
    """What was posted; raises `ValueError` when that is more than any event is."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_BODY:
            raise ValueError("too large")
    return body


def line(event: Json) -> str:
    """One event in one line. A type that is not known here is told by its name."""
    data = event["data"]
    said = SENTENCES.get(event["type"], event["type"])
    about = [data["tool"], *([_spoken(data["amount"])] if "amount" in data else []), f"for {data['requester']}"]
    until = f", until {data['approval']['deadline']}" if event["type"] == "approval.asked" else ""
    ended = f" ({data['state']})" if event["type"] == "operation.ended" else ""
    return f"{said}{ended}: {' '.join(about)}{until}. {data['link']}"


def _spoken(amount: Json) -> str:
    digits = minor_digits(amount["currency"]) or 0
    return f"{amount['minor_units'] / 10**digits:,.{digits}f} {amount['currency']}"


def app(secret: str, tell: Callable[[str], None]) -> Starlette:
    """The bridge as an application."""
    return Starlette(routes=[Route("/{path:path}", Bridge(secret, tell).receive, methods=["POST"])])


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0 after Ctrl-C, 2 without a secret."""
    parser = argparse.ArgumentParser(prog="python -m examples.webhook_bridge", description=__doc__)
    parser.add_argument("--port", type=int, default=9100, help="to listen on (default: %(default)s)")
    parser.add_argument("--state", type=Path, default=DEFAULT_STATE, help="of the stack (default: %(default)s)")
    asked = parser.parse_args(arguments)
    try:
        secret = os.environ.get("WEBHOOK_SECRET") or _secret(asked.state)
    except Unusable as refusal:
        print(refusal, file=sys.stderr)
        return refusal.exit_code
    uvicorn.run(app(secret, lambda said: print(said, flush=True)), port=asked.port, log_level="warning")
    return 0


def _secret(state: Path) -> str:
    folder = StateFolder(state)
    key = folder.recall("credentials").get("webhook_key")
    if key is None:
        raise NothingStarted(folder.root)
    return webhook_secret(str(key))


if __name__ == "__main__":
    sys.exit(main())
