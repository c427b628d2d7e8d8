"""What counts as something that a reader can see."""

import pytest

from workflows.domain.visibility import is_blank, is_plain

UNSEEN = ["\u200b", "\u2060", "\u202e", "\u2066", "\ufeff", "\u00ad", "\u3164", "\u2800", "\ufe0f", "\x07", "\ud800"]


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u00a0", "\u3000", *UNSEEN, "".join(UNSEEN)], ids=ascii)
def test_what_leaves_no_ink_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["No.", "\u200bNo", "아니요", "–", "👍🏽"], ids=ascii)
def test_one_character_that_is_seen_is_enough(text: str) -> None:
    assert not is_blank(text)


@pytest.mark.parametrize("unseen", [*UNSEEN, "\n", "\u00a0"], ids=ascii)
def test_an_identifier_has_nothing_unseen_anywhere(unseen: str) -> None:
    for identifier in (f"rf{unseen}204", f"rf204{unseen}", f"{unseen}rf204"):
        assert not is_plain(identifier)


@pytest.mark.parametrize("identifier", ["rf-204", "RF 204/7", "환불-204", ""])
def test_an_identifier_that_is_seen_as_it_is_is_plain(identifier: str) -> None:
    assert is_plain(identifier)


@pytest.mark.parametrize("identifier", [" rf-204", "rf-204 "])
def test_a_space_at_an_end_is_not_seen(identifier: str) -> None:
    assert not is_plain(identifier)
