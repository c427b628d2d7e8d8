"""The one form on which an operator says what became of an uncertain effect."""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from adapters.http.back_office.approvals import identifier
from adapters.http.back_office.forms import trusted_form
from adapters.http.back_office.languages import N_, Language, language_of
from adapters.http.back_office.notices import UNCHANGED, Notice
from adapters.http.back_office.operations import OperationPages
from adapters.http.back_office.ports import BackOfficeStore
from adapters.http.back_office.refusal import PageRefused
from adapters.http.back_office.session import Sessions, SignInNeeded
from adapters.http.back_office.settings import PREFIX
from adapters.http.back_office.words import of_code
from workflows.domain.errors import ResolutionRefused
from workflows.domain.resolution import Finding, Resolution

LONGEST_EVIDENCE = 4000
LONGEST_REFERENCE = 200
"""Characters."""

MOST_GENERATIONS = 2**31 - 1
"""What the store's column can hold."""

CONSEQUENCES = {
    Finding.HAPPENED: N_("It is recorded as done, under the reference that you gave."),
    Finding.DID_NOT_HAPPEN: N_(
        "Once the downstream has been asked and knows nothing of it, it goes through every check again and is sent "
        "once more."
    ),
    Finding.ABANDONED: N_("It ends without an outcome. Nothing more is sent."),
}

FAULTY_FIELDS = {
    "resolution_evidence_required",
    "resolution_reference_required",
    "resolution_reference_unclear",
    "resolution_reference_taken",
}
"""Refusals after which the same form may be sent again with more on it."""


class ResolutionPages:
    """The route that takes an operator's word."""

    def __init__(self, store: BackOfficeStore, operations: OperationPages, sessions: Sessions, origin: str) -> None:
        self._store, self._operations, self._sessions, self._origin = store, operations, sessions, origin

    async def resolve(self, request: Request) -> Response:
        """Keep the word and show the operation with what came of it."""
        operation_id, session = identifier(request), self._sessions.find(request)
        if session is None:
            # Their word is not kept over a sign-in: they come back to the page and read it again.
            raise SignInNeeded(f"{PREFIX}/operations/{operation_id}")
        form = await trusted_form(request, session, self._origin)
        word, language = _word(form), language_of(request, session)
        try:
            await self._store.resolve(session.viewer, operation_id, word)
        except ResolutionRefused as refusal:
            return await self._operations.page(request, session, operation_id, _refused(refusal.code, language), form)
        notice = Notice(
            200, "good", language.gettext("Your word counts"), (language.gettext(CONSEQUENCES[word.finding]),)
        )
        return await self._operations.page(request, session, operation_id, notice)


def _refused(code: str, language: Language) -> Notice:
    if code == "not_found":
        raise PageRefused.absent()
    status = {"operator_not_allowed": 403, **dict.fromkeys(FAULTY_FIELDS, 422)}.get(code, 409)
    sentences = (of_code(code),) if "othing was changed" in of_code(code) else (of_code(code), UNCHANGED)
    return Notice(status, "warn", language.gettext("Your word did not count"), tuple(map(language.gettext, sentences)))


def _word(form: Mapping[str, str]) -> Resolution:
    evidence, reference = form.get("evidence", "").strip(), form.get("reference", "").strip()
    try:
        finding, generation = Finding(form.get("finding", "")), int(form.get("generation", ""))
    except ValueError as error:
        raise PageRefused.odd_form() from error
    fits = len(evidence) <= LONGEST_EVIDENCE and len(reference) <= LONGEST_REFERENCE
    if not fits or not 0 < generation <= MOST_GENERATIONS or "\0" in "".join(form.values()):
        raise PageRefused.odd_form()
    named = reference if finding is Finding.HAPPENED else ""
    return Resolution(finding, evidence, named, generation, form.get("item", ""))
