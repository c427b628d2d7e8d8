"""Amounts, distances and fingerprints, as people write them."""

from datetime import timedelta

import pytest

from adapters.http.back_office.figures import Amount, amount, distance, fingerprint, in_groups
from adapters.http.back_office.languages import ENGLISH
from tests.unit.back_office_sheets import HASH
from tests.unit.memory_back_office import NOON
from workflows.domain.impact import Money


@pytest.mark.parametrize(
    ("money", "figure"),
    [
        (Money(12000, "KRW"), "₩12,000"),
        (Money(250050, "USD"), "$2,500.50"),
        (Money(1234567, "KWD"), "1,234.567"),
        (Money(-5, "EUR"), "-€0.05"),
        (Money(7, "XXX"), "7 minor units"),
        (Money(1500, "IQD"), "1.500"),
        (Money(2**70, "KRW"), "₩1,180,591,620,717,411,303,424"),
    ],
)
def test_an_amount_is_written_with_the_digits_of_its_currency(money: Money, figure: str) -> None:
    assert amount(money, ENGLISH) == Amount(figure, money.currency)


@pytest.mark.parametrize(
    ("figure", "written"),
    [
        ("₩100,000,000", "₩100,000,000"),
        ("₩1,000,000,000,000", "₩1,<wbr>000,<wbr>000,<wbr>000,<wbr>000"),
        ("<b>,000,000,000", "&lt;b&gt;,<wbr>000,<wbr>000,<wbr>000"),
    ],
)
def test_a_figure_too_long_for_a_line_may_end_it_behind_a_group(figure: str, written: str) -> None:
    assert in_groups(figure, ENGLISH) == written


@pytest.mark.parametrize(
    ("delta", "words"),
    [
        ({"seconds": 30}, "in less than a minute"),
        ({"seconds": -61}, "1 minute ago"),
        ({"minutes": 59, "seconds": 45}, "in 1 hour"),
        ({"hours": 1}, "in 1 hour"),
        ({"hours": 23, "minutes": 50}, "in 1 day"),
        ({"days": 2, "hours": 23, "minutes": 45}, "in 3 days"),
        ({"days": 2, "hours": 5}, "in 2 days"),
        ({"days": -3}, "3 days ago"),
    ],
)
def test_times_are_told_as_distances(delta: dict[str, float], words: str) -> None:
    assert distance(NOON + timedelta(**delta), NOON, ENGLISH) == words


def test_a_fingerprint_is_short_enough_to_compare() -> None:
    assert fingerprint(HASH) == "3f9a 1c22 90be"
