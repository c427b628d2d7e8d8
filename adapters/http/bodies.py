"""Request bodies, read strictly: as bytes, once, into the model that the route declares."""

import asyncio
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from adapters import strict_json
from adapters.http.identity import require_current
from adapters.http.problems import Problem
from workflows.domain.arguments import detail_of
from workflows.domain.errors import Detail

AT_ONCE = 64 * 1024
"""Bytes that are read on the spot."""

OPERATION_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
"""What an operation's id can look like; anything else is absent without asking the database, which takes no NUL."""

Body = TypeVar("Body", bound=BaseModel)


async def read_body(
    request: Request, kind: type[Body], largest: int, prepare: Callable[[Any], Any] = lambda parsed: parsed
) -> Body:
    """The body as `kind`; `prepare` may rewrite what was parsed before it is validated.

    Raises:
        Problem: `body_too_large`, `invalid_json` or `invalid_request`, with every place that is at fault; or the
            credential that was good when the request began has expired before its body was here.
    """
    raw = await whole_body(request, largest)
    require_current(request)
    try:
        # In a thread when it is large: reading takes its time, and others wait to be answered.
        read = partial(strict_json.parse, raw, limit=largest)
        parsed = await asyncio.to_thread(read) if len(raw) > AT_ONCE else read()
    except strict_json.StrictJsonError as error:
        raise Problem(400, "invalid_json", "The body is not strict JSON.", errors=entries([error.detail()])) from None
    try:
        return kind.model_validate(prepare(parsed))
    except ValidationError as error:
        faults = entries(map(detail_of, error.errors(include_url=False)))
        raise Problem(422, "invalid_request", "The request does not have the expected shape.", errors=faults) from None


def entries(details: Iterable[Detail]) -> list[dict[str, str]]:
    """Details as a problem document lists them."""
    return [{"path": detail.path, "code": detail.code, "expected": detail.expected} for detail in details]


async def whole_body(request: Request, largest: int) -> bytes:
    """The body as it came; raises `body_too_large`, or `invalid_json` when the caller hangs up before its end."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > largest:
                raise Problem(413, "body_too_large", "The body is too large.", f"At most {largest} bytes.")
    except ClientDisconnect:
        # Nobody hears it; but it is no surprise either, of which the log would have to tell at length.
        raise Problem(400, "invalid_json", "The body did not come whole.") from None
    return bytes(body)
