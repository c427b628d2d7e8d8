"""What the commands about the audit log say, and how an export is checked without a database."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from adapters.postgres.audit_chain import Unsealed
from adapters.postgres.audit_words import Discrepancy, Unlike
from tests.unit.test_audit_chain import Lines, chain, line
from worker.audit_export import UnreadableLine, checked, written
from worker.audit_log import moment
from worker.audit_verdict import LogVerdict
from workflows.domain.audit import BEGINNING, Break, Checked, Fault, Head, chained

HEAD = Head(5, "f" * 64)
SOUND = Checked("tenant-a", 5, 1, HEAD)
BROKEN = Checked("tenant-b", 9, 1, HEAD, Break(3, Fault.MISSING))


def file_of(lines: Lines) -> list[str]:
    return [f"{written(each)}\n" for each in lines]


def nobody(_: str) -> None:
    pass


# -- words


def test_a_sound_log_tells_each_head_and_what_waits() -> None:
    verdict = LogVerdict((SOUND,), Unsealed(3, 1.5))
    assert verdict.exit_code == 0
    assert list(verdict.lines()) == [
        f"      ok  tenant-a: 5 lines, head {'f' * 64} at line 5",
        "          3 lines are not sealed yet, the oldest for 1 s",
        "audit verify: sound, 1 chains, 5 lines, 3 not sealed yet",
    ]


def test_lines_that_wait_for_long_ask_whether_a_relay_runs() -> None:
    assert "does a relay run?" in "\n".join(LogVerdict((), Unsealed(3, 600.0)).lines())


def test_a_broken_log_names_the_first_place_of_each_chain_and_every_head_that_is_gone() -> None:
    verdict = LogVerdict((SOUND, BROKEN), Unsealed(), ("abc",))
    assert verdict.exit_code == 1
    assert verdict.sentence == (
        "audit verify: BROKEN: audit log of tenant-b: line 3 is missing; no line of the audit log has the hash abc"
    )


def test_words_that_were_changed_break_the_verdict() -> None:
    verdict = LogVerdict((SOUND,), Unsealed(), altered=(Discrepancy("op_1", Unlike.GONE),))
    assert verdict.exit_code == 1
    assert verdict.sentence.endswith(
        "what a person said on op_1 is not what the audit log knows of: no row says what a line tells"
    )


def test_a_name_from_outside_gives_a_terminal_no_orders() -> None:
    odd = replace(BROKEN, tenant="a\x1b[31m")
    assert "\x1b" not in "\n".join(LogVerdict((odd,), Unsealed(), ("\x1b",)).lines())


def test_a_day_is_one_in_utc_and_a_time_is_what_it_says() -> None:
    assert moment("2026-03-01") == datetime(2026, 3, 1, tzinfo=UTC)
    assert moment("2026-03-01T09:00+09:00") == datetime(2026, 3, 1, tzinfo=UTC)
    with pytest.raises(ValueError, match="isoformat"):
        moment("yesterday")


# -- exports


def test_an_export_holds_by_itself() -> None:
    lines = chain(5)
    assert checked(file_of(lines), nobody) == [Checked("tenant-a", 5, 1, Head(5, lines[-1].hash or ""))]


def test_an_export_of_many_tenants_has_a_chain_for_each() -> None:
    mixed = [line(number, tenant=f"tenant-{'ab'[number % 2]}") for number in range(10)]
    found = checked(file_of(chained(mixed, {})[0]), nobody)
    assert [(each.tenant, each.lines, each.broken) for each in found] == [("tenant-a", 5, None), ("tenant-b", 5, None)]


def test_a_part_says_from_where_on_it_is_one() -> None:
    (found,) = checked(file_of(chain(5)[2:]), nobody)
    assert (found.first, found.lines, found.broken) == (3, 3, None)


def test_the_hashes_of_all_lines_are_shown() -> None:
    seen: list[str] = []
    lines = chain(3)
    checked(file_of(lines), seen.append)
    assert seen == [each.hash for each in lines]


FORGERIES: dict[str, tuple[Callable[[Lines], Lines], Break]] = {
    "changed": (lambda lines: [lines[0], replace(lines[1], actor="x"), *lines[2:]], Break(2, Fault.CHANGED)),
    "removed": (lambda lines: [lines[0], *lines[2:]], Break(2, Fault.MISSING)),
    "moved": (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], Break(2, Fault.MISSING)),
    "doubled": (lambda lines: [*lines[:2], *lines[1:]], Break(2, Fault.UNLINKED)),
    "another beginning": (lambda lines: [lines[0].sealed(1, "f" * 64), *lines[1:]], Break(1, Fault.UNLINKED)),
    "never sealed": (lambda lines: [replace(lines[0], place=None, hash=None)], Break(0, Fault.UNLINKED)),
}


@pytest.mark.parametrize(("forge", "broken"), FORGERIES.values(), ids=FORGERIES)
def test_an_export_that_was_tampered_with_is_found(forge: Callable[[Lines], Lines], broken: Break) -> None:
    (found,) = checked(file_of(forge(chain(5))), nobody)
    assert found.broken == broken


UNREADABLE = {
    "no JSON": "{",
    "no line": "[]",
    "cut": written(chain(1)[0])[:-9],
    "a key twice": written(chain(1)[0])[:-1] + ',"actor":"somebody"}',
    "a key more": written(chain(1)[0])[:-1] + ',"note":"trust me"}',
    "a number as text": json.dumps({**chain(1)[0].as_json(), "place": "1"}),
    "a key less": json.dumps({name: value for name, value in chain(1)[0].as_json().items() if name != "actor"}),
}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
def test_a_line_that_is_none_of_an_export_is_named(text: str) -> None:
    with pytest.raises(UnreadableLine) as refused:
        checked([*file_of(chain(2)), text], nobody)
    assert refused.value.number == 3


def test_an_export_in_another_time_zone_says_the_same() -> None:
    (sealed,) = chain(1)
    moved = {**sealed.as_json(), "at": (sealed.at + timedelta(0)).astimezone().isoformat()}
    (found,) = checked([json.dumps(moved)], nobody)
    assert found.broken is None
    assert sealed.previous_hash == BEGINNING
