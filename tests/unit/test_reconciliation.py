"""What a look at the downstream proves: the whole truth table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflows.domain.contract import Idempotency, Recovery
from workflows.domain.effect import Effect
from workflows.domain.reconciliation import Conclusion, Uncertainty, conclude, pause_before_send

RECOVERY = Recovery(settle_seconds=30.0, key_lifetime_seconds=3600.0)
FORGETFUL = Recovery(settle_seconds=30.0, key_lifetime_seconds=None)

NEVER_SENT = Uncertainty(None, None)
JUST_SENT = Uncertainty(10.0, 10.0)
SETTLED = Uncertainty(31.0, 31.0)
SENT_AGAIN_JUST_NOW = Uncertainty(1000.0, 10.0)
KEY_FORGOTTEN = Uncertainty(3601.0, 31.0)

MADE = Effect.applied("rf-204", {})
REFUSED = Effect.rejected("downstream_rejected")
PENDING = Effect.unknown("rf-204")

SEND_AGAIN, STILL_UNKNOWN = Conclusion.SEND_AGAIN, Conclusion.STILL_UNKNOWN


@pytest.mark.parametrize("idempotency", Idempotency)
@pytest.mark.parametrize("sent", [NEVER_SENT, JUST_SENT, SETTLED, KEY_FORGOTTEN], ids=str)
@pytest.mark.parametrize(
    ("found", "conclusion"),
    [
        (MADE, Conclusion.APPLIED),
        (REFUSED, Conclusion.REJECTED),
        (PENDING, STILL_UNKNOWN),
        (Effect.unknown(), STILL_UNKNOWN),
    ],
)
def test_what_is_found_speaks_for_itself(
    found: Effect, conclusion: Conclusion, sent: Uncertainty, idempotency: Idempotency
) -> None:
    assert conclude(found, idempotency, RECOVERY, sent) is conclusion


@pytest.mark.parametrize("idempotency", Idempotency)
def test_what_was_never_sent_may_be_sent(idempotency: Idempotency) -> None:
    assert conclude(None, idempotency, RECOVERY, NEVER_SENT) is SEND_AGAIN


@pytest.mark.parametrize("idempotency", Idempotency)
@pytest.mark.parametrize("sent", [JUST_SENT, SENT_AGAIN_JUST_NOW], ids=str)
def test_absent_proves_nothing_while_a_late_commit_is_possible(sent: Uncertainty, idempotency: Idempotency) -> None:
    assert conclude(None, idempotency, RECOVERY, sent) is STILL_UNKNOWN


@pytest.mark.parametrize(
    ("idempotency", "recovery", "sent", "conclusion"),
    [
        (Idempotency.KEYED, RECOVERY, SETTLED, SEND_AGAIN),
        (Idempotency.KEYED, RECOVERY, KEY_FORGOTTEN, STILL_UNKNOWN),
        (Idempotency.KEYED, FORGETFUL, SETTLED, STILL_UNKNOWN),
        (Idempotency.FENCED, RECOVERY, SETTLED, SEND_AGAIN),
        (Idempotency.FENCED, FORGETFUL, KEY_FORGOTTEN, SEND_AGAIN),
        (Idempotency.LOOKUP_ONLY, RECOVERY, SETTLED, STILL_UNKNOWN),
        (Idempotency.NONE, RECOVERY, SETTLED, STILL_UNKNOWN),
        (Idempotency.NONE, RECOVERY, KEY_FORGOTTEN, STILL_UNKNOWN),
    ],
)
def test_absent_and_settled_is_repeated_only_where_that_is_harmless(
    idempotency: Idempotency, recovery: Recovery, sent: Uncertainty, conclusion: Conclusion
) -> None:
    assert conclude(None, idempotency, recovery, sent) is conclusion


@pytest.mark.parametrize(("seconds", "conclusion"), [(29.999, STILL_UNKNOWN), (30.0, SEND_AGAIN)])
def test_the_settling_time_is_waited_out_to_its_end(seconds: float, conclusion: Conclusion) -> None:
    assert conclude(None, Idempotency.KEYED, RECOVERY, Uncertainty(seconds, seconds)) is conclusion


@pytest.mark.parametrize(("seconds", "conclusion"), [(3599.9, SEND_AGAIN), (3600.0, STILL_UNKNOWN)])
def test_a_key_counts_from_the_first_send_and_not_to_its_last_moment(seconds: float, conclusion: Conclusion) -> None:
    assert conclude(None, Idempotency.KEYED, RECOVERY, Uncertainty(seconds, 40.0)) is conclusion


@given(
    st.sampled_from([Idempotency.LOOKUP_ONLY, Idempotency.NONE]),
    st.floats(0, 1e9),
    st.floats(0, 1e9),
    st.none() | st.floats(1, 1e9),
)
def test_without_a_key_or_a_fence_nothing_is_ever_sent_twice(
    idempotency: Idempotency, first: float, last: float, lifetime: float | None
) -> None:
    recovery = Recovery(settle_seconds=0.0, key_lifetime_seconds=lifetime)
    assert conclude(None, idempotency, recovery, Uncertainty(first, last)) is STILL_UNKNOWN


def test_sends_become_rarer_and_outlast_an_outage_of_minutes() -> None:
    assert [pause_before_send(sends) for sends in range(6)] == [5, 20, 80, 300, 300, 300]
    assert pause_before_send(10**6) == 300
