"""What was measured, as a table for people and as JSON for later comparisons. Told in microseconds."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.bench.measuring import Contest, Group, Timings, Verdict, ratio, rest

HEAD = f"{'':<40}{'p50 µs':>9}{'p95 µs':>9}{'p99 µs':>9}{'× plain':>9}{'share':>8}{'spread':>8}"

BUSY = 0.5
"""Load for each core from which on others disturb what is timed."""


@dataclass(frozen=True)
class Row:
    """One line. `ratio` is against the baseline; `share` of the whole and `spread` between repeats: 0.1 is 10 %."""

    name: str
    about: str
    p50_us: float
    p95_us: float
    p99_us: float
    ratio: float
    share: float
    spread: float


def opening(contest: Contest, found: Mapping[str, Any]) -> str:
    """Before it begins: what is done, where, and whether something else is at work here."""
    where = f"{found['python']} on {found['cpu']}, {found['cores']} cores, load {found['load_at_start']:.2f}"
    busy = found["load_at_start"] > BUSY * found["cores"]
    warning = ["The machine is busy: read the ratios, and measure again for the times."] if busy else []
    return "\n".join([f"{contest.name}: {where}", contest.plan.words(len(contest.names)), *warning])


def rows(group: Group, timings: Timings) -> Sequence[Row]:
    """One for each contestant of the group."""
    return list(_rows(group, timings))


def _rows(group: Group, timings: Timings) -> Iterator[Row]:
    for contestant in group.contestants:
        timing = timings[contestant.name]
        microseconds = [round(each / 1000, 2) for each in timing.told]
        relative = [ratio(timing, timings[group.baseline]), ratio(timing, timings[group.whole]), timing.spread]
        yield Row(contestant.name, contestant.about, *microseconds, *(round(each, 3) for each in relative))


def table(group: Group, timings: Timings) -> str:
    """The group for people."""
    told = [f"{_line(row)}\n    {row.about}" for row in rows(group, timings)]
    return "\n".join([f"\n{group.title}", HEAD, *told, *_rest(group, timings)])


def _line(row: Row) -> str:
    figures = f"{row.p50_us:9.1f}{row.p95_us:9.1f}{row.p99_us:9.1f}{row.ratio:9.1f}"
    return f"  {row.name:<38}{figures}{row.share:8.0%}{row.spread:8.0%}"


def _rest(group: Group, timings: Timings) -> Sequence[str]:
    if not group.parts:
        return []
    left = rest(group, timings)
    share = left / timings[group.whole].p50
    return [f"  {'everything else':<38}{left / 1000:9.1f}{'':27}{share:8.0%}"]


def as_json(contest: Contest, timings: Timings, verdicts: Sequence[Verdict], machine: Mapping[str, Any]) -> str:
    """Everything that was told, and on what machine."""
    told = {
        "bench": contest.name,
        "machine": machine,
        "plan": asdict(contest.plan),
        "groups": [_group(group, timings) for group in contest.groups],
        "verdicts": [{"words": str(verdict), "held": verdict.held} for verdict in verdicts],
    }
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def _group(group: Group, timings: Timings) -> dict[str, Any]:
    left = {"everything_else_us": round(rest(group, timings) / 1000, 2)} if group.parts else {}
    names = {"title": group.title, "baseline": group.baseline, "whole": group.whole}
    return {**names, "contestants": [asdict(row) for row in rows(group, timings)], **left}


def keep(folder: Path, contest: Contest, text: str) -> None:
    """Write `<contest>.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{contest.name}.json").write_text(text, encoding="utf-8")
