"""Stuck work: what does not go on, why, since when, and what can be done about it."""

import re
from collections.abc import Awaitable
from dataclasses import dataclass

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

TOLD = {
    "approval.asked": N_("Somebody must decide"),
    "approval.granted": N_("A request was approved"),
    "approval.denied": N_("A request was denied"),
    "approval.expired": N_("A request expired"),
    "approval.void": N_("A request was taken back"),
    "operation.manual_review": N_("An operator is needed"),
    "operation.ended": N_("An operation came to its end"),
}
"""What receivers outside are told of."""

NUMBER = re.compile(r"[0-9]{1,18}", re.ASCII)
"""What the store's column can hold."""

NAME = re.compile(r"[^\x00]{1,255}")
"""What the name of a receiver can be."""


@dataclass(frozen=True)
class Said:
    """What an operator is told who has put something back: that it is done and what then comes, or that it is not."""

    done: str
    then: str
    refused: str


REQUEUED = Said(
    N_("The message is back in the queue"),
    N_("It will be delivered in a moment. If it cannot be, it comes back here."),
    N_("The message was not put back"),
)
RETOLD = Said(
    N_("The notice is delivered after all"),
    N_("It is tried for about a day, and comes back here if the receiver does not take it."),
    N_("The notice was not put back"),
)


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
        session, number = self._sender(request), _number(request)
        await trusted_form(request, session, self._origin)
        return await self._put_back(request, session, self._store.requeue(session.viewer, number), REQUEUED)

    async def retell(self, request: Request) -> Response:
        """Have a receiver told after all of what was set aside for it, and show what is stuck now."""
        session, number = self._sender(request), _number(request)
        receiver = (await trusted_form(request, session, self._origin)).get("receiver", "")
        if not NAME.fullmatch(receiver):
            raise PageRefused.absent()
        return await self._put_back(request, session, self._store.retell(session.viewer, number, receiver), RETOLD)

    def _sender(self, request: Request) -> Session:
        session = self._sessions.find(request)
        if session is None:
            raise SignInNeeded(f"{PREFIX}/stuck")
        return session

    async def _put_back(self, request: Request, session: Session, act: Awaitable[None], said: Said) -> Response:
        language = language_of(request, session)
        try:
            await act
        except RequeueRefused as refusal:
            return await self._page(request, session, Live(0), _refused(refusal.code, said, language))
        return await self._page(request, session, Live(0), _done(said, language))

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
            told=TOLD,
        )


def _number(request: Request) -> int:
    number = request.path_params["id"]
    if not NUMBER.fullmatch(number):
        raise PageRefused.absent()
    return int(number)


def _done(said: Said, language: Language) -> Notice:
    return Notice(200, "good", language.gettext(said.done), (language.gettext(said.then),))


def _refused(code: str, said: Said, language: Language) -> Notice:
    if code == "not_found":
        raise PageRefused.absent()
    sentences = (of_code(code),) if "othing was changed" in of_code(code) else (of_code(code), UNCHANGED)
    status = 403 if code == "operator_not_allowed" else 409
    return Notice(status, "warn", language.gettext(said.refused), tuple(map(language.gettext, sentences)))
