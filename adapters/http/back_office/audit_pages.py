"""The audit log: a search over everything that anybody has done or tried, and the verdict on its chain."""

import re
from collections.abc import AsyncIterator
from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from adapters.http.back_office import audit_files, filters
from adapters.http.back_office.audit_ports import AuditList, AuditLog, AuditQuery, may_read
from adapters.http.back_office.filters import Typed
from adapters.http.back_office.languages import language_of
from adapters.http.back_office.pages import Pages
from adapters.http.back_office.refusal import PageRefused
from adapters.http.back_office.session import Session, Sessions

CURSOR = re.compile(r"[0-9]{1,18}", re.ASCII)

TERMS = ("actor", "operation", "what", "about", "since", "until")
"""The fields of the form, as they stand in the address."""

NOTHING: Final = AuditList(())

FORMATS = {
    "jsonl": ("application/jsonl; charset=utf-8", audit_files.as_json_lines, ""),
    "csv": ("text/csv; charset=utf-8; header=present", audit_files.as_csv, audit_files.header()),
}
"""Of a download: its media type, how lines are written, and what comes before them."""


class AuditPages:
    """Routes about the audit log. They only read."""

    def __init__(self, log: AuditLog, pages: Pages, sessions: Sessions) -> None:
        self._log, self._pages, self._sessions = log, pages, sessions

    async def index(self, request: Request) -> Response:
        """The lines that are meant, the newest first, and how the chain stands."""
        session = self._reader(request)
        typed = _typed(request)
        return await self._page(request, session, typed, _query(request, session, typed))

    async def download(self, request: Request) -> Response:
        """Everything that a search finds, as a file."""
        session, name = self._reader(request), request.path_params["format"]
        if name not in FORMATS:
            raise PageRefused.absent()
        media_type, write, begin = FORMATS[name]
        typed = _typed(request)
        query = _query(request, session, typed)
        if query is None:
            return await self._page(request, session, typed, None)
        # Asked for before the answer begins, so that an outage is still told as one.
        pieces = audit_files.file_of(self._log, session.viewer, query, write)
        first = begin + await anext(pieces)
        named = {"Content-Disposition": f'attachment; filename="audit.{name}"'}
        return StreamingResponse(_from(first, pieces), media_type=media_type, headers=named)

    async def _page(self, request: Request, session: Session, typed: Typed, query: AuditQuery | None) -> Response:
        """The page with what a query finds; without one nothing is looked for, and the fields say why."""
        return self._pages.answer(
            request,
            "audit.html",
            session,
            422 if query is None else 200,
            typed=typed,
            found=NOTHING if query is None else await self._log.search(session.viewer, query),
            standing=await self._log.standing(session.viewer),
            searched=urlencode(typed.values),
            first=query is None or not query.before,
            filters=filters,
        )

    def _reader(self, request: Request) -> Session:
        session = self._sessions.require(request)
        if not may_read(session.viewer):
            raise PageRefused.absent()
        return session


async def _from(first: str, others: AsyncIterator[str]) -> AsyncIterator[str]:
    yield first
    async for piece in others:
        yield piece


def _typed(request: Request) -> Typed:
    return Typed.read(request, "/audit", TERMS)


def _query(request: Request, session: Session, typed: Typed) -> AuditQuery | None:
    """Which lines are meant; None when that cannot be said. The period has its last day."""
    before, zone = _cursor(request), language_of(request, session).zone
    since, until = typed.day("since", zone), typed.day("until", zone, later=1)
    if typed.faults:
        return None
    return AuditQuery(
        actor=typed.text("actor"),
        operation_id=typed.text("operation"),
        what=typed.text("what"),
        about=typed.text("about"),
        since=since,
        until=until,
        before=before,
    )


def _cursor(request: Request) -> int:
    """Where the page begins; nobody types that, so one that is none is absent."""
    before = request.query_params.get("before", "")
    if before and not CURSOR.fullmatch(before):
        raise PageRefused.absent()
    return int(before or 0)
