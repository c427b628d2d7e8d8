"""The audit log: a search over everything that anybody has done or tried, and the verdict on its chain."""

import re
from collections.abc import AsyncIterator
from datetime import date, datetime, time, timedelta, tzinfo
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from adapters.http.back_office import audit_files
from adapters.http.back_office.audit_ports import AuditLog, AuditQuery, may_read
from adapters.http.back_office.languages import language_of
from adapters.http.back_office.pages import Pages
from adapters.http.back_office.refusal import PageRefused
from adapters.http.back_office.session import Session, Sessions

LONGEST_TERM = 200
"""Characters."""

CURSOR = re.compile(r"[0-9]{1,18}", re.ASCII)

TERMS = ("actor", "operation", "what", "about", "since", "until")
"""The fields of the form, as they stand in the address."""

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
        terms, query = _terms(request), _query(request, session)
        return self._pages.answer(
            request,
            "audit.html",
            session,
            terms=terms,
            found=await self._log.search(session.viewer, query),
            standing=await self._log.standing(session.viewer),
            searched=urlencode({name: value for name, value in terms.items() if value}),
            first=not query.before,
        )

    async def download(self, request: Request) -> Response:
        """Everything that a search finds, as a file."""
        session, name = self._reader(request), request.path_params["format"]
        if name not in FORMATS:
            raise PageRefused.absent()
        media_type, write, begin = FORMATS[name]
        # Asked for before the answer begins, so that an outage is still told as one.
        pieces = audit_files.file_of(self._log, session.viewer, _query(request, session), write)
        first = begin + await anext(pieces)
        named = {"Content-Disposition": f'attachment; filename="audit.{name}"'}
        return StreamingResponse(_from(first, pieces), media_type=media_type, headers=named)

    def _reader(self, request: Request) -> Session:
        session = self._sessions.require(request)
        if not may_read(session.viewer):
            raise PageRefused.absent()
        return session


async def _from(first: str, others: AsyncIterator[str]) -> AsyncIterator[str]:
    yield first
    async for piece in others:
        yield piece


def _terms(request: Request) -> dict[str, str]:
    terms = {name: request.query_params.get(name, "").strip() for name in TERMS}
    if any(len(value) > LONGEST_TERM or "\0" in value for value in terms.values()):
        raise PageRefused.absent()
    return terms


def _query(request: Request, session: Session) -> AuditQuery:
    terms, zone = _terms(request), language_of(request, session).zone
    before = request.query_params.get("before", "")
    if before and not CURSOR.fullmatch(before):
        raise PageRefused.absent()
    return AuditQuery(
        actor=terms["actor"],
        operation_id=terms["operation"],
        what=terms["what"],
        about=terms["about"],
        since=_begin_of(terms["since"], zone),
        until=_begin_of(terms["until"], zone, days=1),
        before=int(before or 0),
    )


def _begin_of(day: str, zone: tzinfo, days: int = 0) -> datetime | None:
    """When the day begins where the reader lives; the last day of a period is in it as a whole."""
    if not day:
        return None
    try:
        return datetime.combine(date.fromisoformat(day) + timedelta(days=days), time(), zone)
    except (ValueError, OverflowError) as error:
        raise PageRefused.absent() from error
