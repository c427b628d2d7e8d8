"""Which `anyOf` and `oneOf` may be told as a plain `anyOf` of closed forms, and which are told in words."""

from itertools import combinations
from typing import Final

from adapters.envelopes.strict.form import Schemas, refuse
from adapters.envelopes.strict.overlap import Overlap
from adapters.envelopes.strict.source import Source

MOST_FORMS: Final = 100
"""Branches of one choice, each of which is compared with each."""


class Choices:
    """Judges the choices of one original schema. To be used inside `counted_steps`."""

    def __init__(self, source: Source) -> None:
        self._source, self._overlap = source, Overlap(source)

    def forms(self, branches: list[Schemas], place: str) -> list[Schemas]:
        """The branches that anything can fit."""
        forms = [branch for branch in branches if not self._source.is_never(branch)]
        if not forms:
            refuse("nothing fits it", place)
        if len(forms) > MOST_FORMS:
            refuse("it is a choice of too many forms", place)
        return forms

    def are_apart(self, forms: list[Schemas]) -> bool:
        """Whether no value fits two of them."""
        return all(self._overlap.apart(one, other) for one, other in combinations(forms, 2))

    def require_each_alone(self, forms: list[Schemas], place: str) -> None:
        """Refuse forms of which two may name fields of one value together, for a closed form would take neither's."""
        for one, other in combinations(forms, 2):
            alone = self._overlap.is_sealed(one) or self._overlap.is_sealed(other) or self._overlap.apart(one, other)
            if not alone:
                refuse("a value may fit two of its forms and have the fields of both", place)

    def require_one_reading(self, forms: list[Schemas], place: str) -> None:
        """Refuse forms of which one takes a null as a value where another leaves a field out."""
        for one, other in combinations(forms, 2):
            if self._overlap.is_ambiguous(one, other) and not self._overlap.apart(one, other):
                refuse("a null would mean one thing in one of its forms and another in another", place)
