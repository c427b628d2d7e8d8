"""The lives whose histories each release stores: one for each way through the workflow."""

from collections.abc import Callable

from tests.workflows.script import DONE, GO, UNCERTAIN, WAIT, Script, broken
from tests.workflows.turns import Script as TurnScript
from tests.workflows.turns import refs, turn
from workflows.messages import Ending, Followed, Judgement, Report, Step, TurnRef

LOOK = Report(Step.RECONCILE, "reconciliation_pending", pause_seconds=30.0)
REVIEW = Report(Step.RECONCILE, "reconciliation_pending", pause_seconds=3600.0, needs_person=True)
AGAIN = Report(Step.SEND_AGAIN, "rate_limited", pause_seconds=5.0)
ABSENT = Report(Step.SEND_AGAIN, "proven_absent", generation=2)
SOME = Report(Step.SEND_AGAIN, "batch_goes_on", progress="40 of 100 items sent")
MORE = Report(Step.RECONCILE, progress="70 of 100 items sent")
ALL = Report(Step.SETTLE, progress="100 of 100 items sent")

LIVES: dict[str, Callable[[], Script]] = {
    "unasked": lambda: Script(validate=[GO], apply=[DONE]),
    "refused": lambda: Script(validate=[Judgement(Step.SETTLE, "not_found")], apply=[DONE]),
    "approved": lambda: Script(validate=[WAIT, GO], apply=[DONE]),
    "expired": lambda: Script(validate=[WAIT, WAIT, Judgement(Step.SETTLE, "approval_expired")], apply=[DONE]),
    "lost-reply": lambda: Script(validate=[GO], apply=[UNCERTAIN], reconcile=[LOOK, LOOK, DONE]),
    "dead-worker": lambda: Script(validate=[GO], apply=[broken()], reconcile=[broken(), LOOK, DONE]),
    "rate-limited": lambda: Script(validate=[GO], apply=[AGAIN, AGAIN, DONE]),
    "cleared-too-long-ago": lambda: Script(validate=[GO, GO], apply=[Report(Step.VALIDATE), DONE]),
    "no-end-yet": lambda: Script(
        validate=[Judgement(Step.SETTLE, "approval_stale")],
        reconcile=[LOOK, DONE],
        settle=[Ending("unconfirmed", "reconciliation_pending"), Ending("succeeded")],
    ),
    "manual-review": lambda: Script(validate=[GO], apply=[UNCERTAIN], reconcile=[LOOK, REVIEW, REVIEW, DONE]),
    "approved-by-nudge": lambda: Script(validate=[WAIT, GO], apply=[DONE]),
    "canceled-while-waiting": lambda: Script(validate=[WAIT, Judgement(Step.SETTLE, "canceled")], apply=[DONE]),
    "canceled-at-the-claim": lambda: Script(validate=[GO], apply=[Report(Step.SETTLE, "canceled")]),
    "proven-absent": lambda: Script(validate=[GO], apply=[UNCERTAIN, DONE], reconcile=[LOOK, ABSENT]),
    "sent-again-on-an-operators-word": lambda: Script(
        validate=[WAIT, GO], apply=[UNCERTAIN, DONE], reconcile=[LOOK, REVIEW, ABSENT]
    ),
    "given-up-by-an-operator": lambda: Script(
        validate=[GO],
        apply=[UNCERTAIN],
        reconcile=[REVIEW, DONE],
        settle=[Ending("failed_terminal", "outcome_abandoned")],
    ),
    "batch": lambda: Script(
        validate=[WAIT, GO],
        apply=[SOME, MORE, ALL],
        reconcile=[LOOK, Report(Step.SEND_AGAIN, "batch_goes_on")],
    ),
}

Life = tuple[Callable[[], TurnScript], Callable[[], TurnRef]]

TURNS: dict[str, Life] = {
    "turn-of-writes": (TurnScript, lambda: turn(writes=refs("a", "b"))),
    "turn-with-reads": (TurnScript, lambda: turn(refs("r", "s"), refs("a"))),
    "turn-one-by-one": (lambda: TurnScript(refused=["r"]), lambda: turn(refs("r", "s"), refs("a"), one_by_one=True)),
    "turn-after-a-refusal": (lambda: TurnScript(refused=["a", "b"]), lambda: turn(writes=refs("a", "b"))),
    "turn-whose-reads-do-not-end": (
        lambda: TurnScript(followed=[Followed()]),
        lambda: turn(refs("r"), refs("a")),
    ),
}
"""The same for the workflow that keeps the order of a turn."""

NUDGED = frozenset({"approved-by-nudge", "canceled-while-waiting"})
"""Lives in which the wait for a person is ended by a signal instead of by time."""
