"""`python -m tests.chaos`: a seeded run of real processes under faults, judged by an independent checker.

Exit code 0 when the checker found nothing, 1 when it found something, 2 when the run could not be carried out.
"""

import argparse
import asyncio
import secrets
import shutil
import sys
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path

from tests.chaos.checker import Verdict, check
from tests.chaos.evidence import Evidence, kept
from tests.chaos.plan import IN_TURNS, SMALLEST, Plan, plan_of
from tests.chaos.report import written
from tests.chaos.run import Run
from worker.dev.errors import StackError

HELD, FOUND, NOT_CARRIED_OUT, INTERRUPTED = 0, 1, 2, 130

OPERATIONS = 100
LARGEST_SEED = 10**6

OF_THEM = "which part of them in responses with several writes (default: %(default)s)"


def main() -> int:
    """Plan, run, judge, report; the verdict is the last line."""
    asked = _parser().parse_args()
    state = asked.state or Path(tempfile.mkdtemp(prefix="onceward-chaos-"))
    try:
        evidence = kept(asked.judge) if asked.judge else _evidence(asked, state)
    except (StackError, ExceptionGroup) as failure:
        print(f"\n{_in_full(failure)}\nThe logs are in {state / 'logs'}.", file=sys.stderr)
        return NOT_CARRIED_OUT
    except KeyboardInterrupt:
        print("\nStopped; every process that was started has ended.", file=sys.stderr)
        return INTERRUPTED
    if asked.evidence:
        evidence.keep(asked.evidence)
    verdict = check(evidence)
    if asked.report:
        asked.report.write_text(written(evidence, verdict))
    _tell(verdict)
    _tidy(state, keep=bool(asked.state) or not verdict.holds)
    print(verdict.sentence)
    return HELD if verdict.holds else FOUND


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--operations", type=_enough, default=OPERATIONS, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, help="of load and faults (default: drawn, and printed)")
    parser.add_argument("--in-turns", type=float, default=IN_TURNS, help=OF_THEM)
    parser.add_argument("--report", type=Path, help="write a page about the run")
    parser.add_argument("--evidence", type=Path, help="keep what was collected, as JSON")
    parser.add_argument("--judge", type=Path, help="only judge evidence that was kept")
    parser.add_argument("--state", type=Path, help="folder for all data (default: a temporary one)")
    return parser


def _enough(words: str) -> int:
    if (number := int(words)) < SMALLEST:
        raise argparse.ArgumentTypeError(f"every kind of fault needs at least {SMALLEST}")
    return number


def _evidence(asked: argparse.Namespace, state: Path) -> Evidence:
    seed = secrets.randbelow(LARGEST_SEED) if asked.seed is None else asked.seed
    plan = plan_of(seed, asked.operations, asked.in_turns)
    _say(f"seed {seed}: {len(plan.acts)} operations in {len(plan.turns)} turns, {len(plan.steps)} faults of processes")
    return asyncio.run(_run(plan, state))


def _in_full(failure: Exception) -> str:
    """What is wrong with the stack in its own words; anything else with where it came from."""
    return str(failure) if isinstance(failure, StackError) else "".join(traceback.format_exception(failure))


async def _run(plan: Plan, state: Path) -> Evidence:
    async with Run.connected(plan, state, _say) as run:
        return await run.through()


def _say(words: str) -> None:
    print(words, flush=True)


def _tell(verdict: Verdict) -> None:
    for finding in verdict.findings:
        print(finding)
    for grade, line in verdict.classes.items():
        ends = ", ".join(f"{number} {end}" for end, number in line.ends.items())
        print(f"{grade}: {line.acts} acts, {line.operations} operations, {line.effects} effects; {ends}")
    print(f"effects per single act: {_numbers(verdict.histogram)}; per item of a batch: {_numbers(verdict.items)}")
    print(f"responses with several writes: {_counts(verdict.turns)}")
    print(f"wishes to cancel: {_counts(verdict.wishes)}; operators' words: {_counts(verdict.words)}")
    print(f"faults: {_counts(dict(sorted(verdict.faults.items())))}")
    print(f"died unasked: {_counts(verdict.deaths)}")
    print(verdict.audit)


def _numbers(histogram: Mapping[int, int]) -> str:
    return ", ".join(f"{number}: {acts}" for number, acts in histogram.items())


def _counts(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counted.items()) or "none"


def _tidy(state: Path, *, keep: bool) -> None:
    if keep:
        print(f"The data and logs are in {state}.")
    else:
        shutil.rmtree(state, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
