"""A process whose event loop hangs ends itself; one that is merely slow, or was stopped as a whole, does not."""

import subprocess
import sys

from worker.dev.layout import ROOT
from worker.stillness import EXIT_CODE, Pulse

HANGS = """
import asyncio, time
from worker.stillness import Pulse, ends_when_still

def waits_for_ever_in_the_loop():
    time.sleep(600)

async def main():
    async with ends_when_still(Pulse(looks=2)):
        await asyncio.sleep(0)
        waits_for_ever_in_the_loop()

asyncio.run(main())
"""

ENDS_WELL = """
import asyncio
from worker.stillness import Pulse, ends_when_still

async def main():
    async with ends_when_still(Pulse(looks=1)):
        await asyncio.sleep(0)
    print("done")

asyncio.run(main())
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_a_process_whose_loop_hangs_ends_and_says_where_it_stood() -> None:
    ended = run(HANGS)
    assert ended.returncode == EXIT_CODE
    assert "waits_for_ever_in_the_loop" in ended.stderr


def test_a_process_that_has_done_its_work_is_left_alone() -> None:
    ended = run(ENDS_WELL)
    assert (ended.returncode, ended.stdout) == (0, "done\n")


def test_only_looks_in_succession_at_which_nothing_has_moved_count() -> None:
    pulse = Pulse(looks=2)
    seen = [pulse.has_stopped()]
    pulse.beat()
    seen += [pulse.has_stopped() for _ in range(3)]
    assert seen == [False, False, False, True]
