"""Every error the executor can give, in one tree.

    OncewardError
    ├── ResponseRefused        the model's response as a whole is unfit (incomplete, malformed, duplicate ids …)
    ├── CallRefused            one call was not allowed to start
    ├── CorrelationBroken      a set of results does not match its proposals
    ├── IllegalTransition      the lifecycle has no such step
    ├── IntentConflict         one key, two meanings
    ├── ClaimRefused           the right to make the effect was not granted
    │   ├── ClaimHeld          somebody else holds it now
    │   ├── StaleGeneration    it was ours and is no longer
    │   ├── LookFirst          an earlier send is uncertain; nothing may be sent before it is found out
    │   ├── ClearanceMissing   the gate has not let this pass lately
    │   ├── ApprovalMissing    no granted approval is bound to this very intent
    │   ├── Canceled           the caller has taken it back before anything was sent
    │   └── AlreadyEnded       the operation has its terminal result
    ├── EffectUncertain        the operation cannot end: what was sent may have happened
    ├── StoreUnavailable       our own database does not answer
    ├── Overloaded             there is too much to do at this moment; nothing was begun
    ├── DecisionRefused        an approver's decision did not count
    ├── ResolutionRefused      an operator's word did not count
    ├── RequeueRefused         what was set aside undelivered was not put back
    └── InvalidConfiguration   the process must not start

Codes are stable; `ERRORS` says of each which kind it is and what the caller may do next. Messages never carry a
received value, an internal name or a secret.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The three kinds of failure that ask for different behaviour."""

    NOT_STARTED = "not_started"
    """Not allowed to start: nothing was sent, nothing happened."""
    UNCONFIRMED = "unconfirmed"
    """Accepted, not confirmed: it may have happened or may yet."""
    REFUSED = "refused"
    """The business or a person said no; nothing happened."""


class NextAction(StrEnum):
    """What the caller may do next; the model is told this word and its sentence."""

    FIX_ARGUMENTS = "fix_arguments"
    ASK_USER = "ask_user"
    CHOOSE_OTHER_TOOL = "choose_other_tool"
    PROPOSE_AGAIN = "propose_again"
    WAIT_AND_QUERY = "wait_and_query"
    RETRY_LATER = "retry_later"
    DO_NOT_RETRY = "do_not_retry"


@dataclass(frozen=True)
class ErrorEntry:
    """One row of the catalogue."""

    kind: Kind
    next_action: NextAction
    meaning: str
    retryable: bool = False


_N, _U, _R = Kind.NOT_STARTED, Kind.UNCONFIRMED, Kind.REFUSED
_A = NextAction

ERRORS: dict[str, ErrorEntry] = {
    # ── the response as a whole ──
    "incomplete_response": ErrorEntry(
        _N, _A.PROPOSE_AGAIN, "The response was cut off before it was complete; nothing in it was run."
    ),
    "refused_response": ErrorEntry(_N, _A.DO_NOT_RETRY, "The model or the provider's filter refused; nothing was run."),
    "unknown_stop_signal": ErrorEntry(
        _N, _A.DO_NOT_RETRY, "The response ends in a way that this surface does not define."
    ),
    "malformed_envelope": ErrorEntry(_N, _A.DO_NOT_RETRY, "The response does not have the shape of this surface."),
    "missing_tool_calls": ErrorEntry(_N, _A.PROPOSE_AGAIN, "The response signals tool calls but holds none."),
    "malformed_tool_calls": ErrorEntry(_N, _A.PROPOSE_AGAIN, "The tool calls do not have the shape of this surface."),
    "missing_call_id": ErrorEntry(_N, _A.PROPOSE_AGAIN, "A tool call has no id."),
    "duplicate_call_id": ErrorEntry(_N, _A.PROPOSE_AGAIN, "Two tool calls share one id."),
    "unknown_block_type": ErrorEntry(
        _N, _A.DO_NOT_RETRY, "The response holds a block of unknown type that might be a call."
    ),
    "unsupported_call_type": ErrorEntry(
        _N, _A.CHOOSE_OTHER_TOOL, "The response holds a call of a kind that is not carried out here."
    ),
    "unknown_surface": ErrorEntry(_N, _A.DO_NOT_RETRY, "There is no such surface."),
    "unknown_search": ErrorEntry(_N, _A.DO_NOT_RETRY, "The surface has no tool search of this kind."),
    "invalid_search": ErrorEntry(_N, _A.FIX_ARGUMENTS, "The search for tools is not one that can be made."),
    "too_many_calls": ErrorEntry(_N, _A.PROPOSE_AGAIN, "The response holds more calls than one turn may have."),
    "id_too_long": ErrorEntry(_N, _A.DO_NOT_RETRY, "An id of the response or of a call is longer than any provider's."),
    "missing_request_id": ErrorEntry(_N, _A.DO_NOT_RETRY, "The response has no id of its own; hand in a request_id."),
    # ── one call, before anything starts ──
    "invalid_arguments_json": ErrorEntry(_N, _A.FIX_ARGUMENTS, "The arguments are not strict JSON."),
    "invalid_arguments": ErrorEntry(_N, _A.FIX_ARGUMENTS, "The arguments do not fit the tool's schema."),
    "invalid_tool_schema": ErrorEntry(
        _N, _A.CHOOSE_OTHER_TOOL, "The tool's schema cannot be held strictly, so the tool is not offered."
    ),
    "unknown_tool": ErrorEntry(_N, _A.CHOOSE_OTHER_TOOL, "There is no tool of this name."),
    "tool_not_allowed": ErrorEntry(_N, _A.CHOOSE_OTHER_TOOL, "This tool was not offered to this caller."),
    "tool_changed": ErrorEntry(_N, _A.PROPOSE_AGAIN, "The tool's contract changed since the call was made."),
    "correction_budget_spent": ErrorEntry(
        _N, _A.ASK_USER, "Several corrections have failed; ask the user what is meant."
    ),
    "permission_denied": ErrorEntry(_N, _A.DO_NOT_RETRY, "The caller may not do this."),
    "not_found": ErrorEntry(_N, _A.ASK_USER, "There is no such object for this caller."),
    "idempotency_conflict": ErrorEntry(
        _N, _A.PROPOSE_AGAIN, "This key already stands for another intent; register a new call."
    ),
    "earlier_write_not_done": ErrorEntry(
        _N, _A.PROPOSE_AGAIN, "An earlier write of the same turn has not succeeded; this one was not started."
    ),
    "hosted_call_not_allowed": ErrorEntry(
        _N, _A.DO_NOT_RETRY, "The provider ran a tool on a server that it was not offered."
    ),
    "hosted_call_not_approved": ErrorEntry(
        _N, _A.DO_NOT_RETRY, "The provider ran a tool on a server without the approval that it has to ask for."
    ),
    "tool_not_found_yet": ErrorEntry(
        _N, _A.CHOOSE_OTHER_TOOL, "This tool is offered to those only who have found it; use the tool search first."
    ),
    "earlier_call_open": ErrorEntry(
        _N,
        _A.WAIT_AND_QUERY,
        "An earlier call of the same turn has not ended; this one begins after it. Do not issue it again.",
        retryable=True,
    ),
    "call_budget_spent": ErrorEntry(
        _N, _A.ASK_USER, "This conversation has made as many calls as it may; tell the user what was found so far."
    ),
    "repeated_state": ErrorEntry(
        _N, _A.ASK_USER, "The same call has given the same answer again and again; ask the user how to go on."
    ),
    "overloaded": ErrorEntry(
        _N,
        _A.RETRY_LATER,
        "There is too much to do at this moment; nothing was begun. Hand the same in again a little later.",
        retryable=True,
    ),
    "upstream_unavailable": ErrorEntry(
        _N, _A.RETRY_LATER, "A service that is needed to check the call does not answer.", retryable=True
    ),
    # ── tools of MCP servers ──
    "mcp_invalid_params": ErrorEntry(
        _N, _A.FIX_ARGUMENTS, "The MCP server does not take these arguments; it has not carried out the call."
    ),
    "mcp_wire_error": ErrorEntry(
        _N, _A.CHOOSE_OTHER_TOOL, "The MCP server has refused the call or answered in no way that its protocol knows."
    ),
    "mcp_tool_error": ErrorEntry(_N, _A.ASK_USER, "The MCP server's tool says that it has failed."),
    "mcp_input_required": ErrorEntry(
        _N, _A.CHOOSE_OTHER_TOOL, "The MCP server's tool asks a question back; such questions are not answered here."
    ),
    # ── refused by the business or a person; each tool adds its own rules ──
    "amount_scale": ErrorEntry(_N, _A.FIX_ARGUMENTS, "The amount has more digits behind the point than its currency."),
    "unknown_currency": ErrorEntry(_N, _A.ASK_USER, "There is no such currency."),
    "downstream_rejected": ErrorEntry(_R, _A.ASK_USER, "The service refused; nothing happened."),
    "rate_limited": ErrorEntry(
        _R, _A.RETRY_LATER, "The service asked to come back later; nothing happened.", retryable=True
    ),
    "approval_denied": ErrorEntry(_R, _A.ASK_USER, "A person denied this operation."),
    "approval_expired": ErrorEntry(_R, _A.PROPOSE_AGAIN, "Nobody decided in time; nothing happened."),
    "approval_stale": ErrorEntry(
        _R, _A.PROPOSE_AGAIN, "What was approved is no longer what would run; nothing happened."
    ),
    # ── an approver's decision did not count ──
    "approval_already_decided": ErrorEntry(
        _R, _A.DO_NOT_RETRY, "This approval has already been decided; this decision changed nothing."
    ),
    "approver_not_allowed": ErrorEntry(
        _R, _A.DO_NOT_RETRY, "This person may not decide on this approval; nothing was decided."
    ),
    "vote_already_cast": ErrorEntry(
        _R, _A.DO_NOT_RETRY, "This person has already decided otherwise; the first word stands."
    ),
    "decision_reason_required": ErrorEntry(_N, _A.FIX_ARGUMENTS, "A denial needs a reason; nothing was decided."),
    "approval_consumed": ErrorEntry(_R, _A.PROPOSE_AGAIN, "The approval has been used; another act needs another one."),
    # ── an operator's word did not count ──
    "operator_not_allowed": ErrorEntry(
        _R, _A.DO_NOT_RETRY, "This person may not resolve this operation; nothing was changed."
    ),
    "resolution_not_open": ErrorEntry(
        _R, _A.DO_NOT_RETRY, "No operator is asked about this operation now; nothing was changed."
    ),
    "resolution_stale": ErrorEntry(
        _R, _A.DO_NOT_RETRY, "The operation has moved on since it was shown; look again. Nothing was changed."
    ),
    "resolution_already_given": ErrorEntry(
        _R, _A.DO_NOT_RETRY, "Another word on this operation counts already; this one changed nothing."
    ),
    "resolution_reference_taken": ErrorEntry(
        _R, _A.FIX_ARGUMENTS, "Another operation has this reference already; look again. Nothing was changed."
    ),
    "resolution_evidence_required": ErrorEntry(
        _N, _A.FIX_ARGUMENTS, "A resolution needs its evidence; nothing was changed."
    ),
    "resolution_reference_required": ErrorEntry(
        _N, _A.FIX_ARGUMENTS, "What happened has a reference at the downstream; nothing was changed."
    ),
    "resolution_reference_unclear": ErrorEntry(
        _N, _A.FIX_ARGUMENTS, "A reference has no characters that nobody can see; type it anew. Nothing was changed."
    ),
    "message_not_set_aside": ErrorEntry(
        _R, _A.DO_NOT_RETRY, "This message is delivered or on its way; nothing was changed."
    ),
    "batch_failed": ErrorEntry(_R, _A.ASK_USER, "Nothing of it was done; the items failed for different reasons."),
    # ── ends that come from outside ──
    "canceled": ErrorEntry(_R, _A.DO_NOT_RETRY, "It was cancelled before it happened; nothing happened."),
    "cancel_too_late": ErrorEntry(
        _R, _A.DO_NOT_RETRY, "It had ended before it was cancelled, and stays as it ended; this wish changed nothing."
    ),
    "cancel_pending": ErrorEntry(
        _U,
        _A.WAIT_AND_QUERY,
        "The wish is kept; whether it came in time is not known yet. Do not issue it again.",
        retryable=True,
    ),
    "outcome_abandoned": ErrorEntry(
        _U, _A.ASK_USER, "Nobody could find out whether it happened, and it may have. Do not issue it again."
    ),
    "repeated_act": ErrorEntry(
        _R, _A.ASK_USER, "The same act has just succeeded, or may have, and nobody may approve it again."
    ),
    # ── open: not the end ──
    "approval_required": ErrorEntry(
        _N, _A.WAIT_AND_QUERY, "A person must approve first. Do not issue it again.", retryable=True
    ),
    "operation_in_progress": ErrorEntry(
        _U, _A.WAIT_AND_QUERY, "It is being carried out. Do not issue it again.", retryable=True
    ),
    "reconciliation_pending": ErrorEntry(
        _U,
        _A.WAIT_AND_QUERY,
        "It may have happened; it is being checked. Do not assume that it did not. Do not issue it again.",
        retryable=True,
    ),
    # ── surprises ──
    "internal_error": ErrorEntry(_N, _A.RETRY_LATER, "The executor failed before anything started.", retryable=True),
}


OWN_CODES = tuple(ERRORS)
"""The executor's own codes, in their order; tools add theirs with `declare`."""


def refused(next_action: NextAction, meaning: str) -> ErrorEntry:
    """An entry for a tool's own rule: the business says no, and nothing happens."""
    return ErrorEntry(Kind.REFUSED, next_action, meaning)


def declare(rules: Mapping[str, ErrorEntry]) -> None:
    """Add a tool's own refusals to the catalogue; the same entry twice is fine.

    Raises:
        InvalidConfiguration: the code stands for something else already.
    """
    for code, entry in rules.items():
        if ERRORS.setdefault(code, entry) != entry:
            raise InvalidConfiguration(f"The error code {code} is declared twice with two meanings.")


def entry_of(code: str) -> ErrorEntry:
    """The catalogue's entry; a code that it does not know is told as an internal error."""
    return ERRORS.get(code, ERRORS["internal_error"])


@dataclass(frozen=True)
class Detail:
    """Where a call is at fault and what was expected there, never what was received.

    `path` is a JSON Pointer into the arguments, `code` a stable word, `expected` a short description.
    """

    path: str
    code: str
    expected: str


class OncewardError(Exception):
    """Root of the tree. `code` is stable and stands in `ERRORS` when a caller can see it."""

    code = "internal_error"

    def __init__(self, code: str | None = None, details: Iterable[Detail] = ()) -> None:
        self.code = code or type(self).code
        self.details = tuple(details)
        super().__init__(self.code)


class ResponseRefused(OncewardError):
    """The model's response as a whole is unfit; none of its calls is run."""


class CallRefused(OncewardError):
    """One call was not allowed to start; its siblings are not concerned."""


class CorrelationBroken(OncewardError):
    """Results and proposals are not the same set; nothing is serialised.

    `code` is one of missing_result, duplicate_result, extra_result, tool_name_mismatch, non_terminal_result.
    """


class IllegalTransition(OncewardError):
    """The lifecycle has no such step."""

    code = "illegal_transition"

    def __init__(self, current: str, following: str) -> None:
        super().__init__()
        self.current, self.following = current, following

    def __str__(self) -> str:
        return f"an operation cannot go from {self.current} to {self.following}"


class IntentConflict(OncewardError):
    """One key, two meanings: the stored operation is left as it is."""

    code = "idempotency_conflict"


class ClaimRefused(OncewardError):
    """The right to make the effect was not granted; nothing was sent."""


class ClaimHeld(ClaimRefused):
    """Somebody else holds the claim and their lease is live."""

    code = "operation_in_progress"


class StaleGeneration(ClaimRefused):
    """The claim was ours and has been taken over; whoever sees this stops at once."""

    code = "stale_generation"


class LookFirst(ClaimRefused):
    """An earlier send is uncertain; before it is found out nothing may be sent."""

    code = "reconciliation_pending"


class ClearanceMissing(ClaimRefused):
    """The gate has not let this operation pass lately; it must look (again) first."""

    code = "clearance_missing"


class ApprovalMissing(ClaimRefused):
    """An approval is needed and no granted one is bound to this very intent, resource and policy."""

    code = "approval_stale"


class Canceled(ClaimRefused):
    """The caller has taken the operation back before anything was sent."""

    code = "canceled"


class AlreadyEnded(ClaimRefused):
    """The operation has its terminal result, or its effect is recorded."""

    code = "already_ended"


class EffectUncertain(OncewardError):
    """The operation cannot end with a refusal: something was sent, and it may have happened."""

    code = "reconciliation_pending"


class StoreUnavailable(OncewardError):
    """Our own database does not answer, or not in time; what was begun is rolled back."""

    code = "upstream_unavailable"


class Overloaded(OncewardError):
    """There is no place for another turn now; nothing was begun. `retry_after` is whole seconds until it may be."""

    code = "overloaded"

    def __init__(self, retry_after: int) -> None:
        super().__init__()
        self.retry_after = retry_after


class DecisionRefused(OncewardError):
    """An approver's decision did not count; `code` says why (approval_stale, approval_already_decided …)."""


class ResolutionRefused(OncewardError):
    """An operator's word did not count; `code` says why (resolution_stale, operator_not_allowed …)."""


class RequeueRefused(OncewardError):
    """What was set aside undelivered was not put back; `code` says why (message_not_set_aside, operator_not_allowed)."""


class InvalidConfiguration(OncewardError):
    """The process must not start; the message says which setting and what was expected.

    `code` is invalid_configuration, or invalid_tool_schema when a tool's schema from outside is at fault.
    """

    code = "invalid_configuration"

    def __init__(self, sentence: str, code: str | None = None) -> None:
        super().__init__(code)
        self.sentence = sentence

    def __str__(self) -> str:
        return self.sentence
