"""States and verdicts in people's words."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from adapters.http.back_office.figures import number
from adapters.http.back_office.languages import N_, Language
from adapters.http.back_office.lists import OperationLine
from adapters.http.back_office.ports import ItemLine, OperationSheet, TimelineEntry
from workflows.domain.approval import ApprovalState
from workflows.domain.effect import ABANDONED, Outcome
from workflows.domain.errors import ERRORS
from workflows.domain.gate import Layer, Verdict
from workflows.domain.lifecycle import ENDS, State


@dataclass(frozen=True)
class Standing:
    """`tone` colours the chip: good, bad, wait, busy or quiet. `chip` is the short word, `sentence` the long one."""

    tone: str
    chip: str
    sentence: str


OPERATIONS = {
    State.PROPOSED: Standing(
        "busy", N_("Accepted"), N_("Accepted and about to be checked once more. Nothing has been sent.")
    ),
    State.AWAITING_APPROVAL: Standing(
        "wait", N_("Waits for approval"), N_("A person must decide. Nothing has been sent.")
    ),
    State.STARTED: Standing(
        "busy", N_("Being carried out"), N_("It is being carried out now. It may already have happened.")
    ),
    State.UNCONFIRMED: Standing(
        "wait", N_("Not confirmed"), N_("It was sent and no answer came. It is being looked up; it may have happened.")
    ),
    State.MANUAL_REVIEW: Standing(
        "bad", N_("Needs an operator"), N_("Nobody can say yet whether it happened. An operator must find out.")
    ),
    State.SUCCEEDED: Standing("good", N_("Done"), N_("It is done, once. What that rests on is below.")),
    State.FAILED_TERMINAL: Standing(
        "quiet", N_("Did not happen"), N_("It ended without any effect and will not be tried again.")
    ),
    State.FAILED_RETRYABLE: Standing(
        "quiet", N_("Did not happen yet"), N_("It had no effect. The same operation may be taken up again.")
    ),
}

GIVEN_UP = Standing(
    "bad", N_("Outcome unknown"), N_("Nobody could find out whether it happened. It may have; nothing more is sent.")
)
"""What is said of an operation that an operator has abandoned, whatever its state is called."""

READS = {
    State.STARTED: Standing("busy", N_("Being read"), N_("It is being read now. Nothing is changed.")),
    State.SUCCEEDED: Standing("good", N_("Done"), N_("It was read. Nothing was changed.")),
}
"""What is said of a read instead: it has no effect that could have happened."""

APPROVALS = {
    ApprovalState.PENDING: Standing("wait", N_("Waits for a decision"), N_("Nobody has ended it yet.")),
    ApprovalState.GRANTED: Standing("good", N_("Approved"), N_("It has been approved.")),
    ApprovalState.DENIED: Standing("bad", N_("Denied"), N_("It has been denied. Nothing was sent.")),
    ApprovalState.EXPIRED: Standing("quiet", N_("Expired"), N_("Nobody decided in time. Nothing was sent.")),
    ApprovalState.VOID: Standing("quiet", N_("Void"), N_("What it asked about has changed since; nothing was sent.")),
    ApprovalState.CONSUMED: Standing(
        "good", N_("Approved and used"), N_("It was approved, and the approval has been used.")
    ),
}

LAYERS = {
    Layer.PARSE: N_("Readable as a call"),
    Layer.EXPOSURE: N_("Offered to this caller"),
    Layer.SCHEMA: N_("Fits the tool's schema"),
    Layer.BUSINESS: N_("Fits the business rules"),
    Layer.AUTHORIZATION: N_("Caller may do this"),
    Layer.RISK: N_("Risk"),
    Layer.APPROVAL: N_("Approval"),
}

EVENTS = {
    "proposed": N_("Proposed"),
    "cancel.wanted": N_("The caller wants it to stop"),
    "resolution.happened": N_("An operator says: it happened"),
    "resolution.did_not_happen": N_("An operator says: it did not happen"),
    "resolution.abandoned": N_("An operator has given up finding out"),
    "outbox.requeued": N_("An operator has put a message back that could not be delivered"),
    "content.pruned": N_("Operations that ended long ago have given up their content"),
    "notice.retold": N_("A receiver outside is told after all of what had been set aside"),
    "proposed.again": N_("Proposed again while open: answered with this operation"),
    "hosted.ran": N_("Run by the model's provider, as allowed here"),
    "approval.asked": N_("People are asked"),
    "awaiting_approval": N_("Waits for a decision"),
    "decision.approve": N_("Approved"),
    "decision.deny": N_("Denied"),
    "approval.expired": N_("The time to decide has passed"),
    "approval.void": N_("The approval no longer counts: what it asked about has changed"),
    "approval.consumed": N_("The approval is used up"),
    "started": N_("Begun"),
    "claim.acquired": N_("Right to make the effect taken"),
    "effect.applied": N_("On record as done"),
    "effect.rejected": N_("The downstream refused"),
    "effect.unknown": N_("No certain answer from the downstream"),
    "unconfirmed": N_("Being looked up"),
    "manual_review": N_("Handed to an operator"),
    "succeeded": N_("Done"),
    "failed_terminal": N_("Ended"),
    "failed_retryable": N_("Ended for now"),
    "proposal.refused": N_("Refused before it became an operation"),
    "gate.cleared": N_("Let pass by every check"),
    "gate.refused": N_("Refused by a check"),
    "decision.again": N_("Decided again, with the same word: the first one counts"),
    "decision.refused": N_("Tried to decide: it did not count"),
    "resolution.again": N_("An operator says the same again"),
    "resolution.refused": N_("Tried to say what became of it: it did not count"),
    "cancel.again": N_("The caller wants it to stop, again"),
    "cancel.late": N_("The caller wanted it to stop after it had ended"),
    "cancel.refused": N_("Tried to stop what is not there, or not theirs"),
    "requeue.refused": N_("Tried to put a message back: it did not count"),
    "retell.refused": N_("Tried to have a receiver told after all: it did not count"),
    "form.refused": N_("Sent a form that was not accepted"),
    "session.begun": N_("Signed in to the back office"),
    "session.ended": N_("Signed out of the back office"),
    "session.refused": N_("Tried to sign in to the back office and was sent away"),
}
"""What the timeline's entries are called; one that is not named here is shown by its code."""

REASONS = {
    "lookup_failed": N_("The downstream could not be asked."),
    "downstream_pending": N_("The downstream has taken it and not finished."),
    "downstream_key_expired": N_("It was not found, and the key is forgotten there: a second send could double it."),
    "absence_not_proven": N_("It was not found, and nothing protects a second send."),
    "effect_mismatch": N_("What is found under our key is not what was asked for."),
}
"""Why an operator is asked."""


PARTLY = Standing("wait", N_("Partly done"), N_("Some of it is done and some is not; the items tell which."))
"""What is said of a batch that has ended with items undone, whatever its state is called."""


def of_sheet(sheet: OperationSheet) -> Standing:
    """Say where an operation stands, as its own page can: it knows the items of a batch too."""
    if sheet.line.state is State.SUCCEEDED and any(line.outcome != Outcome.APPLIED.value for line in sheet.items):
        return PARTLY
    return of_operation(sheet.line)


def of_operation(line: OperationLine) -> Standing:
    """Say where an operation stands."""
    if line.code == ABANDONED:
        return GIVEN_UP
    return OPERATIONS[line.state] if line.writes else READS.get(line.state, OPERATIONS[line.state])


def may_get_receipt(line: OperationLine) -> bool:
    """Whether a receipt may still come; what has ended without effect has none."""
    return line.state not in (State.FAILED_TERMINAL, State.FAILED_RETRYABLE)


def of_items(items: Sequence[ItemLine], total: int, language: Language) -> str:
    """Say how far a batch has come: "37 of 40 done, 1 refused, 2 not confirmed"."""
    done = sum(line.outcome == Outcome.APPLIED.value for line in items)
    refused = sum(line.outcome == Outcome.REJECTED.value for line in items)
    uncertain = sum(line.uncertain for line in items)
    count = partial(number, language=language)
    parts = [language.gettext("%(done)s of %(total)s done") % {"done": count(done), "total": count(total)}]
    if refused:
        parts.append(language.gettext("%(number)s refused") % {"number": count(refused)})
    if uncertain:
        parts.append(language.gettext("%(number)s not confirmed") % {"number": count(uncertain)})
    return ", ".join(parts)


def of_item(line: ItemLine) -> str:
    """Say what became of one item of a batch that is not done."""
    if line.outcome == Outcome.REJECTED.value:
        return of_code(line.code) or line.code
    if line.outcome:
        return GIVEN_UP.sentence
    return N_("Sent, and not confirmed.") if line.uncertain else N_("Not sent yet.")


def of_review(timeline: Sequence[TimelineEntry]) -> str:
    """Say why an operator is asked, as the newest entry about it tells; empty when nobody is."""
    asked = [entry.detail.removeprefix("why ") for entry in timeline if entry.what == State.MANUAL_REVIEW.value]
    return REASONS.get(asked[-1], asked[-1]) if asked else ""


def of_event(what: str) -> str:
    """Say what happened."""
    return EVENTS.get(what, what)


@dataclass(frozen=True)
class VerdictWords:
    """One layer of the gate: its question, and the answer with what it means."""

    question: str
    standing: Standing


def of_verdict(verdict: Verdict) -> VerdictWords:
    """Say what a layer of the gate decided."""
    if verdict.passed:
        return VerdictWords(LAYERS[verdict.layer], Standing("good", N_("Passed"), ""))
    if verdict.code == "approval_required":
        return VerdictWords(
            LAYERS[verdict.layer], Standing("wait", N_("Ask a person"), N_("A person must approve first."))
        )
    return VerdictWords(LAYERS[verdict.layer], Standing("bad", N_("Refused"), of_code(verdict.code or "")))


def of_code(code: str) -> str:
    """The catalogue's sentence for a code, empty when it has none."""
    return ERRORS[code].meaning if code in ERRORS else ""


def of_ending(state: State, code: str | None) -> str:
    """Why an operation ended as it did. While it is open, the catalogue speaks to the agent, not to people."""
    return of_code(code) if code and state in ENDS else ""
