"""Stuck work: what does not go on, why, since when, and what can be done about it."""

import re

from starlette.requests import Request
from starlette.responses import Response

from adapters.http.back_office.filters import Typed
from adapters.http.back_office.forms import trusted_form
from adapters.http.back_office.languages import N_, Language, language_of
from adapters.http.back_office.lists import Stuck
from adapters.http.back_office.live import Live
from adapters.http.back_office.notices import UNCHANGED, Notice
from adapters.http.back_office.pages import Pages
from adapters.http.back_office.ports import BackOfficeStore
from adapters.http.back_office.refusal import PageRefused
from adapters.http.back_office.session import Session, Sessions, SignInNeeded
from adapters.http.back_office.settings import PREFIX
from adapters.http.back_office.words import of_code
from workflows.domain.errors import RequeueRefused

GROUPS = {
    Stuck.MANUAL_REVIEW: (
        N_("Needs an operator"),
        N_("Nobody can say whether it happened. Open one and say what you have found out."),
    ),
    Stuck.UNCONFIRMED: (
        N_("Not confirmed"),
        N_("It was sent and no answer came. It is looked up again and again; it may have happened."),
    ),
    Stuck.OVERDUE: (
        N_("Decisions that are due"),
        N_("The time to decide ends within the hour, or has passed unused. Open one and decide."),
    ),
    Stuck.STILL: (
        N_("Nothing moves"),
        N_("For an hour nobody has carried it on. Tell whoever keeps the workers and the relay running."),
    ),
}
"""What each group is called, and what can be done."""

MESSAGES = {
    "start": N_("Start of an operation"),
    "turn": N_("Start of several operations in their order"),
    "read": N_("Start of a read"),
    "nudge": N_("Waking of an operation"),
    "event": N_("Notice to other systems"),
}

NUMBER = re.compile(r"[0-9]{1,18}", re.ASCII)
"""What the store's column can hold."""


class StuckPages:
    """The routes about stuck work."""

    def __init__(self, store: BackOfficeStore, pages: Pages, sessions: Sessions, origin: str) -> None:
        self._store, self._pages, self._sessions, self._origin = store, pages, sessions, origin

    async def index(self, request: Request) -> Response:
        """Everything that is stuck; it looks again by itself."""
        live = Live.read(request)
        return live.keep(await self._page(request, self._sessions.require(request), live), Typed("/stuck", {}))

    async def requeue(self, request: Request) -> Response:
        """Put a message back that was set aside, and show what is stuck now."""
        session = self._sessions.find(request)
        if session is None:
            raise SignInNeeded(f"{PREFIX}/stuck")
        number = request.path_params["id"]
        if not NUMBER.fullmatch(number):
            raise PageRefused.absent()
        await trusted_form(request, session, self._origin)
        language = language_of(request, session)
        try:
            await self._store.requeue(session.viewer, int(number))
        except RequeueRefused as refusal:
            return await self._page(request, session, Live(0), _refused(refusal.code, language))
        return await self._page(request, session, Live(0), _requeued(language))

    async def _page(self, request: Request, session: Session, live: Live, notice: Notice | None = None) -> Response:
        work = await self._store.stuck(session.viewer)
        return self._pages.answer(
            request,
            "stuck.html",
            session,
            notice.status if notice else 200,
            work=work,
            stuck=work.total,
            live=live,
            typed=Typed("/stuck", {}),
            notice=notice,
            groups=GROUPS,
            messages=MESSAGES,
        )


def _requeued(language: Language) -> Notice:
    sentence = language.gettext("It will be delivered in a moment. If it cannot be, it comes back here.")
    return Notice(200, "good", language.gettext("The message is back in the queue"), (sentence,))


def _refused(code: str, language: Language) -> Notice:
    if code == "not_found":
        raise PageRefused.absent()
    sentences = (of_code(code),) if "othing was changed" in of_code(code) else (of_code(code), UNCHANGED)
    status = 403 if code == "operator_not_allowed" else 409
    return Notice(
        status, "warn", language.gettext("The message was not put back"), tuple(map(language.gettext, sentences))
    )
