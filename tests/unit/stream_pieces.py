"""Any legal way of cutting a text or a list into the pieces of a stream."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from adapters import strict_json

Json = dict[str, Any]

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
NAMES = st.sampled_from(["get_weather", "get_stock", "get_news"])
ARGUMENTS = st.dictionaries(TEXTS, st.integers() | TEXTS | st.none() | st.lists(TEXTS, max_size=2), max_size=3)


@st.composite
def pieces_of(draw: st.DrawFn, text: str) -> list[str]:
    """`text` in pieces, some of them empty."""
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    return [text[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@st.composite
def mixed(draw: st.DrawFn, sequences: Sequence[Sequence[Any]]) -> list[Any]:
    """All items of the sequences, each sequence in its own order."""
    turns = draw(st.permutations([number for number, items in enumerate(sequences) for _ in items]))
    waiting = [iter(items) for items in sequences]
    return [next(waiting[number]) for number in turns]


def json_text(value: Any) -> str:
    return strict_json.dump(value)
