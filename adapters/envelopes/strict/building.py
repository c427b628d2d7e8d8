"""From an original schema to one in a strict subset that takes everything which the original takes.

What bounds values may be left out of it and said instead, for the original judges in the end; what opens or names
fields may not. Where that cannot be had the form is refused.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from adapters.envelopes.strict import words
from adapters.envelopes.strict.bounds import bounds
from adapters.envelopes.strict.choices import Choices
from adapters.envelopes.strict.conditions import narrowing
from adapters.envelopes.strict.dialect import Dialect
from adapters.envelopes.strict.form import Json, Parts, Schemas, refuse
from adapters.envelopes.strict.source import Source, ids
from adapters.envelopes.strict.vocabulary import OF_KIND, SHOWN, annotations, is_closed

MOST_NODES: Final = 20_000
"""Places of a strict form; a schema that grows beyond them when it is written out is refused."""

NULL: Final[Json] = {"type": "null"}
_DEFINITIONS: Final = "#/$defs/"


class Building:
    """Builds one form. To be used inside `counted_steps`."""

    def __init__(self, source: Source, dialect: Dialect) -> None:
        self._source, self._dialect, self._choices = source, dialect, Choices(source)
        self._said: dict[str, dict[str, None]] = {}
        self._left_out: dict[str, None] = {}
        self._open: dict[tuple[int, ...], str] = {}
        self._opened: dict[tuple[int, ...], str] = {}
        self._pointers: dict[tuple[int, ...], str] = {}
        self._definitions: dict[str, Json] = {}
        self._nodes = 0

    def schema(self) -> Json:
        """The strict schema.

        Raises:
            CannotExpress: it would not take everything that the original takes.
        """
        parts = self._source.parts((self._source.root,))
        self._open[ids(parts)] = "#"
        body = self._body(parts, "")
        if body.get("type") != "object":
            refuse("its root is a choice", "")
        return {**body, "$defs": self._definitions} if self._definitions else body

    def said(self) -> tuple[str, ...]:
        """Everything that was left out of the schema, in sentences."""
        how = [words.left_out(self._left_out)] if self._left_out else []
        return (*how, *(words.sentence(place, said) for place, said in self._said.items()))

    # -- places and references

    def _node(self, schemas: Schemas, place: str, above: str) -> Json:
        """The schema of one place, or a reference to it where others refer to it as well."""
        self._count()
        if not self._source.parts(schemas):
            refuse("it names no type", self._source.place(schemas) or above)
        target = self._source.target_alone(schemas)
        if target is None:
            return self._written(self._source.parts(schemas), place, "")
        self._say(place, words.annotations(annotations(schemas)))
        name = schemas[0]["$ref"].rpartition("/")[2]
        return self._written(self._source.parts((target,)), name, name)

    def _written(self, parts: Parts, place: str, name: str) -> Json:
        """A place inside itself becomes a definition too, whether or not it had a name."""
        known = ids(parts)
        if known in self._open:
            return self._back_to(known, parts)
        if known not in self._pointers:
            self._open[known], self._opened[known] = self._new_pointer(name) if name else "", place
            body = self._body(parts, place)
            pointer = self._open.pop(known)
            if not pointer:
                return body
            self._pointers[known], self._definitions[pointer.removeprefix(_DEFINITIONS)] = pointer, body
        return {"$ref": self._pointers[known]}

    def _back_to(self, known: tuple[int, ...], parts: Parts) -> Json:
        if not self._dialect.recursion:
            refuse("it refers to itself", self._source.place(parts))
        self._open[known] = self._open[known] or self._new_pointer(self._opened[known])
        return {"$ref": self._open[known]}

    def _new_pointer(self, name: str) -> str:
        pointer = _DEFINITIONS + (re.sub(r"[^A-Za-z0-9_-]+", "_", name) or "_")
        while pointer in self._open.values() or pointer in self._pointers.values():
            pointer += "_"
        return pointer

    def _count(self) -> None:
        self._nodes += 1
        if self._nodes > MOST_NODES:
            refuse("it is too large when it is written out", "")

    # -- one place

    def _body(self, parts: Parts, place: str) -> Json:
        about = annotations(parts)
        self._say(place, words.annotations(about))
        return self._fitting(parts, place) | {word: about[word] for word in SHOWN if word in about}

    def _fitting(self, parts: Parts, place: str) -> Json:
        values = self._source.literals(parts)
        if values is not None:
            return self._literal(values, parts)
        found = self._source.choice(parts)
        return self._typed(parts, place) if found is None else self._choice(*found, place)

    def _literal(self, values: list[Any], parts: Parts) -> Json:
        if not values:
            refuse("nothing fits it", self._source.place(parts))
        if any(isinstance(value, dict | list) for value in values):
            refuse("it lists whole objects or lists as its values", self._source.place(parts))
        return self._dialect.literal(values)

    def _choice(self, keyword: str, branches: list[Schemas], place: str) -> Json:
        where = self._source.place(branch[-1] for branch in branches)
        forms = self._choices.forms(branches, where)
        if len(forms) == 1:
            return self._body(self._source.parts(forms[0]), place)
        self._require_told_apart(keyword, forms, place, where)
        told_apart = sum(not self._source.is_nullable(form) for form in forms) > 1
        places = [f"{place} (form {at})" if told_apart else place for at, _ in enumerate(forms, 1)]
        nodes = [self._node(form, each, where) for form, each in zip(forms, places, strict=True)]
        return {"anyOf": [each for node in nodes for each in (node["anyOf"] if node.keys() == {"anyOf"} else [node])]}

    def _require_told_apart(self, keyword: str, forms: list[Schemas], place: str, where: str) -> None:
        if keyword == "anyOf":
            self._choices.require_each_alone(forms, where)
        elif not self._choices.are_apart(forms):
            self._say(place, [words.constraint(keyword, None)])
        if self._dialect.every_field:
            self._choices.require_one_reading(forms, where)

    def _typed(self, parts: Parts, place: str) -> Json:
        kinds, where = self._source.types(parts), self._source.place(parts)
        if not kinds:
            refuse("it names no type" if kinds is None else "nothing fits it", where)
        conditions = (
            *self._source.told(parts).values(),
            *narrowing(parts, self._source.fields(parts).speaking.keys(), where),
        )
        self._say(place, map(words.condition, conditions))
        nodes = [self._of_kind(kind, parts, place) for kind in kinds]
        return nodes[0] if len(nodes) == 1 else {"anyOf": nodes}

    def _of_kind(self, kind: str, parts: Parts, place: str) -> Json:
        inner = {"object": self._object, "array": self._list}.get(kind)
        return {"type": kind} | (inner(parts, place) if inner else {}) | self._bounded(kind, parts, place)

    def _bounded(self, kind: str, parts: Parts, place: str) -> Json:
        kept: Json = {}
        for keyword, value in bounds(parts, OF_KIND[kind]):
            if keyword not in kept and self._dialect.keeps(keyword, value):
                kept[keyword] = value
            else:
                self._say(place, [words.constraint(keyword, value)])
        return kept

    # -- what holds other values

    def _object(self, parts: Parts, place: str) -> Json:
        where, fields = self._source.place(parts), self._source.fields(parts)
        _require_closable(parts, where)
        if not fields.required <= fields.speaking.keys():
            refuse("it requires a field that cannot be given", where)
        nodes = {
            name: self._field(schemas, name in fields.required, f"{place}.{name}" if place else name, where)
            for name, schemas in fields.speaking.items()
        }
        required = [name for name in nodes if self._dialect.every_field or name in fields.required]
        return {"properties": nodes, "required": required, "additionalProperties": False}

    def _field(self, schemas: Schemas, is_required: bool, place: str, above: str) -> Json:
        node = self._node(schemas, place, above)
        if is_required or not self._dialect.every_field:
            return node
        if not self._source.is_nullable(schemas):
            self._left_out[place] = None
            return _or_null(node)
        parts = self._source.parts(schemas)
        if not self._dialect.null_is_absence or annotations(parts).get("default", ...) is not None:
            refuse(
                "a field may be left out and may be null, and only one of them could be told",
                self._source.place(schemas),
            )
        return node

    def _list(self, parts: Parts, place: str) -> Json:
        where, items = self._source.place(parts), self._source.items(parts)
        if any(keyword in part for part in parts for keyword in ("prefixItems", "unevaluatedItems")):
            refuse("it has a list whose items differ by their place", where)
        if not items:
            refuse("it has a list whose items may be anything", where)
        return {"items": self._node(items, f"{place}[]", where)}

    def _say(self, place: str, said: Iterable[str]) -> None:
        for each in said:
            self._said.setdefault(place, {})[each] = None


def _require_closable(parts: Parts, where: str) -> None:
    if any(part.get("patternProperties") for part in parts):
        refuse("it names fields by patterns", where)
    if any(part.get("additionalProperties", False) is not False for part in parts):
        refuse("it has a free-form object, which may hold any field", where)
    if any("unevaluatedProperties" in part for part in parts):
        refuse("which fields it takes depends on forms that apply together", where)
    if not any("properties" in part or is_closed(part) for part in parts):
        refuse("it has a free-form object, which may hold any field", where)


def _or_null(node: Json) -> Json:
    shown = {word: node[word] for word in SHOWN if word in node}
    rest = {word: value for word, value in node.items() if word not in shown}
    forms = rest["anyOf"] if rest.keys() == {"anyOf"} else [rest]
    return {"anyOf": [*(form for form in forms if form != NULL), NULL]} | shown
