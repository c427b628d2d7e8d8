"""What the executor itself says of its database: `worker verify`, run as anybody would run it."""

import asyncio
import json
import sys

from tests.chaos.evidence import Audit
from worker.dev.layout import ROOT
from worker.dev.stack import Stack


async def audited(stack: Stack, moment: str) -> Audit:
    """Run it and wait for its verdict."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "worker", "verify", "--json"),
        cwd=ROOT,
        env=stack.environment("worker"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    told, failure = await process.communicate()
    code = process.returncode or 0
    try:
        figures = json.loads(told)
    except json.JSONDecodeError:
        return Audit(moment, code, failure.decode(errors="replace").strip())
    broken = (f"{each['name']}: {', '.join(each['examples'])}" for each in figures["invariants"] if not each["holds"])
    return Audit(moment, code, str(figures["verdict"]), tuple(broken))
