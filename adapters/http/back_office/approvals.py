"""One approval, and the one form that decides."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from adapters.http.back_office import changes, notices
from adapters.http.back_office.forms import trusted_form
from adapters.http.back_office.languages import Language, language_of
from adapters.http.back_office.notices import Notice
from adapters.http.back_office.pages import Pages
from adapters.http.back_office.ports import ApprovalSheet, BackOfficeStore
from adapters.http.back_office.refusal import PageRefused
from adapters.http.back_office.session import Clock, Session, Sessions, SignInNeeded
from adapters.http.back_office.settings import PREFIX
from workflows.domain.approval import Choice, refusal_of_approver
from workflows.domain.errors import DecisionRefused

LONGEST_REASON = 2000
"""Characters."""

IDENTIFIER = re.compile(r"[A-Za-z0-9_-]{1,128}")


@dataclass(frozen=True)
class Ballot:
    """What the form says: the choice, and which revision of which intent it was made on."""

    choice: Choice
    reason: str
    revision: int
    intent_hash: str

    @classmethod
    def read(cls, form: Mapping[str, str]) -> "Ballot":
        """Take it from the fields; raises `PageRefused` where there is no such choice, or the reason cannot be kept.

        What is missing stays missing, and the store refuses it and has it told: a revision that was not given is
        revision 0, which no question has, for "the latest" is never assumed.
        """
        return cls(_choice(form), _reason(form), _revision(form), form.get("intent_hash", ""))


class ApprovalPages:
    """Routes about one approval."""

    def __init__(self, store: BackOfficeStore, pages: Pages, sessions: Sessions, origin: str, clock: Clock) -> None:
        self._store, self._pages, self._sessions = store, pages, sessions
        self._origin, self._clock = origin, clock

    async def show(self, request: Request) -> Response:
        """One approval."""
        session = self._sessions.require(request)
        return self._page(request, session, await self._sheet(session, identifier(request)))

    async def decide(self, request: Request) -> Response:
        """Count one person's word. This is the only route that changes anything."""
        approval_id = identifier(request)
        session = self._deciding_session(request, approval_id)
        form = await trusted_form(request, session, self._origin)
        notice = await self._decide(session, approval_id, form, language_of(request, session))
        typed = "" if notice.status == 200 else form.get("reason", "")[:LONGEST_REASON]
        return self._page(request, session, await self._sheet(session, approval_id), notice, typed)

    async def _decide(self, session: Session, approval_id: str, form: Mapping[str, str], language: Language) -> Notice:
        try:
            ballot = Ballot.read(form)
            outcome = await self._store.decide(
                session.viewer, approval_id, ballot.choice, ballot.reason, ballot.revision, ballot.intent_hash
            )
        except DecisionRefused as refusal:
            # Read after the refusal, so that the person is told what is true now.
            sheet = await self._sheet(session, approval_id)
            return notices.refused(refusal.code, sheet, session.viewer, language)
        return notices.counted(outcome, language)

    def _deciding_session(self, request: Request, approval_id: str) -> Session:
        session = self._sessions.find(request)
        if session is None:
            # Their word is not kept over a sign-in: they come back to the page and read it again.
            raise SignInNeeded(f"{PREFIX}/approvals/{approval_id}")
        return session

    async def _sheet(self, session: Session, approval_id: str) -> ApprovalSheet:
        sheet = await self._store.approval(session.viewer, approval_id)
        if sheet is None:
            raise PageRefused.absent()
        return sheet

    def _page(
        self, request: Request, session: Session, sheet: ApprovalSheet, notice: Notice | None = None, typed: str = ""
    ) -> Response:
        viewer, asked = session.viewer, sheet.requester
        barred = refusal_of_approver(viewer, asked.tenant, asked.subject, sheet.approval.approver_role) is not None
        return self._pages.answer(
            request,
            "approval.html",
            session,
            notice.status if notice else 200,
            sheet=sheet,
            arguments=changes.of_arguments(sheet),
            changed=changes.since_earlier(sheet, language_of(request, session)),
            notice=notice,
            typed=typed,
            open=notices.takes_votes(sheet, self._clock()),
            own_vote=sheet.vote_of(viewer.subject),
            bar=notices.bar(sheet, viewer, language_of(request, session)) if barred else "",
            longest_reason=LONGEST_REASON,
            notices=notices,
        )


def identifier(request: Request) -> str:
    """The id in the address.

    Raises:
        PageRefused: it cannot be one of ours.
    """
    value: str = request.path_params["id"]
    if not IDENTIFIER.fullmatch(value):
        raise PageRefused.absent()
    return value


def _choice(form: Mapping[str, str]) -> Choice:
    try:
        return Choice(form.get("choice", ""))
    except ValueError as error:
        raise PageRefused.odd_form() from error


def _reason(form: Mapping[str, str]) -> str:
    reason = form.get("reason", "").replace("\r\n", "\n").strip()
    if len(reason) > LONGEST_REASON or "\0" in reason:
        raise PageRefused.odd_form()
    return reason


def _revision(form: Mapping[str, str]) -> int:
    value = form.get("revision", "")
    return int(value) if re.fullmatch(r"[0-9]{1,9}", value, re.ASCII) else 0
