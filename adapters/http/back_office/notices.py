"""What a person is told about their own click."""

from dataclasses import dataclass
from datetime import datetime

from adapters.http.back_office import words
from adapters.http.back_office.figures import moment
from adapters.http.back_office.ports import ApprovalSheet, DecisionOutcome, Vote
from workflows.domain.approval import ApprovalState, Choice
from workflows.domain.principal import Principal

UNCHANGED = "Nothing was changed by your click."

VERBS = {Choice.APPROVE: "approved", Choice.DENY: "denied"}
NOUNS = {Choice.APPROVE: "approval", Choice.DENY: "denial"}


@dataclass(frozen=True)
class Notice:
    """The banner on top of the page: `tone` is good, bad or warn."""

    status: int
    tone: str
    heading: str
    sentences: tuple[str, ...]


def counted(outcome: DecisionOutcome) -> Notice:
    """Tell somebody that their decision counted."""
    if outcome.repeated:
        return _repeated(outcome)
    return Notice(200, "good", f"Your {NOUNS[outcome.vote.choice]} counted", (_consequence(outcome),))


def refused(code: str, sheet: ApprovalSheet, viewer: Principal) -> Notice:
    """Tell somebody why their decision did not count; `sheet` is the approval as it is now."""
    match code:
        case "approval_already_decided":
            return Notice(409, "warn", "Already decided", (ending(sheet), UNCHANGED))
        case "approval_expired":
            late = f"The time to decide ended on {moment(sheet.approval.expires_at)}. Nothing was sent."
            return Notice(409, "warn", "Too late to decide", (late, UNCHANGED))
        case "approval_stale":
            return Notice(409, "warn", "This page was out of date", (*_stale(sheet), UNCHANGED))
        case "approver_not_allowed":
            return Notice(403, "bad", "You may not decide on this", (bar(sheet, viewer), UNCHANGED))
        case "vote_already_cast":
            return Notice(409, "warn", "You have already decided", (_own_word(sheet, viewer), UNCHANGED))
        case "decision_reason_required":
            ask = "Say why you deny, so that the person who asked can act on it. Nothing has been decided yet."
            return Notice(422, "warn", "A denial needs a reason", (ask,))
    return Notice(409, "warn", "Your decision did not count", (words.of_code(code), UNCHANGED))


def bar(sheet: ApprovalSheet, viewer: Principal) -> str:
    """Why this person may not decide."""
    if viewer.subject == sheet.requester.subject:
        return "You asked for it yourself, so somebody else must decide."
    return f"Only people with the role {sheet.approval.approver_role} decide on this."


def ending(sheet: ApprovalSheet) -> str:
    """Who ended it and when, as far as the votes tell; of a void one, why no vote counts any more."""
    last = _ending_vote(sheet)
    if last is None or sheet.approval.state is ApprovalState.VOID:
        return words.APPROVALS[sheet.approval.state].sentence
    return f"{VERBS[last.choice].capitalize()} by {signature(last)} on {moment(last.at)}."


def signature(vote: Vote) -> str:
    """The voter as shown: "Refund approver (approver-1)"."""
    return f"{vote.approver_name} ({vote.approver})" if vote.approver_name else vote.approver


def standing_vote(sheet: ApprovalSheet, viewer: Principal) -> Vote | None:
    """This person's vote on this revision."""
    return next((vote for vote in sheet.votes if vote.approver == viewer.subject), None)


def takes_votes(sheet: ApprovalSheet, now: datetime) -> bool:
    """Whether a decision can still count."""
    return sheet.approval.state is ApprovalState.PENDING and sheet.approval.expires_at > now


def _ending_vote(sheet: ApprovalSheet) -> Vote | None:
    denial = next((vote for vote in sheet.votes if vote.choice is Choice.DENY), None)
    return denial or (sheet.votes[-1] if sheet.votes else None)


def _consequence(outcome: DecisionOutcome) -> str:
    if outcome.vote.choice is Choice.DENY:
        return "It is denied. Nothing was sent, and nothing will be."
    if outcome.state is ApprovalState.PENDING:
        missing = outcome.quorum - outcome.approvals
        others = "one more person has" if missing == 1 else f"{missing} more people have"
        return f"{outcome.approvals} of {outcome.quorum} approvals. It goes on when {others} approved."
    return "It is approved and goes on now."


def _repeated(outcome: DecisionOutcome) -> Notice:
    vote = outcome.vote
    said = f"You {VERBS[vote.choice]} it on {moment(vote.at)}, and that stands."
    return Notice(200, "good", f"Your {NOUNS[vote.choice]} had already counted", (said, UNCHANGED))


def _stale(sheet: ApprovalSheet) -> tuple[str, ...]:
    if sheet.approval.state is not ApprovalState.PENDING:
        return (words.APPROVALS[sheet.approval.state].sentence,)
    return ("What it asks about has changed since you opened it.", "Read the current content below, then decide.")


def _own_word(sheet: ApprovalSheet, viewer: Principal) -> str:
    vote = standing_vote(sheet, viewer)
    return f"You {VERBS[vote.choice]} it on {moment(vote.at)}." if vote else "Your first word stands."
