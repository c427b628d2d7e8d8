"""`python -m tests.bench`: measure, tell, keep, and say whether the promises hold; exit code 1 when one does not."""

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tests.bench import (
    gate,
    growth,
    load,
    load_picture,
    machine,
    office,
    picture,
    report,
    turn,
    waiting,
    waiting_picture,
)
from tests.bench.durable import contest as durable
from tests.bench.durable import judging, telling
from tests.bench.durable import picture as durable_picture
from tests.bench.durable.plan import SHORT, Plan
from tests.bench.measuring import Contest, Verdict, exit_code, measure
from worker.dev.errors import StackError

CONTESTS: Final[Mapping[str, Callable[[], AbstractContextManager[Contest]]]] = MappingProxyType(
    {"turn": turn.contest, "office": office.contest, "gate": lambda: nullcontext(gate.contest())}
)
"""By name; each is a page of figures of its own."""

DURABLE: Final = "durable"
"""Measured by itself: its contestants are called by many at once, and some live in processes of others' making."""

WAITING: Final = "waiting"
LOAD: Final = "load"
GROWTH: Final = "growth"
ALONE: Final = (WAITING, LOAD, GROWTH)
"""Measured by themselves, and only when they are named: they take minutes."""

DEFAULT: Final = (*CONTESTS, DURABLE)
"""What is measured when nothing is named."""

FOLDER: Final = Path(__file__).parents[2] / "docs" / "bench"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the contests that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure on this machine.")
    parser.add_argument(
        "contests",
        nargs="*",
        metavar="contest",
        help=f"any of {', '.join(DEFAULT)} (default: these), or {' or '.join(ALONE)}",
    )
    parser.add_argument("--short", action="store_true", help=f"{DURABLE} in less than five minutes, which says less")
    parser.add_argument(
        "--operations",
        type=int,
        metavar="N",
        help=f"how many wait, for {WAITING} (default: {waiting.OPERATIONS:,}), or have ended, for {GROWTH} "
        f"(default: {growth.OPERATIONS:,})",
    )
    parser.add_argument(
        "--seconds", type=float, default=load.SECONDS, metavar="S", help=f"how long callers call, for {LOAD}"
    )
    parser.add_argument("--callers", type=int, default=load.CALLERS, metavar="N", help=f"how many call, for {LOAD}")
    parser.add_argument("--into", type=Path, default=FOLDER, metavar="FOLDER", help="where figures and pictures go")
    chosen = parser.parse_args(arguments)
    unknown = sorted(set(chosen.contests) - {*DEFAULT, *ALONE})
    if unknown:
        parser.error(f"there is no contest {', '.join(unknown)}")
    verdicts: list[Verdict] = []
    for name in chosen.contests or DEFAULT:
        if name == WAITING:
            verdicts += _wait(chosen.operations or waiting.OPERATIONS, chosen.into)
        elif name == GROWTH:
            verdicts += _grow(chosen.operations or growth.OPERATIONS, chosen.into)
        elif name == LOAD:
            verdicts += _load(chosen.seconds, chosen.callers, chosen.into)
        elif name == DURABLE:
            verdicts += _endure(SHORT if chosen.short else Plan(), chosen.into)
        else:
            with CONTESTS[name]() as contest:
                verdicts += _run(contest, chosen.into)
    print("", *verdicts, sep="\n")
    return exit_code(verdicts)


def _run(contest: Contest, folder: Path) -> Sequence[Verdict]:
    found = {**machine.facts(), "load_at_start": machine.load()}
    print(report.opening(contest, found), flush=True)
    timings = measure(contest)
    found["load_at_end"] = machine.load()
    for group in contest.groups:
        print(report.table(group, timings))
    print(f"\nload {found['load_at_start']:.2f} at the start, {found['load_at_end']:.2f} at the end")
    verdicts = contest.judge(timings)
    report.keep(folder, contest, report.as_json(contest, timings, verdicts, found))
    picture.keep(folder, contest, timings)
    return verdicts


def _endure(plan: Plan, folder: Path) -> Sequence[Verdict]:
    host = {**machine.facts(), "load_at_start": machine.load()}
    print(f"{DURABLE}: on {host['cores']} cores, load {host['load_at_start']:.2f}", flush=True)
    try:
        found = durable.run(plan)
    except (StackError, RuntimeError) as failure:
        return [Verdict(f"{DURABLE}: {failure}", held=False)]
    host["load_at_end"] = machine.load()
    verdicts = judging.judge(found)
    print(
        telling.table(found),
        telling.work(found),
        f"\nload {host['load_at_start']:.2f} at the start, {host['load_at_end']:.2f} at the end",
    )
    print(judging.beside(found))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{DURABLE}.json").write_text(telling.as_json(found, plan, verdicts, host), encoding="utf-8")
    (folder / f"{DURABLE}.md").write_text(telling.page(found, plan, verdicts, host), encoding="utf-8")
    durable_picture.keep(folder / f"{DURABLE}.svg", found)
    return verdicts


def _wait(number: int, folder: Path) -> Sequence[Verdict]:
    host = _begun(WAITING, f"{number:,} operations")
    found = asyncio.run(waiting.measure(number))
    print(*waiting.lines(found), sep="\n")
    verdicts = waiting.judge(found)
    _keep(folder, WAITING, host, waiting.as_values(found), verdicts)
    waiting_picture.keep(folder / f"{WAITING}.svg", found)
    return verdicts


def _grow(number: int, folder: Path) -> Sequence[Verdict]:
    host = _begun(GROWTH, f"{number:,} operations")
    found = asyncio.run(growth.measure(number))
    print(*growth.lines(found), sep="\n")
    verdicts = growth.judge(found)
    _keep(folder, GROWTH, host, growth.as_values(found), verdicts)
    return verdicts


def _load(seconds: float, callers: int, folder: Path) -> Sequence[Verdict]:
    host = _begun(LOAD, f"{callers} callers for {seconds:.0f} s")
    found = asyncio.run(load.measure(seconds, callers))
    print(*load.lines(found), sep="\n")
    verdicts = load.judge(found)
    _keep(folder, LOAD, host, load.as_values(found), verdicts)
    load_picture.keep(folder / f"{LOAD}.svg", found)
    return verdicts


def _begun(name: str, what: str) -> dict[str, object]:
    host = {**machine.facts(), "load_at_start": machine.load()}
    print(f"{name}: {what}, on {host['cores']} cores, load {host['load_at_start']:.2f}", flush=True)
    return host


def _keep(
    folder: Path, name: str, host: dict[str, object], found: dict[str, object], verdicts: Sequence[Verdict]
) -> None:
    host["load_at_end"] = machine.load()
    told = [{"words": str(verdict), "held": verdict.held} for verdict in verdicts]
    kept = {"bench": name, "machine": host, "found": found, "verdicts": told}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
