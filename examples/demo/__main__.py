"""The demonstration: real servers, a scripted model, faults, and what came of them.

`python -m examples.demo`: exit code 0 when everything held, 1 when something did not, 130 after Ctrl-C.
"""

import argparse
import asyncio
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from examples.demo import counterexamples, invariants, story
from examples.demo.stage import stage
from examples.demo.telling import Telling
from worker.dev.errors import StackError

HELD, BROKEN, INTERRUPTED = 0, 1, 130

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

LONGEST_SECONDS = 150
"""For the whole run; it takes less than a minute unless something hangs."""


def main() -> int:
    """Play in a temporary folder; it is kept, with its logs, when something went wrong."""
    state = Path(tempfile.mkdtemp(prefix="onceward-demo-"))
    code = BROKEN
    try:
        code = asyncio.run(_until_told(state, Telling()))
    except StackError as failure:
        print(f"\n{failure}", file=sys.stderr)
    except TimeoutError:
        print("\nThe demonstration took too long.", file=sys.stderr)
    finally:
        _tidy(state, keep=code == BROKEN)
    return code


def _tidy(state: Path, *, keep: bool) -> None:
    if keep:
        print(f"The logs are in {state / 'logs'}.", file=sys.stderr)
    else:
        shutil.rmtree(state, ignore_errors=True)


async def _until_told(state: Path, telling: Telling) -> int:
    playing = asyncio.create_task(_play(state, telling))
    loop = asyncio.get_running_loop()

    def told() -> None:
        # Once only: a second Ctrl-C must not interrupt the orderly end that the first one asked for.
        for number in ENDINGS:
            loop.add_signal_handler(number, lambda: None)
        telling.note("\nStopping ...")
        playing.cancel()

    for number in ENDINGS:
        loop.add_signal_handler(number, told)
    try:
        return HELD if await playing else BROKEN
    except asyncio.CancelledError:
        telling.note("Stopped; every process that was started has ended.")
        return INTERRUPTED


async def _play(state: Path, telling: Telling) -> bool:
    telling.note("Onceward: at most one effect per approved operation.")
    telling.heading("Starting real servers in a temporary folder")
    async with asyncio.timeout(LONGEST_SECONDS), stage(state, telling) as on:
        await story.tell(on)
        await counterexamples.tell(on)
        await invariants.tell(on)
        telling.note("\nStopping ...")
    return telling.verdict()


if __name__ == "__main__":
    argparse.ArgumentParser(prog="python -m examples.demo", description=__doc__).parse_args()
    sys.exit(main())
