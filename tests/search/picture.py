"""Recall of each group as bars: `recall.svg`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tests.search.measuring import PLACES, Figures
from tests.search.report import TARGET

COLOURS: Final = ("#b8c4d0", "#7d9bb8", "#2f5d8a")
THICKNESS: Final = 0.27


def keep(folder: Path, groups: Mapping[str, Figures]) -> None:
    """Draw it; the same figures give the same file."""
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "onceward"}):
        drawn(groups).savefig(folder / "recall.svg", metadata={"Date": None})


def drawn(groups: Mapping[str, Figures]) -> Figure:
    """Three bars for each group, the target as a line."""
    figure = Figure(figsize=(8, 1.2 + 0.62 * len(groups)), layout="constrained")
    axes = figure.subplots()
    for place, (places, colour) in enumerate(zip(PLACES, COLOURS, strict=True)):
        shares = [each.recall[places] for each in groups.values()]
        bars = axes.barh([row + place * THICKNESS for row in range(len(groups))], shares, THICKNESS, color=colour)
        bars.set_label(f"among the first {places}" if places > 1 else "in the first place")
        axes.bar_label(bars, fmt="%.2f", padding=3, fontsize=8)
    axes.axvline(TARGET, color="#b4452f", linewidth=1, linestyle="--", label=f"target {TARGET}")
    _labelled(axes, groups)
    return figure


def _labelled(axes: Axes, groups: Mapping[str, Figures]) -> None:
    axes.set_yticks([row + THICKNESS for row in range(len(groups))])
    axes.set_yticklabels([f"{name} ({each.queries})" for name, each in groups.items()])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.08)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title("Share of the right tools that is found", loc="left")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=4, frameon=False, fontsize=8)
