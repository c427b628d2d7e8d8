"""Forms that were really sent from our own page by the person who is signed in."""

import hmac
from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.requests import Request

from adapters.http.back_office.arrival import LARGEST_BODY
from adapters.http.back_office.refusal import PageRefused
from adapters.http.back_office.session import Session
from adapters.http.back_office.throttle import count_forged, count_word

MOST_FIELDS = 20


async def trusted_form(request: Request, session: Session, origin: str) -> Mapping[str, str]:
    """The fields of a form that carries the session's token and comes from a page of ours; a word of the person.

    Raises:
        PageRefused: it does not, it is too large, it is no plain form, or they have sent too many.
    """
    form = await leaving_form(request, session, origin)
    count_word(request, session)
    return form


async def leaving_form(request: Request, session: Session, origin: str) -> Mapping[str, str]:
    """The same for a form that ends sessions, as often as it may come.

    Whoever has stolen a cookie could otherwise use up what the person may say, and so keep their session.

    Raises:
        PageRefused: it is none of the person's own, too large or no plain form.
    """
    try:
        form = await form_of_ours(request, origin)
        _require_token(form, session)
    except PageRefused:
        count_forged(request, session)
        raise
    return form


async def form_of_ours(request: Request, origin: str) -> Mapping[str, str]:
    """The fields of a form that comes from a page of ours, whoever sends it; for what is done before a sign-in.

    Raises:
        PageRefused: it does not, it is too large, or it is no plain form.
    """
    require_same_origin(request, origin)
    return await _fields(request)


def require_same_origin(request: Request, origin: str) -> None:
    """Raise `PageRefused` unless the browser says that one of our own pages sent this.

    Browsers send `Origin: null` from pages under our referrer policy, so the newer header is asked first. A sender
    that gives neither is refused: no browser of today posts a form without.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        if site != "same-origin":
            raise PageRefused.foreign_form()
    elif request.headers.get("origin") != origin:
        raise PageRefused.foreign_form()


def _require_token(form: Mapping[str, str], session: Session) -> None:
    if not hmac.compare_digest(form.get("csrf", "").encode(), session.csrf.encode()):
        raise PageRefused.foreign_form()


async def _fields(request: Request) -> dict[str, str]:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise PageRefused.odd_form()
    try:
        pairs = parse_qsl(
            (await _body(request)).decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"
        )
    except ValueError as error:
        raise PageRefused.odd_form() from error
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise PageRefused.odd_form()
    return fields


async def _body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_BODY:
            raise PageRefused.odd_form()
    return body
