"""The figures as plots: what stands on each axis, and the bars with their numbers, in the reader's language."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

from adapters.http.back_office import dashboard_words as said
from adapters.http.back_office import words
from adapters.http.back_office.dashboard_ports import MOST_AGAIN, MOST_EFFECTS, End, Figures, Span
from adapters.http.back_office.figures import day, hour, hour_of_day, number
from adapters.http.back_office.languages import Language
from workflows.domain.approval import Choice
from workflows.domain.gate import Layer
from workflows.domain.lifecycle import ENDS, State

BARS_PER_TICK: Final[Mapping[Span, int]] = {Span.DAY: 6, Span.WEEK: 4}
"""Every so many bars of the time line one has its time written below."""

TONES: Final[Mapping[State, str]] = {
    State.PROPOSED: "quiet",
    State.AWAITING_APPROVAL: "wait",
    State.STARTED: "busy",
    State.UNCONFIRMED: "doubt",
    State.MANUAL_REVIEW: "bad",
}
"""Of open states; the tones of their chips are fewer, and here they stand on one another."""

T = TypeVar("T")


@dataclass(frozen=True)
class Series:
    """What one colour stands for; `tone` is a class of the style sheet."""

    name: str
    tone: str


@dataclass(frozen=True)
class Bar:
    """`numbers` has one for each series; `tick` is what is written at the axis, empty where nothing is."""

    label: str
    numbers: tuple[int, ...]
    tick: str

    @property
    def total(self) -> int:
        """The whole bar."""
        return sum(self.numbers)


@dataclass(frozen=True)
class Plot:
    """One plot. `unit` says what is counted, `axis` what the bars are; a `lying` one has a bar in each line."""

    key: str
    title: str
    unit: str
    axis: str
    series: tuple[Series, ...]
    bars: tuple[Bar, ...]
    lying: bool = False

    @property
    def total(self) -> int:
        """Everything that is counted."""
        return sum(bar.total for bar in self.bars)

    @property
    def largest(self) -> Bar | None:
        """The first of the longest bars; None where nothing is counted."""
        return max(self.bars, key=lambda bar: bar.total, default=None) if self.total else None


def plots_of(figures: Figures, span: Span, language: Language) -> list[Plot]:
    """Every plot of the page, in its order."""
    _ = language.gettext
    return [
        _ends(figures, span, language),
        _ages(figures, language),
        _decisions(figures, language),
        _effects(figures, language),
        _again("sends", _("Sends beyond the first"), _("further sends of one effect"), figures.sends_again, language),
        _again("claims", _("Takeovers"), _("further claims of one effect"), figures.claims_again, language),
        _refusals(figures, language),
        _corrections(figures, language),
    ]


def _ends(figures: Figures, span: Span, language: Language) -> Plot:
    _, starts = language.gettext, [figures.begin + place * span.step for place in range(span.bars)]
    written: Callable[[datetime, Language], str] = hour_of_day if span is Span.DAY else day
    bars = [
        Bar(
            hour(start, language),
            tuple(figures.ends.get((start, end), 0) for end in End),
            "" if place % BARS_PER_TICK[span] else written(start, language),
        )
        for place, start in enumerate(starts)
    ]
    title = _("Operations per hour, by how they ended")
    if span is Span.WEEK:
        title = _("Operations per six hours, by how they ended")
    series = _series((said.ENDS[end] for end in End), language)
    return Plot("ends", title, _("operations"), _("start of the bar"), series, tuple(bars))


def _ages(figures: Figures, language: Language) -> Plot:
    _, states = language.gettext, [state for state in State if state not in ENDS]
    series = _series(((TONES[state], words.OPERATIONS[state].chip) for state in states), language)
    bars = _places(said.AGES, states, figures.ages, language)
    return Plot("ages", _("Age of what is open"), _("operations"), _("time in its state"), series, bars)


def _decisions(figures: Figures, language: Language) -> Plot:
    _ = language.gettext
    series = _series((said.CHOICES[choice] for choice in Choice), language)
    bars = _places(said.TIMES_TO_DECIDE, list(Choice), figures.decisions, language)
    title = _("Time from a question to a decision")
    return Plot("decisions", title, _("decisions"), _("time after the question"), series, bars)


def _effects(figures: Figures, language: Language) -> Plot:
    """What must never be has a colour of its own, so that a single one is seen."""
    _ = language.gettext
    series = (Series(_("At most one"), "good"), Series(_("More than one"), "bad"))
    bars = [
        Bar(label, (0, counted) if many else (counted, 0), label)
        for label, counted, many in (
            (_or_more(place, MOST_EFFECTS, language), figures.effects.get(place, 0), place > 1)
            for place in range(MOST_EFFECTS + 1)
        )
    ]
    title, axis = _("Effects per operation, or per item of a batch"), _("effects on record")
    return Plot("effects", title, _("claims of ended operations"), axis, series, tuple(bars))


def _again(key: str, title: str, axis: str, counted: Mapping[int, int], language: Language) -> Plot:
    _ = language.gettext
    labels = [_or_more(place, MOST_AGAIN, language) for place in range(MOST_AGAIN + 1)]
    bars = tuple(Bar(label, (counted.get(place, 0),), label) for place, label in enumerate(labels))
    return Plot(key, title, _("claims of ended operations"), axis, (Series(_("Claims"), "busy"),), bars)


def _refusals(figures: Figures, language: Language) -> Plot:
    _ = language.gettext

    def name(refused: tuple[Layer, str]) -> str:
        layer, code = refused
        return f"{_(words.LAYERS[layer])} · {code}"

    bars = _lines(figures.refusals, name, figures.other_refusals, language)
    series = (Series(_("Refusals"), "wait"),)
    return Plot(
        "refusals", _("Refusals by layer and code"), _("refusals"), _("layer and code"), series, bars, lying=True
    )


def _corrections(figures: Figures, language: Language) -> Plot:
    _ = language.gettext
    bars = _lines(figures.corrections, str, figures.other_corrections, language)
    title, series = _("Calls sent back to be corrected, by tool"), (Series(_("Corrections"), "wait"),)
    return Plot("corrections", title, _("calls"), _("tool"), series, bars, lying=True)


def _series(named: Iterable[tuple[str, str]], language: Language) -> tuple[Series, ...]:
    return tuple(Series(language.gettext(name), tone) for tone, name in named)


def _places(
    labels: Sequence[str], kinds: Sequence[T], counted: Mapping[tuple[int, T], int], language: Language
) -> tuple[Bar, ...]:
    said_labels = [language.gettext(label) for label in labels]
    return tuple(
        Bar(label, tuple(counted.get((place, kind), 0) for kind in kinds), label)
        for place, label in enumerate(said_labels)
    )


def _lines(counted: Mapping[T, int], name: Callable[[T], str], others: int, language: Language) -> tuple[Bar, ...]:
    return tuple(_lines_of(counted, name, others, language))


def _lines_of(counted: Mapping[T, int], name: Callable[[T], str], others: int, language: Language) -> Iterator[Bar]:
    for kind, many in counted.items():
        yield Bar(name(kind), (many,), name(kind))
    if others:
        rest = language.gettext("All others")
        yield Bar(rest, (others,), rest)


def _or_more(place: int, most: int, language: Language) -> str:
    written = number(place, language)
    return language.gettext("%(number)s or more") % {"number": written} if place == most else written
