"""What waits costs no memory worth speaking of, as bars: `waiting.svg`."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from tests.bench.waiting import Found

BEFORE, WAITING = "#b8c4d0", "#2f5d8a"
HEIGHT = 0.38


def keep(file: Path, found: Found) -> None:
    """Draw it; letters stay letters, and the same figures give the same file."""
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "onceward"}):
        drawn(found).savefig(file, metadata={"Date": None})


def drawn(found: Found) -> Figure:
    """Two bars for each process: its memory with nothing to do, and with all of them waiting."""
    names, costs = list(found.costs), list(found.costs.values())
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    axes = figure.subplots()
    places = range(len(names))
    before = axes.barh(
        [place - HEIGHT / 2 for place in places], [cost.before_mb for cost in costs], HEIGHT, color=BEFORE
    )
    waiting = axes.barh(
        [place + HEIGHT / 2 for place in places], [cost.waiting_mb for cost in costs], HEIGHT, color=WAITING
    )
    axes.bar_label(before, labels=[f"{cost.before_mb:.0f} MB" for cost in costs], padding=4)
    axes.bar_label(waiting, labels=[f"{cost.waiting_mb:.0f} MB · {cost.idle_waiting:.1%} of a core" for cost in costs],
                   padding=4)  # fmt: skip
    axes.set_yticks(list(places), names)
    axes.invert_yaxis()
    axes.margins(x=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("MB")
    axes.legend([before, waiting], ["nothing waits", f"{found.operations:,} wait"], loc="lower right", frameon=False)
    axes.set_title(f"{found.operations:,} operations that wait for people, held by one worker", loc="left")
    return figure
