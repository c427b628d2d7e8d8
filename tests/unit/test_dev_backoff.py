from worker.dev.backoff import DEATHS_ALLOWED, LONGEST_PAUSE, WINDOW, pause_before_restart


def test_each_death_in_a_row_waits_longer_up_to_a_bound() -> None:
    pauses = [pause_before_restart([0.0] * deaths, now=0.0) or 0.0 for deaths in range(1, DEATHS_ALLOWED + 1)]
    assert pauses == sorted(set(pauses))
    assert 0 < pauses[0] < 1
    assert pauses[-1] <= LONGEST_PAUSE


def test_one_death_more_than_allowed_within_the_window_is_given_up() -> None:
    assert pause_before_restart([0.0] * (DEATHS_ALLOWED + 1), now=0.0) is None


def test_old_deaths_are_forgotten() -> None:
    old = [0.0] * DEATHS_ALLOWED
    assert pause_before_restart([*old, WINDOW + 1], now=WINDOW + 1) == pause_before_restart([0.0], now=0.0)
