"""Plots laid out: where each bar, line and word stands. The template writes them down as SVG.

Lengths are units of the picture, about a pixel each on a wide screen and less on a narrow one. Colours are classes, so
that the style sheet has them for light, dark and paper; words are plain text that the template makes inert.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from adapters.http.back_office.plots import Bar, Plot

WIDTH: Final = 400
HEIGHT: Final = 198
LEFT, RIGHT, TOP, BOTTOM = 44, 394, 12, 160
"""The field in which upright bars stand."""

NARROW: Final = 90
"""Words below bars that are closer than this stand on two lines in turn, so that none runs into the next."""

GAP: Final = 0.18
"""The part of a bar's place that stays empty."""

LINE: Final = 36
"""The height of one lying bar with its label."""

FOOT: Final = 6

LINE_BELOW: Final = 15
"""From one line of words below the bars to the next."""

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True)
class Box:
    """A part of a bar; `says` is what is told of it when somebody points at it."""

    x: float
    y: float
    width: float
    height: float
    tone: str
    says: str


@dataclass(frozen=True)
class Words:
    """Text whose anchor stands at the point; `count` is a number to be written as the reader's language does."""

    x: float
    y: float
    anchor: Anchor
    text: str = ""
    count: int | None = None


@dataclass(frozen=True)
class Drawing:
    """`levels` are the heights of the horizontal lines; the first is the one that bars stand on."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    words: tuple[Words, ...]
    levels: tuple[float, ...] = ()


def drawn(plot: Plot) -> Drawing:
    """The plot laid out; one in which nothing is counted has no boxes."""
    return _lying(plot) if plot.lying else _upright(plot)


def scale(largest: int) -> int:
    """The end of an axis on which `largest` finds room: 1, 2 or 5 and zeros."""
    step = 1
    while True:
        for factor in (1, 2, 5):
            if factor * step >= largest:
                return factor * step
        step *= 10


def _upright(plot: Plot) -> Drawing:
    top = scale(max((bar.total for bar in plot.bars), default=0))
    marks = (0, top) if top == 1 else (0, top // 2, top) if top % 2 == 0 else (0, top)
    levels = tuple(_height(mark, top) for mark in marks)
    figures = tuple(Words(LEFT - 6, level + 4, "end", count=mark) for mark, level in zip(marks, levels, strict=True))
    return Drawing(WIDTH, HEIGHT, tuple(_standing_boxes(plot, top)), (*figures, *_ticks(plot)), levels)


def _standing_boxes(plot: Plot, top: int) -> Iterator[Box]:
    place = (RIGHT - LEFT) / len(plot.bars)
    for number, bar in enumerate(plot.bars):
        below = 0
        for series, count in zip(plot.series, bar.numbers, strict=True):
            if count:
                upper = _height(below + count, top)
                yield Box(
                    _round(LEFT + place * (number + GAP / 2)),
                    upper,
                    _round(place * (1 - GAP)),
                    _round(_height(below, top) - upper),
                    series.tone,
                    _says(bar, series.name),
                )
            below += count


def _ticks(plot: Plot) -> Iterator[Words]:
    place = (RIGHT - LEFT) / len(plot.bars)
    ticked = [(number, bar.tick) for number, bar in enumerate(plot.bars) if bar.tick]
    crowded = (RIGHT - LEFT) / max(len(ticked), 1) < NARROW
    for turn, (number, tick) in enumerate(ticked):
        lower = LINE_BELOW if crowded and turn % 2 else 0
        yield Words(_round(LEFT + place * (number + 0.5)), BOTTOM + 16 + lower, "middle", tick)


def _lying(plot: Plot) -> Drawing:
    longest = max((bar.total for bar in plot.bars), default=1) or 1
    boxes, words = [], []
    for line, bar in enumerate(plot.bars):
        y, length = line * LINE, _round((RIGHT - LEFT) * bar.total / longest)
        words.append(Words(0, y + 13, "start", bar.label))
        words.append(Words(length + 6, y + 29, "start", count=bar.total))
        boxes.append(Box(0, y + 19, length, 12, plot.series[0].tone, _says(bar, plot.series[0].name)))
    return Drawing(WIDTH, len(plot.bars) * LINE + FOOT, tuple(boxes), tuple(words))


def _height(count: int, top: int) -> float:
    return _round(BOTTOM - (BOTTOM - TOP) * count / top)


def _says(bar: Bar, series: str) -> str:
    return f"{bar.label}: {series}"


def _round(length: float) -> float:
    return round(length, 2)
