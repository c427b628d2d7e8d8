"""A quiet tenant beside a loud one, as bars of what their turns take: `load.svg`."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from tests.bench.load import Found

COLOURS = ("#b8c4d0", "#6f93b5", "#2f5d8a")
HEIGHT = 0.26


def keep(file: Path, found: Found) -> None:
    """Draw it; letters stay letters, and the same figures give the same file."""
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "onceward"}):
        drawn(found).savefig(file, metadata={"Date": None})


def drawn(found: Found) -> Figure:
    """Three bars for each tenant: what half, 95 and 99 of 100 turns took."""
    rows = {
        f"quiet alone\n{found.quiet_alone.callers} callers": found.quiet_alone,
        f"quiet\n{found.quiet.callers} callers": found.quiet,
        f"loud\n{found.loud.callers} callers": found.loud,
    }
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    axes = figure.subplots()
    for place, (name, colour) in enumerate(zip(("p50", "p95", "p99"), COLOURS, strict=True)):
        seconds = [each.times[place] for each in rows.values()]
        bars = axes.barh([row + (place - 1) * HEIGHT for row in range(len(rows))], seconds, HEIGHT, color=colour)
        bars.set_label(name)
        axes.bar_label(bars, labels=[f"{each:.2f} s" for each in seconds], padding=4)
    axes.set_yticks(range(len(rows)), list(rows))
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("seconds from the first try to the end, all tries together")
    axes.legend(loc="lower right", frameon=False)
    axes.set_title(
        f"Asked for more than it bears: {found.two_workers_per_second:.0f} turns a second with two workers", loc="left"
    )
    return figure
