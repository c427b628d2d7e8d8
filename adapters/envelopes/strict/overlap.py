"""What two forms of a choice have in common.

Two questions decide whether a choice may be told as `anyOf`. Can one value fit both? If so, either form must admit it
alone, and under either the same nulls must stand for what was left out.
"""

from collections.abc import Iterable
from typing import Any, Final

from adapters.envelopes.strict.form import Parts, Schemas, refuse
from adapters.envelopes.strict.source import Fields, Source, ids
from adapters.envelopes.strict.vocabulary import is_closed, lists
from adapters.outside_schema.keywords import same

MOST_LOOKS: Final = 50_000
"""Pairs of places that are compared."""
DEEPEST_TAG: Final = 4
"""Places inside each other at which two forms are looked at for what tells them apart."""
_EVERY: Final = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})


class Overlap:
    """Compares forms of one original schema; what it cannot prove it denies. To be used inside `counted_steps`."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._looks = 0

    # -- telling apart

    def apart(self, one: Schemas, other: Schemas, depth: int = DEEPEST_TAG) -> bool:
        """Whether it is certain that no value fits both, nulls for fields that were left out included."""
        self._count()
        ours, theirs = self._source.parts(one), self._source.parts(other)
        if any(map(lists, (*ours, *theirs))):
            return self._values_apart(ours, theirs)
        if self._is_choice(ours) or self._is_choice(theirs):
            return all(self.apart(a, b, depth) for a in self._forms(ours) for b in self._forms(theirs))
        common = self._kinds(ours) & self._kinds(theirs)
        return not common or (common == {"object"} and depth > 0 and self._objects_apart(ours, theirs, depth - 1))

    def _values_apart(self, ours: Parts, theirs: Parts) -> bool:
        mine, yours = self._source.literals(ours), self._source.literals(theirs)
        if mine is None or yours is None:
            schemas = theirs if yours is None else ours
            return not any(self._source.fits(schemas, value) for value in yours or mine or [])
        if len(mine) * len(yours) > MOST_LOOKS:
            return False
        return not any(same(a, b) or same(b, a) for a in mine for b in yours)

    def _objects_apart(self, ours: Parts, theirs: Parts, depth: int) -> bool:
        mine, yours = self._source.fields(ours), self._source.fields(theirs)
        if self._lacks(theirs, mine.required) or self._lacks(ours, yours.required):
            return True
        for name in mine.speaking.keys() & yours.speaking.keys() & (mine.required | yours.required):
            a, b = mine.speaking[name], yours.speaking[name]
            absent = (name not in mine.required and self._source.is_nullable(b)) or (
                name not in yours.required and self._source.is_nullable(a)
            )
            if not absent and self.apart(a, b, depth):
                return True
        return False

    def _lacks(self, parts: Parts, names: Iterable[str]) -> bool:
        """Whether a field that must be there on one side cannot be there on the other."""
        return any(is_closed(part) and not part.get("properties", {}).keys() >= set(names) for part in parts)

    def _kinds(self, parts: Parts) -> frozenset[str]:
        kinds = frozenset(self._source.types(parts) or _EVERY)
        return kinds | {"integer"} if "number" in kinds else kinds

    # -- admitting alone

    def is_sealed(self, schemas: Schemas, seen: set[tuple[int, ...]] | None = None) -> bool:
        """Whether what fits these has, at every depth, only fields that these themselves name."""
        seen, parts = set() if seen is None else seen, self._source.parts(schemas)
        if ids(parts) in seen or any(map(lists, parts)):
            return True
        seen.add(ids(parts))
        if self._is_choice(parts):
            return all(self.is_sealed(form, seen) for form in self._forms(parts))
        kinds = self._kinds(parts)
        if "object" in kinds and not any(map(is_closed, parts)):
            return False
        inner = [
            *self._source.fields(parts).speaking.values(),
            *([self._source.items(parts)] if "array" in kinds else []),
        ]
        return all(self.is_sealed(each, seen) for each in inner)

    # -- reading nulls

    def is_ambiguous(self, one: Schemas, other: Schemas, seen: set[Any] | None = None) -> bool:
        """Whether a null that stands for a field left out under one is a value of that field under the other."""
        seen, ours, theirs = set() if seen is None else seen, self._source.parts(one), self._source.parts(other)
        if ids(ours) == ids(theirs) or (ids(ours), ids(theirs)) in seen:
            return False
        self._count()
        seen.add((ids(ours), ids(theirs)))
        if self._is_choice(ours) or self._is_choice(theirs):
            return any(self.is_ambiguous(a, b, seen) for a in self._forms(ours) for b in self._forms(theirs))
        mine, yours = self._source.fields(ours), self._source.fields(theirs)
        shared = mine.speaking.keys() & yours.speaking.keys()
        if any(self._differs(mine, yours, name) or self._differs(yours, mine, name) for name in shared):
            return True
        inner = [(mine.speaking[name], yours.speaking[name]) for name in shared]
        inner.append((self._source.items(ours), self._source.items(theirs)))
        return any(self.is_ambiguous(a, b, seen) for a, b in inner)

    def _differs(self, mine: Fields, yours: Fields, name: str) -> bool:
        stands_for_nothing = name not in mine.required and not self._source.is_nullable(mine.speaking[name])
        return stands_for_nothing and self._source.is_nullable(yours.speaking[name])

    def _count(self) -> None:
        self._looks += 1
        if self._looks > MOST_LOOKS:
            refuse("its choices are too many to be compared", "")

    def _is_choice(self, parts: Parts) -> bool:
        return self._source.choice(parts) is not None

    def _forms(self, parts: Parts) -> list[Schemas]:
        found = self._source.choice(parts)
        return [parts] if found is None else found[1]
