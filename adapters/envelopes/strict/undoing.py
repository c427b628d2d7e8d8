"""Arguments given under a strict form in which every field must be given, brought back to the original's meaning.

A null is taken out where it stands for a field that was left out: where the original lets the field be left out and
does not take null for it. Everything else stays as it is, a null that the original takes included: it may mean
"clear". Of a choice the form is meant that the original takes; where several are, and they read the nulls differently,
nothing is taken out of this value, and the validation decides.
"""

from collections.abc import Iterator
from typing import Any, Final

from adapters.envelopes.strict.form import Parts, Schemas
from adapters.envelopes.strict.source import Source, ids
from adapters.envelopes.strict.vocabulary import is_closed, listed_values, lists
from adapters.outside_schema.keywords import TooMuchWork, counted_steps, same

MOST_VISITS: Final = 500_000
"""Objects and lists looked at, more than one megabyte of arguments has."""


def undone(schema: Any, arguments: Any) -> Any:
    """Return what `arguments` mean under the original `schema`; neither is changed.

    Raises:
        InvalidConfiguration: `invalid_tool_schema`.
    """
    return Undoing(Source(schema)).undone(arguments)


class Undoing:
    """Undoes the strict form of one original schema, in time that is linear in the arguments.

    Only where it takes a validation to see which form of a choice is meant is there more work; where that is more than
    the validation of any call is allowed, the arguments stay as they are.
    """

    def __init__(self, source: Source) -> None:
        self._source = source

    def undone(self, arguments: Any) -> Any:
        """Return what the arguments mean under the original; they are not changed."""
        try:
            with counted_steps():
                return _Pass(self._source).value((self._source.root,), arguments)
        except (TooMuchWork, RecursionError):
            return arguments


class _Pass:
    """One walk over one call's arguments."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._seen: dict[tuple[tuple[int, ...], int], Any] = {}
        self._visits = 0

    def value(self, schemas: Schemas, given: Any) -> Any:
        """What the value means at a place where these schemas apply."""
        if not isinstance(given, dict | list):
            return given
        parts = self._source.parts(schemas)
        known = (ids(parts), id(given))
        if known not in self._seen:
            self._count()
            self._seen[known] = self._container(parts, given)
        return self._seen[known]

    def _count(self) -> None:
        self._visits += 1
        if self._visits > MOST_VISITS:
            raise TooMuchWork

    def _container(self, parts: Parts, given: Any) -> Any:
        choice = self._source.choice(parts)
        if choice is not None:
            return self._chosen(choice[1], given)
        if isinstance(given, dict):
            return dict(self._fields(parts, given))
        items = self._source.items(parts)
        return [self.value(items, item) for item in given]

    def _fields(self, parts: Parts, given: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        fields = self._source.fields(parts)
        for name, value in given.items():
            schemas = fields.speaking.get(name)
            if schemas is None:
                yield name, value
            elif value is not None or name in fields.required or self._source.is_nullable(schemas):
                yield name, self.value(schemas, value)

    def _chosen(self, forms: list[Schemas], given: Any) -> Any:
        meant = [form for form in forms if not self._is_ruled_out(self._source.parts(form), given)]
        readings = [(form, self.value(form, given)) for form in meant]
        if len(readings) > 1:
            readings = [(form, value) for form, value in readings if self._source.fits(form, value)]
        values = [value for _, value in readings]
        return values[0] if values and all(value == values[0] for value in values) else given

    def _is_ruled_out(self, parts: Parts, given: Any) -> bool:
        """Whether the form is another one: cheap, and never wrong when it says so."""
        kinds = self._source.types(parts)
        if kinds is not None and ("object" if isinstance(given, dict) else "array") not in kinds:
            return True
        return isinstance(given, dict) and (self._has_other_fields(parts, given) or self._has_other_tag(parts, given))

    def _has_other_fields(self, parts: Parts, given: dict[str, Any]) -> bool:
        missing = self._source.fields(parts).required - given.keys()
        return bool(missing) or any(
            is_closed(part) and not given.keys() <= part.get("properties", {}).keys() for part in parts
        )

    def _has_other_tag(self, parts: Parts, given: dict[str, Any]) -> bool:
        for name, schemas in self._source.fields(parts).speaking.items():
            value = given.get(name)
            if isinstance(value, str | int) and not _is_listed(self._source.parts(schemas), value):
                return True
        return False


def _is_listed(parts: Parts, value: Any) -> bool:
    """Whether each part that lists its values lists this one."""
    return all(any(same(each, value) for each in listed_values(part)) for part in parts if lists(part))
