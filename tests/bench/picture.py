"""The parts of a whole as bars, in their order: `<contest>.svg`."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from tests.bench.measuring import Contest, Group, Timings, rest

INCH_A_BAR = 0.36
BAR, REST = "#2f5d8a", "#b8c4d0"


def keep(folder: Path, contest: Contest, timings: Timings) -> None:
    """Draw each group that is made of parts; a contest without one has no picture."""
    for group in contest.groups:
        if group.parts:
            # Letters stay letters, and the same figures give the same file.
            with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "onceward"}):
                drawn(group, timings).savefig(folder / f"{contest.name}.svg", metadata={"Date": None})


def drawn(group: Group, timings: Timings) -> Figure:
    """One bar for each part, in microseconds with its share, and one for what is left."""
    names = [*(part.name for part in group.contestants), "everything else"]
    times = [*(timings[part.name].p50 / 1000 for part in group.contestants), rest(group, timings) / 1000]
    whole = timings[group.whole].p50 / 1000
    figure = Figure(figsize=(8, 1.1 + INCH_A_BAR * len(names)), layout="constrained")
    axes = figure.subplots()
    bars = axes.barh(names, times, color=[*[BAR] * len(group.contestants), REST])
    axes.bar_label(bars, labels=_labels(times, whole), padding=4)
    axes.invert_yaxis()
    axes.margins(x=0.16)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("µs, p50")
    axes.set_title(f"{group.title}: {whole:.0f} µs in all", loc="left")
    return figure


def _labels(times: Sequence[float], whole: float) -> list[str]:
    return [f"{time:.0f} µs · {time / whole:.0%}" for time in times]
