"""The chain of the audit log: whatever is done to its lines is found, and where it was done is named."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflows.domain.audit import BEGINNING, AuditLine, Break, ChainCheck, Checked, Fault, Head, chained

NOON = datetime(2026, 3, 2, 12, 0, 0, 250, tzinfo=UTC)

Lines = list[AuditLine]


def line(number: int, what: str = "proposed", tenant: str = "tenant-a") -> AuditLine:
    return AuditLine(
        tenant=tenant,
        event_id=number,
        at=NOON + timedelta(seconds=number),
        actor="support-agent",
        what=what,
        operation_id="op_1",
        tool="refund_payment",
        resource="order:O-17",
        detail='{"surface": "openai-responses"}',
        written_by="onceward_door",
    )


def chain(length: int) -> Lines:
    return chained([line(number) for number in range(1, length + 1)], {})[0]


def checked(lines: Lines, head: Head | None = None, *, whole: bool = True) -> Checked:
    check = ChainCheck("tenant-a", head, whole=whole)
    for each in lines:
        check.take(each)
    return check.found()


def rewritten(lines: Lines) -> Lines:
    """Sealed anew from the beginning, as whoever owns the tables could."""
    return chained(lines, {})[0]


def test_the_form_that_is_hashed_never_changes() -> None:
    """Exports of every release must still hold: a new form would break them all."""
    sealed = line(1).sealed(1, BEGINNING)
    assert sealed.hash == "8fd5d10c32ffb6b381cf7e6c15b7e5ca04eed9c6099807231ac26691e2fb945f"
    bare = AuditLine("tenant-a", 2, NOON, "executor", "proposal.refused").sealed(2, sealed.hash or "")
    assert bare.hash == "70802790435fcd49ff24543156320868bb0ecd55a2c373473a01d8575fed898a"


def test_a_chain_holds_and_names_its_head() -> None:
    lines = chain(5)
    found = checked(lines)
    assert found == Checked("tenant-a", 5, 1, Head(5, lines[-1].hash or ""))
    assert checked(lines, found.head) == found
    assert checked([]) == Checked("tenant-a", 0, 0, Head())


def test_chains_of_tenants_do_not_know_each_other() -> None:
    mixed = [line(number, tenant=f"tenant-{'ab'[number % 2]}") for number in range(10)]
    sealed, heads = chained(mixed, {})
    assert [each.place for each in sealed] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert {name: head.place for name, head in heads.items()} == {"tenant-a": 5, "tenant-b": 5}


def test_a_chain_goes_on_where_it_ended() -> None:
    first, heads = chained([line(1), line(2)], {})
    later, _ = chained([line(3)], heads)
    assert [*first, *later] == chain(3)


CHANGES: dict[str, Callable[[Lines], Lines]] = {
    "another actor": lambda lines: [*lines[:2], replace(lines[2], actor="somebody"), *lines[3:]],
    "another time": lambda lines: [*lines[:2], replace(lines[2], at=NOON), *lines[3:]],
    "another detail": lambda lines: [*lines[:2], replace(lines[2], detail="{}"), *lines[3:]],
    "another operation": lambda lines: [*lines[:2], replace(lines[2], operation_id=None), *lines[3:]],
    "another writer": lambda lines: [*lines[:2], replace(lines[2], written_by="onceward_worker"), *lines[3:]],
    "another tenant": lambda lines: [*lines[:2], replace(lines[2], tenant="tenant-b"), *lines[3:]],
    "another hash": lambda lines: [*lines[:2], replace(lines[2], hash=BEGINNING), *lines[3:]],
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_line_is_found(change: Callable[[Lines], Lines]) -> None:
    assert checked(change(chain(5))).broken == Break(3, Fault.CHANGED)


def test_a_line_that_was_changed_and_sealed_anew_is_found_by_the_next_one() -> None:
    lines = chain(5)
    forged = replace(lines[2], actor="somebody").sealed(3, lines[1].hash or "")
    assert checked([*lines[:2], forged, *lines[3:]]).broken == Break(4, Fault.UNLINKED)


def test_a_removed_line_is_found() -> None:
    lines = chain(5)
    assert checked([*lines[:2], *lines[3:]]).broken == Break(3, Fault.MISSING)
    assert checked(lines[1:]).broken == Break(1, Fault.MISSING)


def test_a_removed_line_whose_place_another_one_took_is_found() -> None:
    lines = chain(5)
    moved = [replace(each, place=each.place and each.place - 1) for each in lines[3:]]
    assert checked([*lines[:2], *moved]).broken == Break(3, Fault.UNLINKED)


def test_an_inserted_line_is_found() -> None:
    lines = chain(5)
    added = line(99).sealed(4, lines[2].hash or "")
    assert checked([*lines[:3], added, *lines[3:]]).broken == Break(4, Fault.UNLINKED)


def test_lines_that_changed_their_places_are_found() -> None:
    lines = chain(5)
    swapped = [replace(lines[2], place=4), replace(lines[3], place=3)]
    assert checked([*lines[:2], swapped[1], swapped[0], lines[4]]).broken == Break(3, Fault.UNLINKED)


def test_a_removed_end_is_found_by_the_head() -> None:
    lines = chain(5)
    head = Head(5, lines[-1].hash or "")
    assert checked(lines[:3], head).broken == Break(4, Fault.CUT)
    assert checked([], head).broken == Break(1, Fault.CUT)


def test_a_chain_that_was_written_anew_as_a_whole_is_found_by_the_head() -> None:
    lines = chain(5)
    forged = rewritten([replace(lines[0], actor="somebody"), *lines[1:]])
    assert checked(forged).broken is None
    assert checked(forged, Head(5, lines[-1].hash or "")).broken == Break(5, Fault.REPLACED)


def test_lines_behind_the_head_are_found() -> None:
    lines = chain(5)
    check = ChainCheck("tenant-a")
    for each in lines:
        check.take(each)
    assert check.found(Head(3, lines[2].hash or "")).broken == Break(4, Fault.ADDED)


def test_only_the_first_break_is_told() -> None:
    lines = chain(6)
    twice = [*lines[:1], replace(lines[1], what="x"), *lines[2:4], replace(lines[4], what="y"), lines[5]]
    assert checked(twice).broken == Break(2, Fault.CHANGED)


def test_a_part_holds_by_itself_and_says_where_it_begins() -> None:
    lines = chain(6)
    assert checked(lines[2:], whole=False) == Checked("tenant-a", 4, 3, Head(6, lines[-1].hash or ""))
    assert checked([*lines[2:3], *lines[4:]], whole=False).broken == Break(4, Fault.MISSING)


def test_the_hash_does_not_depend_on_the_time_zone_in_which_the_time_is_read() -> None:
    here, elsewhere = line(1), replace(line(1), at=line(1).at.astimezone(timezone(timedelta(hours=9))))
    assert here.sealed(1, BEGINNING).hash == elsewhere.sealed(1, BEGINNING).hash


@given(
    texts=st.lists(st.text(st.characters(codec="utf-8"), max_size=20), min_size=3, max_size=3),
    number=st.integers(1, 2**63 - 1),
)
def test_whatever_a_line_says_it_can_be_sealed(texts: list[str], number: int) -> None:
    actor, what, detail = texts
    sealed = AuditLine("t", number, NOON, actor, what, detail=detail).sealed(1, BEGINNING)
    assert checked([sealed]).broken is None
