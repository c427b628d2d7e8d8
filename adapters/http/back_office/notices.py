"""What a person is told about their own click, in their language."""

from dataclasses import dataclass
from datetime import datetime

from adapters.http.back_office import words
from adapters.http.back_office.figures import moment
from adapters.http.back_office.languages import N_, Language
from adapters.http.back_office.ports import ApprovalSheet, DecisionOutcome
from adapters.http.back_office.revisions import Vote
from workflows.domain.approval import ApprovalState, Choice
from workflows.domain.principal import Principal

UNCHANGED = N_("Nothing was changed by your click.")

# Whole sentences for each choice: another language inflects more of them than one word.
VOTES = {Choice.APPROVE: N_("Approved"), Choice.DENY: N_("Denied")}
SIGNED = {
    Choice.APPROVE: N_("Approved by %(who)s on %(when)s."),
    Choice.DENY: N_("Denied by %(who)s on %(when)s."),
}
COUNTED = {Choice.APPROVE: N_("Your approval counted"), Choice.DENY: N_("Your denial counted")}
COUNTED_BEFORE = {
    Choice.APPROVE: N_("Your approval had already counted"),
    Choice.DENY: N_("Your denial had already counted"),
}
OWN_WORD = {
    Choice.APPROVE: N_("You approved it on %(when)s."),
    Choice.DENY: N_("You denied it on %(when)s."),
}
STANDING_WORD = {
    Choice.APPROVE: N_("You approved it on %(when)s, and that stands."),
    Choice.DENY: N_("You denied it on %(when)s, and that stands."),
}
WAITING_WORD = {
    Choice.APPROVE: N_("You approved this on %(when)s. It waits for others."),
    Choice.DENY: N_("You denied this on %(when)s. It waits for others."),
}


@dataclass(frozen=True)
class Notice:
    """The banner on top of the page: `tone` is good, bad or warn."""

    status: int
    tone: str
    heading: str
    sentences: tuple[str, ...]


def counted(outcome: DecisionOutcome, language: Language) -> Notice:
    """Tell somebody that their decision counted."""
    if outcome.repeated:
        return _repeated(outcome, language)
    heading = language.gettext(COUNTED[outcome.vote.choice])
    return Notice(200, "good", heading, (_consequence(outcome, language),))


def refused(code: str, sheet: ApprovalSheet, viewer: Principal, language: Language) -> Notice:
    """Tell somebody why their decision did not count; `sheet` is the approval as it is now."""
    gettext = language.gettext
    unchanged = gettext(UNCHANGED)
    match code:
        case "approval_already_decided":
            return Notice(409, "warn", gettext("Already decided"), (ending(sheet, language), unchanged))
        case "approval_expired":
            return Notice(409, "warn", gettext("Too late to decide"), (_late(sheet, language), unchanged))
        case "approval_stale":
            return Notice(409, "warn", gettext("This page was out of date"), (*_stale(sheet, language), unchanged))
        case "approver_not_allowed":
            return Notice(403, "bad", gettext("You may not decide on this"), (bar(sheet, viewer, language), unchanged))
        case "vote_already_cast":
            sentence = _own_word(sheet, viewer, language)
            return Notice(409, "warn", gettext("You have already decided"), (sentence, unchanged))
        case "decision_reason_required":
            ask = gettext("Say why you deny, so that the person who asked can act on it. Nothing has been decided yet.")
            return Notice(422, "warn", gettext("A denial needs a reason"), (ask,))
    return Notice(409, "warn", gettext("Your decision did not count"), (gettext(words.of_code(code)), unchanged))


def bar(sheet: ApprovalSheet, viewer: Principal, language: Language) -> str:
    """Why this person may not decide."""
    if viewer.subject == sheet.requester.subject:
        return language.gettext("You asked for it yourself, so somebody else must decide.")
    only = language.gettext("Only people with the role %(role)s decide on this.")
    return only % {"role": sheet.approval.approver_role}


def ending(sheet: ApprovalSheet, language: Language) -> str:
    """Who ended it and when, as far as the votes tell; of a void one, why no vote counts any more."""
    last = sheet.ending_vote
    if last is None:
        return language.gettext(words.APPROVALS[sheet.approval.state].sentence)
    return language.gettext(SIGNED[last.choice]) % {"who": signature(last), "when": moment(last.at, language)}


def signature(vote: Vote) -> str:
    """The voter as shown: "Refund approver (approver-1)"."""
    return f"{vote.approver_name} ({vote.approver})" if vote.approver_name else vote.approver


def takes_votes(sheet: ApprovalSheet, now: datetime) -> bool:
    """Whether a decision can still count."""
    return sheet.approval.state is ApprovalState.PENDING and sheet.approval.expires_at > now


def _late(sheet: ApprovalSheet, language: Language) -> str:
    late = language.gettext("The time to decide ended on %(when)s. Nothing was sent.")
    return late % {"when": moment(sheet.approval.expires_at, language)}


def _consequence(outcome: DecisionOutcome, language: Language) -> str:
    if outcome.vote.choice is Choice.DENY:
        return language.gettext("It is denied. Nothing was sent, and nothing will be.")
    if outcome.state is ApprovalState.PENDING:
        missing = outcome.quorum - outcome.approvals
        waits = language.ngettext(
            "%(approvals)d of %(quorum)d approvals. It goes on when one more person has approved.",
            "%(approvals)d of %(quorum)d approvals. It goes on when %(num)d more people have approved.",
            missing,
        )
        return waits % {"approvals": outcome.approvals, "quorum": outcome.quorum, "num": missing}
    return language.gettext("It is approved. Everything is checked once more before it is done.")


def _repeated(outcome: DecisionOutcome, language: Language) -> Notice:
    vote = outcome.vote
    said = language.gettext(STANDING_WORD[vote.choice]) % {"when": moment(vote.at, language)}
    heading = language.gettext(COUNTED_BEFORE[vote.choice])
    return Notice(200, "good", heading, (said, language.gettext(UNCHANGED)))


def _stale(sheet: ApprovalSheet, language: Language) -> tuple[str, ...]:
    if sheet.approval.state is not ApprovalState.PENDING:
        return (language.gettext(words.APPROVALS[sheet.approval.state].sentence),)
    return (
        language.gettext("What it asks about has changed since you opened it."),
        language.gettext("Read the current content below, then decide."),
    )


def _own_word(sheet: ApprovalSheet, viewer: Principal, language: Language) -> str:
    vote = sheet.vote_of(viewer.subject)
    if vote is None:
        return language.gettext("Your first word stands.")
    return language.gettext(OWN_WORD[vote.choice]) % {"when": moment(vote.at, language)}
