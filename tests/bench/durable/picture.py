"""Latency and throughput of everyone as multiples of the baseline, side by side, with the targets: `durable.svg`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tests.bench.durable import contestants
from tests.bench.durable.figures import Found, Measured, more, slower
from tests.bench.durable.judging import FEWEST, PROVIDER_MS, SLOWEST, baseline

SHOWN: Final = (
    contestants.EMPTY,
    contestants.OPERATION,
    contestants.DOOR,
    contestants.APPROVED,
    contestants.NAIVE,
    contestants.DBOS,
    contestants.RESTATE,
    contestants.STEPS,
    contestants.NOTHING,
    contestants.READ,
    contestants.READS,
)
"""From top to bottom: what is compared with an empty workflow, then what is compared with an empty activity."""

BASELINES: Final = frozenset({contestants.EMPTY, contestants.NOTHING})

BASE, OURS, OTHERS, TARGET = "#b8c4d0", "#2f5d8a", "#7d93a8", "#c0392b"
INCH_A_BAR = 0.42


def keep(file: Path, found: Found) -> None:
    """Draw it; letters stay letters, and the same figures give the same file."""
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "onceward"}):
        drawn(found).savefig(file, metadata={"Date": None})


def drawn(found: Found) -> Figure:
    """Two panels with one bar for each contestant."""
    shown = [found[name] for name in SHOWN]
    figure = Figure(figsize=(12, 1.7 + INCH_A_BAR * len(shown)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    _panel(left, shown, lambda each: _latency(each, found), SLOWEST)
    _panel(right, shown, lambda each: (more(each, found[baseline(each.name)]), f"{each.per_second:.0f}/s"), FEWEST)
    left.set_title("p50 with one caller: shorter is faster", loc="left", fontsize=10)
    right.set_title("calls a second with 16 callers: longer is more", loc="left", fontsize=10)
    left.set_yticks(range(len(shown)), [each.name for each in shown])
    left.invert_yaxis()
    figure.suptitle("What a durable operation costs, as multiples of an empty workflow (of reads: an empty activity)")
    return figure


def _latency(each: Measured, found: Found) -> tuple[float, str]:
    """Without the provider's time, which the baselines do not have."""
    waited = 0.0 if each.name in BASELINES else PROVIDER_MS
    return slower(each, found[baseline(each.name)], waited), f"{each.told.p50:.0f} ms"


def _panel(
    axes: Axes,
    shown: Sequence[Measured],
    value: Callable[[Measured], tuple[float, str]],
    targets: Mapping[str, float],
) -> None:
    values = [value(each) for each in shown]
    axes.barh(range(len(shown)), [ratio for ratio, _ in values], color=[_color(each.name) for each in shown])
    axes.axvline(1.0, color=BASE, linewidth=1, zorder=0)
    axes.axhline(SHOWN.index(contestants.NOTHING) - 0.5, color=BASE, linewidth=1, linestyle=":", zorder=0)
    for place, (each, (ratio, words)) in enumerate(zip(shown, values, strict=True)):
        target = targets.get(each.name, 0.0)
        if target:
            axes.plot([target] * 2, [place - 0.44, place + 0.44], color=TARGET, linewidth=2.5)
        beyond = (max(ratio, target), place)
        axes.annotate(f"{ratio:.2f} ×  ·  {words}", beyond, (6, 0), textcoords="offset points", va="center", fontsize=9)
    axes.legend([Line2D([], [], color=TARGET, linewidth=2.5)], ["target"], loc="lower right", frameon=False)
    axes.set_xlabel("multiple of the baseline")
    axes.set_xlim(0, 1.35 * max(ratio for ratio, _ in values))
    axes.spines[["top", "right"]].set_visible(False)


def _color(name: str) -> str:
    if name in BASELINES:
        return BASE
    return OURS if name.startswith("Onceward") else OTHERS
