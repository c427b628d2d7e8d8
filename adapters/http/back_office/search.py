"""The list of operations, and the search for them."""

from starlette.requests import Request
from starlette.responses import Response

from adapters.http.back_office import filters
from adapters.http.back_office.filters import OPERATION_FIELDS, Typed, cursor, operation_query
from adapters.http.back_office.languages import language_of
from adapters.http.back_office.lists import OperationList
from adapters.http.back_office.pages import Pages
from adapters.http.back_office.ports import BackOfficeStore
from adapters.http.back_office.session import Sessions
from workflows.domain.lifecycle import State

STATES = (
    State.MANUAL_REVIEW,
    State.UNCONFIRMED,
    State.AWAITING_APPROVAL,
    State.STARTED,
    State.SUCCEEDED,
    State.FAILED_TERMINAL,
    State.FAILED_RETRYABLE,
)
"""States that the list can be narrowed to, the most pressing first."""

NOTHING = OperationList(())


class SearchPages:
    """The route of the list. It only reads, and does not look again by itself: there is a form on it."""

    def __init__(self, store: BackOfficeStore, pages: Pages, sessions: Sessions) -> None:
        self._store, self._pages, self._sessions = store, pages, sessions

    async def index(self, request: Request) -> Response:
        """The operations that are meant, the newest first."""
        session = self._sessions.require(request)
        typed, after = Typed.read(request, "/operations", OPERATION_FIELDS), cursor(request)
        query = operation_query(typed, after, language_of(request, session).zone)
        return self._pages.answer(
            request,
            "operations.html",
            session,
            422 if query is None else 200,
            found=NOTHING if query is None else await self._store.operations(session.viewer, query),
            stuck=await self._store.stuck_number(session.viewer),
            typed=typed,
            after=after,
            states=STATES,
            filters=filters,
        )
