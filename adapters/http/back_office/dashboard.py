"""The page of invariants: what must hold, what waits, and what has been going on."""

from starlette.requests import Request
from starlette.responses import Response

from adapters.http.back_office.dashboard_ports import CHECKED, MOST_BREACHES, MOST_CHECKED, Dashboard, Span
from adapters.http.back_office.dashboard_words import INVARIANTS, QUEUES, SPANS
from adapters.http.back_office.drawing import drawn
from adapters.http.back_office.languages import language_of
from adapters.http.back_office.pages import Pages
from adapters.http.back_office.plots import plots_of
from adapters.http.back_office.refusal import PageRefused
from adapters.http.back_office.session import Sessions


class DashboardPages:
    """The one route of it. It only reads, and shows the viewer's own tenant."""

    def __init__(self, dashboard: Dashboard, pages: Pages, sessions: Sessions) -> None:
        self._dashboard, self._pages, self._sessions = dashboard, pages, sessions

    async def show(self, request: Request) -> Response:
        """Everything, with figures of the span that is asked for."""
        session, span = self._sessions.require(request), _span(request)
        seen = await self._dashboard.overview(session.viewer, span)
        plots = [] if seen is None else plots_of(seen.figures, span, language_of(request, session))
        return self._pages.answer(
            request,
            "invariants.html",
            session,
            seen=seen,
            span=span,
            spans=SPANS,
            promises=INVARIANTS,
            queues=QUEUES,
            plots=[(plot, drawn(plot)) for plot in plots],
            checked_days=CHECKED.days,
            most_checked=MOST_CHECKED,
            most_breaches=MOST_BREACHES,
        )


def _span(request: Request) -> Span:
    try:
        return Span(request.query_params.get("span", Span.DAY.value))
    except ValueError as error:
        raise PageRefused.absent() from error
