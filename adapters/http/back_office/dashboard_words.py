"""What the page of invariants calls what it shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from adapters.http.back_office.dashboard_ports import End, Span
from adapters.http.back_office.languages import N_
from workflows.domain.approval import Choice


@dataclass(frozen=True)
class Promise:
    """An invariant in words: its name, and what it promises."""

    name: str
    sentence: str


INVARIANTS: Final[Mapping[str, Promise]] = {
    "effects_per_operation_and_item": Promise(
        N_("One effect"), N_("An operation, or an item of a batch, has its effect on record once at most.")
    ),
    "operations_per_receipt": Promise(
        N_("One operation per receipt"), N_("No two operations call the same receipt of a downstream their own.")
    ),
    "terminal_results_per_operation": Promise(
        N_("One result"), N_("Every operation that has ended was given exactly one result.")
    ),
    "intent_hashes_per_key": Promise(
        N_("One meaning per key"),
        N_("What was registered, approved and claimed under one idempotency key means the same."),
    ),
    "approvals_consumed_per_operation": Promise(
        N_("One approval used"), N_("An operation uses up one approval at most.")
    ),
    "handler_calls_after_refusal": Promise(
        N_("Nothing after a refusal"), N_("No tool is called once the gate has refused or the operation has ended.")
    ),
    "open_approvals_after_the_end": Promise(
        N_("No question left open"), N_("Nobody can still answer a question about an operation that has ended.")
    ),
    "live_claims_after_the_end": Promise(
        N_("No claim left live"), N_("Nothing can still be sent for an operation that has ended.")
    ),
    "uncertain_claims_after_the_end": Promise(
        N_("No doubt left behind"),
        N_("No operation ends while something that was sent for it may or may not have happened."),
    ),
    "ends_against_the_claim": Promise(
        N_("Told as it happened"), N_("What is told as done has an effect on record; what is told as failed has none.")
    ),
    "ends_without_ground": Promise(
        N_("Ended for a reason"), N_("Every end rests on the gate's judgement or on a person's word.")
    ),
    "approvals_without_their_votes": Promise(
        N_("Approved by enough people"), N_("An approval counts only once as many people as it asks for have said yes.")
    ),
    "half_ended_operations": Promise(
        N_("Ended or open"), N_("An operation has ended with its time on record, or it is open.")
    ),
    "effects_out_of_turn": Promise(
        N_("In their order"), N_("No write is made before those that come before it in its turn have succeeded.")
    ),
    "hosted_calls_not_allowed": Promise(
        N_("Providers run what is allowed"),
        N_("In the last seven days a provider has run nothing itself that was not allowed here first."),
    ),
}

SPANS: Final[Mapping[Span, str]] = {Span.DAY: N_("Last 24 hours"), Span.WEEK: N_("Last 7 days")}

QUEUES: Final[Mapping[str, str]] = {
    "pending": N_("Questions to people"),
    "overdue": N_("Questions past their deadline"),
    "due": N_("Messages that are late"),
    "failing": N_("Messages tried again"),
    "set_aside": N_("Messages set aside"),
    "not_taken": N_("Notices not taken yet"),
    "given_up": N_("Notices given up"),
}
"""What waits beside operations, by its name in `UnderWay`."""

CHOICES: Final[Mapping[Choice, tuple[str, str]]] = {
    Choice.APPROVE: ("good", N_("Approved")),
    Choice.DENY: ("bad", N_("Denied")),
}

ENDS: Final[Mapping[End, tuple[str, str]]] = {
    End.SUCCEEDED: ("good", N_("Done")),
    End.FAILED_RETRYABLE: ("busy", N_("Did not happen yet")),
    End.FAILED_TERMINAL: ("quiet", N_("Did not happen")),
    End.GIVEN_UP: ("bad", N_("Outcome unknown")),
}
"""The tone and the name of each end."""

AGES: Final = (
    N_("under 1 min"),
    N_("1–10 min"),
    N_("10–60 min"),
    N_("1–6 h"),
    N_("6–24 h"),
    N_("1–7 days"),
    N_("over 7 days"),
)

TIMES_TO_DECIDE: Final = (
    N_("under 1 min"),
    N_("1–5 min"),
    N_("5–15 min"),
    N_("15–60 min"),
    N_("1–4 h"),
    N_("4–24 h"),
    N_("over a day"),
)
"""What the places among the bounds of the port are called."""
