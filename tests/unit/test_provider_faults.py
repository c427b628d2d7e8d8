"""The payments provider's switches: which request runs into which one, and for how long."""

import pytest
from pydantic import ValidationError

from examples.payments_provider.faults import Fault, Match, SwitchChanges, Switches, use_first
from examples.payments_provider.refusals import STATUS
from examples.payments_provider.settings import Settings


def settings(**changes: object) -> Settings:
    return Settings.model_validate(
        {"dsn": "postgresql://u@h/payments", "api_key": "k", "admin_key": "a", "port": 8090} | changes
    )


def test_a_switch_fires_as_often_as_it_says() -> None:
    faults: tuple[Fault, ...] = (Fault(on="refund", do="429", times=2),)
    fired = []
    for _ in range(3):
        fault, faults = use_first(faults, "refund", reading=False)
        fired.append(fault is not None)
    assert fired == [True, True, False]


def test_a_switch_without_times_fires_once_and_one_with_null_fires_until_cleared() -> None:
    once = SwitchChanges.model_validate({"faults": [{"on": "refund", "do": "500"}]}).faults[0]
    forever = SwitchChanges.model_validate({"faults": [{"on": "refund", "do": "500", "times": None}]}).faults[0]
    assert (once.used().armed, forever.used().armed) == (False, True)


def test_a_null_survives_becoming_the_switches() -> None:
    changes = SwitchChanges(faults=(Fault(on="refund", do="500", times=None),))
    assert Switches.from_settings(settings(), changes).faults[0].times is None


def test_a_switch_fires_only_for_the_reference_that_it_names() -> None:
    faults = (Fault(on="refund", do="429", match=Match(client_reference="op-1")),)
    assert use_first(faults, "refund", reading=False, client_reference="op-2")[0] is None
    assert use_first(faults, "refund", reading=False)[0] is None
    assert use_first(faults, "refund", reading=False, client_reference="op-1")[0] == faults[0]


def test_the_first_armed_switch_that_fits_is_used() -> None:
    faults = (
        Fault(on="refund", do="500", times=0),
        Fault(on="lookup", do="503"),
        Fault(on="refund", do="429"),
        Fault(on="refund", do="commit-then-drop"),
    )
    fault, left = use_first(faults, "refund", reading=False)
    assert fault == faults[2]
    assert [one.armed for one in left] == [False, True, False, True]


def test_on_quotes_slow_read_waits_for_a_reader_and_a_lost_reply_for_a_writer() -> None:
    slow = (Fault(on="quote", do="slow-read", seconds=1),)
    lost = (Fault(on="quote", do="commit-then-drop"),)
    assert use_first(slow, "quote", reading=False)[0] is None
    assert use_first(slow, "quote", reading=True)[0] == slow[0]
    assert use_first(lost, "quote", reading=True)[0] is None
    assert use_first(lost, "quote", reading=False)[0] == lost[0]


@pytest.mark.parametrize(
    "fault",
    [
        {"on": "order", "do": "commit-then-drop"},
        {"on": "quote", "do": "commit-late", "seconds": 1},
        {"on": "refund", "do": "slow-read", "seconds": 1},
        {"on": "refund", "do": "commit-late"},
        {"on": "refund", "do": "commit-then-hang"},
        {"on": "refund", "do": "429", "seconds": -1},
        {"on": "refund", "do": "429", "times": -1},
        {"on": "refund", "do": "429", "match": {"merchant": "tenant-a"}},
        {"on": "refund", "do": "explode"},
    ],
)
def test_a_switch_that_makes_no_sense_is_refused(fault: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Fault.model_validate(fault)


def test_what_is_not_named_is_as_the_settings_have_it() -> None:
    switches = Switches.from_settings(settings(completion_seconds=3), SwitchChanges(key_lifetime_seconds=0))
    assert (switches.completion_seconds, switches.key_lifetime_seconds) == (3, 0)


@pytest.mark.parametrize(
    ("do", "seconds", "status", "retry_after"),
    [
        ("429", None, 429, 1),
        ("429", 2.5, 429, 3),
        ("503", None, 503, None),
        ("503", 4, 503, 4),
        ("500", None, 500, None),
        ("422", None, 422, None),
    ],
)
def test_a_status_switch_answers_with_its_status(
    do: str, seconds: float | None, status: int, retry_after: int | None
) -> None:
    refusal = Fault.model_validate({"on": "refund", "do": do, "seconds": seconds}).refusal()
    assert (STATUS[refusal.code], refusal.retry_after) == (status, retry_after)
