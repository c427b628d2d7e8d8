"""One operation with all that is known about it."""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from adapters.http.back_office.approvals import identifier
from adapters.http.back_office.languages import N_
from adapters.http.back_office.notices import Notice
from adapters.http.back_office.pages import Pages
from adapters.http.back_office.ports import BackOfficeStore, OperationSheet
from adapters.http.back_office.refusal import PageRefused
from adapters.http.back_office.session import Session, Sessions
from adapters.http.back_office.settings import PREFIX, BackOfficeSettings
from workflows.domain.lifecycle import State
from workflows.domain.resolution import Finding, refusal_of_operator

FINDINGS = {
    Finding.HAPPENED: N_("It happened"),
    Finding.DID_NOT_HAPPEN: N_("It did not happen and will not: it is safe to send it again"),
    Finding.ABANDONED: N_("Nobody can find out: give it up"),
}
"""What an operator can say, in the words of the form."""


MOST_DOUBTS = 20
"""Forms on one page; the others follow once these are answered."""

MOST_ITEMS = 200
"""Items of a batch that are listed one by one."""


class OperationPages:
    """Routes about one operation. They only read."""

    def __init__(self, store: BackOfficeStore, pages: Pages, sessions: Sessions, settings: BackOfficeSettings) -> None:
        self._store, self._pages, self._sessions, self._settings = store, pages, sessions, settings

    async def show(self, request: Request) -> Response:
        """One operation."""
        return await self.page(request, self._sessions.require(request), identifier(request))

    async def page(
        self,
        request: Request,
        session: Session,
        operation_id: str,
        notice: Notice | None = None,
        typed: Mapping[str, str] | None = None,
    ) -> Response:
        """The operation as it is now, with what a person's act came to and what they had typed."""
        sheet = await self._sheet(session, operation_id)
        # A read is one activity on its own: the console has no workflow to show.
        console = self._settings.console_url(operation_id) if sheet.line.writes else ""
        # A word that has just been taken is acted upon in a moment; it is not asked for a second time meanwhile.
        taken = notice is not None and notice.tone == "good" and len(sheet.doubts) == 1
        asks_operator = sheet.line.state is State.MANUAL_REVIEW and not taken
        barred = refusal_of_operator(session.viewer, session.viewer.tenant, sheet.line.requester) is not None
        return self._pages.answer(
            request,
            "operation.html",
            session,
            notice.status if notice else 200,
            sheet=sheet,
            console=console,
            notice=notice,
            typed=typed or {},
            findings=FINDINGS if asks_operator and not barred else {},
            asks_operator=asks_operator,
            findings_told=FINDINGS,
            most_doubts=MOST_DOUBTS,
            most_items=MOST_ITEMS,
        )

    async def approval(self, request: Request) -> Response:
        """Lead on to the newest question about an operation: whoever proposed it knows the operation's id only."""
        session = self._sessions.require(request)
        sheet = await self._sheet(session, identifier(request))
        newest = max(sheet.approvals, key=lambda approval: approval.revision, default=None)
        place = f"approvals/{newest.approval_id}" if newest else f"operations/{sheet.line.operation_id}"
        return RedirectResponse(f"{PREFIX}/{place}", 303)

    async def _sheet(self, session: Session, operation_id: str) -> OperationSheet:
        sheet = await self._store.operation(session.viewer, operation_id)
        if sheet is None:
            raise PageRefused.absent()
        return sheet
