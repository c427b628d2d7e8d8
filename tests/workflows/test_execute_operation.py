"""The order of steps and the waiting, under the real sandbox; what each step does is tested elsewhere."""

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.workflows.running import running
from tests.workflows.script import DONE, GO, UNCERTAIN, WAIT, Script, broken, refused
from workflows.execute_operation import ExecuteOperation
from workflows.messages import Ending, Judgement, Report, Step


@pytest.fixture(params=[True, False], ids=["on the fast path", "in sight"])
def fast_path(request: pytest.FixtureRequest) -> bool:
    """The outcome is the same either way."""
    return bool(request.param)


async def outcome(environment: WorkflowEnvironment, script: Script, *, fast_path: bool) -> Ending:
    async with running(environment, script, fast_path=fast_path) as handle:
        return await handle.result()


async def test_an_operation_that_nobody_must_approve_is_judged_applied_and_settled(
    time_skipping: WorkflowEnvironment, fast_path: bool
) -> None:
    script = Script(validate=[GO], apply=[DONE])
    assert await outcome(time_skipping, script, fast_path=fast_path) == Ending("succeeded")
    assert script.called == ["validate", "apply", "settle"]


async def test_a_refusal_of_the_gate_is_settled_with_its_code_and_nothing_is_applied(
    time_skipping: WorkflowEnvironment, fast_path: bool
) -> None:
    script = Script(validate=[Judgement(Step.SETTLE, "refund_amount_exceeded")], apply=[DONE])
    assert await outcome(time_skipping, script, fast_path=fast_path) == Ending(
        "failed_terminal", "refund_amount_exceeded"
    )
    assert script.called == ["validate", "settle"]


async def test_nothing_is_applied_before_the_gate_has_looked_again_after_a_decision(
    time_skipping: WorkflowEnvironment, fast_path: bool
) -> None:
    script = Script(validate=[WAIT, GO], apply=[DONE])
    async with running(time_skipping, script, fast_path=fast_path) as handle:
        await script.reached("validate")
        await handle.signal(ExecuteOperation.nudge)
        assert await handle.result() == Ending("succeeded")
    assert script.called == ["validate", "validate", "apply", "settle"]


async def test_a_signal_alone_decides_nothing(time_skipping: WorkflowEnvironment, fast_path: bool) -> None:
    script = Script(validate=[WAIT, WAIT, WAIT, Judgement(Step.SETTLE, "approval_denied")], apply=[DONE])
    async with running(time_skipping, script, fast_path=fast_path) as handle:
        for _ in range(5):
            await handle.signal(ExecuteOperation.nudge)
        assert await handle.result() == Ending("failed_terminal", "approval_denied")
    assert "apply" not in script.called


async def test_a_lost_signal_costs_time_and_nothing_else(time_skipping: WorkflowEnvironment, fast_path: bool) -> None:
    script = Script(validate=[WAIT, GO], apply=[DONE])
    assert await outcome(time_skipping, script, fast_path=fast_path) == Ending("succeeded")


async def test_three_days_without_a_decision_end_in_what_the_gate_then_says(
    time_skipping: WorkflowEnvironment, fast_path: bool
) -> None:
    script = Script(validate=[WAIT, Judgement(Step.SETTLE, "approval_expired")], apply=[DONE])
    assert await outcome(time_skipping, script, fast_path=fast_path) == Ending("failed_terminal", "approval_expired")
    assert "apply" not in script.called


async def test_an_uncertain_send_is_looked_for_until_there_is_evidence_and_never_sent_unseen(
    time_skipping: WorkflowEnvironment, fast_path: bool
) -> None:
    still = Report(Step.RECONCILE, "reconciliation_pending", pause_seconds=30.0)
    script = Script(validate=[GO], apply=[UNCERTAIN], reconcile=[still, still, DONE])
    assert await outcome(time_skipping, script, fast_path=fast_path) == Ending("succeeded")
    assert script.called == ["validate", "apply", "reconcile", "reconcile", "reconcile", "settle"]


async def test_a_dead_worker_is_no_failed_write(time_skipping: WorkflowEnvironment, fast_path: bool) -> None:
    script = Script(validate=[GO], apply=[broken()], reconcile=[DONE])
    assert await outcome(time_skipping, script, fast_path=fast_path) == Ending("succeeded")
    assert script.called == ["validate", "apply", "reconcile", "settle"]


async def test_what_is_proven_absent_goes_through_the_gate_again_before_it_is_sent_again(
    time_skipping: WorkflowEnvironment, fast_path: bool
) -> None:
    again = Report(Step.SEND_AGAIN, "proven_absent", pause_seconds=2.0)
    script = Script(validate=[GO], apply=[UNCERTAIN, DONE], reconcile=[again])
    assert await outcome(time_skipping, script, fast_path=fast_path) == Ending("succeeded")
    assert script.called == ["validate", "apply", "reconcile", "validate", "apply", "settle"]


async def test_no_signal_shortens_the_rest_that_the_downstream_asked_for(
    time_skipping: WorkflowEnvironment, fast_path: bool
) -> None:
    script = Script(validate=[GO], apply=[Report(Step.SEND_AGAIN, "rate_limited", pause_seconds=600.0), DONE])
    async with running(time_skipping, script, fast_path=fast_path) as handle:
        await script.reached("apply")
        begun = await time_skipping.get_current_time()
        for _ in range(5):
            await handle.signal(ExecuteOperation.nudge)
        assert await handle.result() == Ending("succeeded")
        assert (await time_skipping.get_current_time() - begun).total_seconds() >= 600
    assert script.called.count("apply") == 2


async def test_an_end_that_is_none_is_followed_by_looking(time_skipping: WorkflowEnvironment, fast_path: bool) -> None:
    script = Script(
        validate=[Judgement(Step.SETTLE, "approval_stale")],
        reconcile=[DONE],
        settle=[Ending("unconfirmed", "reconciliation_pending"), Ending("succeeded")],
    )
    assert await outcome(time_skipping, script, fast_path=fast_path) == Ending("succeeded")
    assert script.called == ["validate", "settle", "reconcile", "settle"]


async def test_a_clearance_that_is_too_old_sends_the_operation_back_to_the_gate(
    time_skipping: WorkflowEnvironment, fast_path: bool
) -> None:
    script = Script(validate=[GO, Judgement(Step.SETTLE, "quote_expired")], apply=[Report(Step.VALIDATE)])
    assert await outcome(time_skipping, script, fast_path=fast_path) == Ending("failed_terminal", "quote_expired")


async def test_a_look_that_fails_is_repeated_and_the_operation_stays_unconfirmed(
    time_skipping: WorkflowEnvironment, fast_path: bool
) -> None:
    script = Script(validate=[GO], apply=[UNCERTAIN], reconcile=[*[broken()] * 7, DONE])
    assert await outcome(time_skipping, script, fast_path=fast_path) == Ending("succeeded")
    assert script.called.count("apply") == 1


async def test_an_operation_in_manual_review_still_ends_when_evidence_comes(
    time_skipping: WorkflowEnvironment, fast_path: bool
) -> None:
    review = Report(Step.RECONCILE, "reconciliation_pending", pause_seconds=3600.0, needs_person=True)
    script = Script(validate=[GO], apply=[UNCERTAIN], reconcile=[*[review] * 30, DONE])
    assert await outcome(time_skipping, script, fast_path=fast_path) == Ending("succeeded")


async def test_a_state_that_cannot_be_seen_ends_retryable_and_nothing_is_applied(
    time_skipping: WorkflowEnvironment, fast_path: bool
) -> None:
    script = Script(validate=[broken()], apply=[DONE])
    assert (await outcome(time_skipping, script, fast_path=fast_path)).code == "upstream_unavailable"
    assert "apply" not in script.called


async def test_another_meaning_under_the_same_id_is_refused_with_its_own_code(
    time_skipping: WorkflowEnvironment, fast_path: bool
) -> None:
    script = Script(validate=[refused("idempotency_conflict")], apply=[DONE])
    assert (await outcome(time_skipping, script, fast_path=fast_path)).code == "idempotency_conflict"
    assert "apply" not in script.called
