"""`python -m tests.conformance`: run the official suite and hosts of other makers; the last line is the verdict."""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.conformance import hosts, suite
from tests.conformance.gateway import open_gateway
from tests.conformance.workshop import NODE, SUITE, Workshop
from tests.support.onceward import Onceward
from worker.dev.stack import Stack

REVISIONS = ("2026-07-28", "2025-11-25")

TOOLS = "adapters.tools.payments,tests.conformance.tools"

HEADING = """\
| leg | revision | applicable scenarios passed | not applicable | checks passed | not scored, passed |
| --- | --- | --- | --- | --- | --- |"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything; 0 when nothing falls short."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("--verbose", action="store_true", help="show all that the suite says")
    chosen = parser.parse_args(arguments)
    os.environ["ONCEWARD_TOOLS"] = TOOLS
    workshop = Workshop()
    workshop.set_up()
    runs, seen = asyncio.run(_measured(workshop))
    short = [run for run in runs if not run.passed]
    for run in runs if chosen.verbose else short:
        print(run.said)
    print(f"{SUITE} on {NODE}", "", HEADING, *(run.row for run in runs), "", sep="\n")
    for name, came in seen.items():
        print(f"{name} {'lists and calls our tools' if came else 'DOES NOT list and call our tools'}")
    falls_short = bool(short) or not all(seen.values())
    print("make conformance: FAILED" if falls_short else "make conformance: passed")
    return 1 if falls_short else 0


async def _measured(workshop: Workshop) -> tuple[list[suite.Run], dict[str, bool]]:
    with tempfile.TemporaryDirectory() as folder:
        async with Stack(Path(folder), restart=False) as stack, Onceward.connected(stack) as onceward:
            async with open_gateway(stack.links.door, onceward.token) as url:
                servers = [await asyncio.to_thread(suite.server, workshop, each, url) for each in REVISIONS]
            seen = await hosts.seen_by(workshop, onceward)
    clients = [await asyncio.to_thread(suite.client, workshop, each) for each in REVISIONS]
    return [*servers, *clients], seen


if __name__ == "__main__":
    sys.exit(main())
