"""On what it was measured, without saying whose machine it is."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def facts() -> dict[str, Any]:
    """Python, processor and the date."""
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "date": datetime.now(UTC).date().isoformat(),
    }


def load() -> float:
    """Programs that wanted a core within the last minute, on average."""
    return round(os.getloadavg()[0], 2)


def _cpu() -> str:
    """The processor's name as Linux knows it, elsewhere its family."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
