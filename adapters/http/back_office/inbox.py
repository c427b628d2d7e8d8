"""The inbox: what waits for a decision, narrowed down as a person likes."""

from starlette.requests import Request
from starlette.responses import Response

from adapters.http.back_office import filters
from adapters.http.back_office.filters import PENDING_FIELDS, Typed, cursor, pending_query
from adapters.http.back_office.lists import ApprovalList
from adapters.http.back_office.live import Live
from adapters.http.back_office.pages import Pages
from adapters.http.back_office.ports import BackOfficeStore
from adapters.http.back_office.session import Sessions

NOTHING = ApprovalList((), 0)


class InboxPages:
    """The route of the inbox. It only reads."""

    def __init__(self, store: BackOfficeStore, pages: Pages, sessions: Sessions) -> None:
        self._store, self._pages, self._sessions = store, pages, sessions

    async def index(self, request: Request) -> Response:
        """What waits, the nearest deadline first; its first page looks again by itself while nobody types."""
        session = self._sessions.require(request)
        typed, after = Typed.read(request, "/", PENDING_FIELDS), cursor(request)
        query = pending_query(typed, after)
        narrowing = "narrow" in request.query_params or query is None
        live = Live(0) if narrowing or after else Live.read(request)
        page = self._pages.answer(
            request,
            "inbox.html",
            session,
            422 if query is None else 200,
            found=NOTHING if query is None else await self._store.pending(session.viewer, query),
            stuck=await self._store.stuck_number(session.viewer),
            typed=typed,
            narrowing=narrowing,
            live=live,
            after=after,
            filters=filters,
        )
        return live.keep(page, typed)
