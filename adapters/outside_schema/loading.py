"""What a schema must be so that it can be held strictly; anything else is refused when it is loaded."""

from collections.abc import Iterator
from types import MappingProxyType
from typing import Any, Final, NoReturn

from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from adapters import strict_json
from adapters.outside_schema.formats import NOT_HELD
from adapters.outside_schema.keywords import NAMING
from adapters.outside_schema.patterns import PatternRefused, pattern
from adapters.outside_schema.places import IN_PLACE_ONE, each_schema, inside, of_inner_values, walked
from workflows.domain.errors import InvalidConfiguration

LARGEST_SCHEMA: Final = 256 * 1024
"""Bytes of one tool's schema."""

LONGEST_CHAIN: Final = 64
"""Schemas that speak of one value through each other; as deep as strict JSON may be, so only references make more."""

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
OLDER_DIALECTS: Final = frozenset(
    {"http://json-schema.org/draft-07/schema", "https://json-schema.org/draft/2019-09/schema"}
)
"""Taken as long as a schema uses nothing that 2020-12 reads otherwise."""

NOT_ALONE: Final = frozenset({"$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary"})
OTHER_DIALECTS: Final = frozenset({"nullable", "dependencies", "additionalItems", "divisibleBy", "extends", "disallow"})
"""Assertions of other dialects, which 2020-12 would pass over in silence."""
BESIDE_AN_OLD_REF: Final = frozenset({"$ref", "title", "description", "default", "examples", "$comment", "deprecated"})


def loaded(schema: Any, *, free_form: bool) -> dict[str, Any]:
    """Return the schema as it is used: exact numbers, no dialect of its own.

    Raises:
        InvalidConfiguration: `invalid_tool_schema`.
    """
    exact = _exact(schema)
    if not isinstance(exact, dict) or exact.get("type") != "object":
        unfit("its root must be of the type object")
    older = _is_older(exact.pop("$schema", DIALECT))
    _require_valid(exact)
    Reading(exact, older=older, free_form=free_form).require()
    return exact


def unfit(reason: str, place: str = "") -> NoReturn:
    """Raise `invalid_tool_schema`; `place` is a JSON Pointer into the schema."""
    where = f" (at {place[:200]})" if place else ""
    raise InvalidConfiguration(f"A tool's schema cannot be held strictly: {reason}{where}.", "invalid_tool_schema")


def _exact(schema: Any) -> Any:
    try:
        return strict_json.exact(schema, limit=LARGEST_SCHEMA)
    except (strict_json.StrictJsonError, RecursionError):
        unfit("it is no strict JSON, or it is too large or too deep")


def _is_older(dialect: Any) -> bool:
    name = dialect.removesuffix("#") if isinstance(dialect, str) else ""
    if name == DIALECT:
        return False
    if name in OLDER_DIALECTS:
        return True
    unfit("its dialect is not JSON Schema 2020-12")


def _require_valid(schema: dict[str, Any]) -> None:
    # Not `check_schema`, which would ask Python's own engine about patterns.
    error = next(Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema), None)
    if error is not None:
        unfit("it is no valid schema", "".join(f"/{step}" for step in error.absolute_path))


class Reading:
    """One walk over every schema inside a schema."""

    def __init__(self, root: dict[str, Any], *, older: bool, free_form: bool) -> None:
        self._root, self._older, self._free_form = root, older, free_form
        self._resolver = Registry().resolver_with_root(DRAFT202012.create_resource(root))
        self._permitted: dict[tuple[int, str], bool] = {}
        self._declared: dict[tuple[int, str], bool] = {}

    def require(self) -> None:
        """Refuse what cannot be held strictly."""
        for schema, place in walked(self._root, self._referred_and_inside):
            self._require_each(schema, place)
        self._require_chains()
        if not self._free_form:
            self._require_closable(self._root, "")
            for schema, place in walked(self._root, self._in_place_and_inside):
                for step, inner in of_inner_values(schema):
                    self._require_closable(inner, f"{place}/{step}")

    # -- each schema by itself

    def _require_each(self, schema: dict[str, Any], place: str) -> None:
        self._require_plain(schema, place)
        for source in (*schema.get("patternProperties", {}), *([schema["pattern"]] if "pattern" in schema else [])):
            _require_pattern(source, place)
        if schema.get("format") in NOT_HELD:
            unfit(f"the format {schema['format']} is not checked here", place)

    def _referred_and_inside(self, schema: dict[str, Any], place: str) -> Iterator[tuple[str, Any]]:
        if "$ref" in schema:
            yield f"{place}/$ref", self.target(schema, place)
        yield from ((f"{place}/{step}", inner) for step, inner in inside(schema))

    def _require_plain(self, schema: dict[str, Any], place: str) -> None:
        if place and not {"$id", "$schema"}.isdisjoint(schema):
            unfit("a schema inside it has an identity or a dialect of its own", place)
        if not NOT_ALONE.isdisjoint(schema):
            unfit("it refers to what depends on where it is read from", place)
        if not OTHER_DIALECTS.isdisjoint(schema):
            unfit("it has a keyword of another dialect", place)
        if self._older and "$ref" in schema and not schema.keys() <= BESIDE_AN_OLD_REF:
            unfit("its dialect passes over what stands beside $ref", place)

    def target(self, schema: dict[str, Any], place: str = "") -> Any:
        """The schema that `$ref` names, which must stand in the same document."""
        if not schema["$ref"].startswith("#"):
            unfit("$ref leads out of it", place)
        try:
            found = self._resolver.lookup(schema["$ref"]).contents
        except Unresolvable:
            unfit("$ref leads nowhere", place)
        if not isinstance(found, dict | bool):
            unfit("$ref leads to no schema", place)
        return found

    # -- references

    def _require_chains(self) -> None:
        """A chain of references that comes back to itself without a step into the value would never end.

        One that is merely long would end each call at the limit of Python's stack.
        """
        lengths: dict[int, int] = {}
        for schema in each_schema(self._root):
            self._chain(schema, (), lengths)

    def _chain(self, schema: Any, under: tuple[int, ...], lengths: dict[int, int]) -> int:
        """How many schemas speak of one value from this one on, each through the one before."""
        if not isinstance(schema, dict):
            return 0
        if id(schema) in under:
            unfit("$ref comes back to itself")
        if id(schema) not in lengths:
            asked = [schema[keyword] for keyword in ("not", "if") if keyword in schema]
            following = (*self._conjuncts(schema), *_alternatives(schema), *_conditional(schema), *asked)
            below = (*under, id(schema))
            _require_short(len(below))
            lengths[id(schema)] = 1 + max((self._chain(each, below, lengths) for each in following), default=0)
        _require_short(len(under) + lengths[id(schema)])
        return lengths[id(schema)]

    # -- closing

    def _require_closable(self, schema: Any, place: str) -> None:
        """Refuse a place that may hold an object or a list of which nothing is said."""
        if self._permits(schema, "object") and not self._declares(schema, "object"):
            unfit("it has a free-form object, which may hold anything", place)
        if self._permits(schema, "array") and not self._declares(schema, "array"):
            unfit("it has a list whose items may be anything", place)

    def _in_place_and_inside(self, schema: dict[str, Any], place: str) -> Iterator[tuple[str, Any]]:
        yield from ((f"{place}/{step}", inner) for step, inner in of_inner_values(schema))
        in_place = (*self._conjuncts(schema), *_alternatives(schema), *_conditional(schema))
        yield from ((place, each) for each in in_place)

    def _permits(self, schema: Any, kind: str) -> bool:
        if not isinstance(schema, dict):
            return bool(schema)
        if (id(schema), kind) not in self._permitted:
            self._permitted[id(schema), kind] = self._is_permitted(schema, kind)
        return self._permitted[id(schema), kind]

    def _is_permitted(self, schema: dict[str, Any], kind: str) -> bool:
        types = schema.get("type", kind)
        if kind not in ([types] if isinstance(types, str) else types) or "enum" in schema or "const" in schema:
            return False
        return all(self._permits(each, kind) for each in self._conjuncts(schema)) and all(
            any(self._permits(each, kind) for each in choice) for choice in _choices(schema)
        )

    def _declares(self, schema: Any, kind: str) -> bool:
        if not isinstance(schema, dict):
            return False
        if (id(schema), kind) not in self._declared:
            self._declared[id(schema), kind] = self._is_declared(schema, kind)
        return self._declared[id(schema), kind]

    def _is_declared(self, schema: dict[str, Any], kind: str) -> bool:
        return (
            DECLARING[kind](schema)
            or any(self._declares(each, kind) for each in self._conjuncts(schema))
            or any(
                all(self._declares(each, kind) for each in choice if self._permits(each, kind))
                for choice in _choices(schema)
            )
        )

    def _conjuncts(self, schema: dict[str, Any]) -> list[Any]:
        return [*([self.target(schema)] if "$ref" in schema else []), *schema.get("allOf", [])]


def _require_short(length: int) -> None:
    if length > LONGEST_CHAIN:
        unfit("a chain of references in it is too long")


def _choices(schema: dict[str, Any]) -> list[list[Any]]:
    return [schema[keyword] for keyword in ("anyOf", "oneOf") if keyword in schema]


def _alternatives(schema: dict[str, Any]) -> list[Any]:
    return [each for choice in _choices(schema) for each in choice]


def _conditional(schema: dict[str, Any]) -> list[Any]:
    chosen = [schema[keyword] for keyword in IN_PLACE_ONE if keyword in schema and "if" in schema]
    return [*chosen, *schema.get("dependentSchemas", {}).values()]


def _names_fields(schema: dict[str, Any]) -> bool:
    return not NAMING.isdisjoint(schema)


def _names_items(schema: dict[str, Any]) -> bool:
    longest = schema.get("maxItems")
    whole = isinstance(longest, int) and longest <= len(schema.get("prefixItems", []))
    return "items" in schema or "unevaluatedItems" in schema or whole


DECLARING: Final = MappingProxyType({"object": _names_fields, "array": _names_items})
"""Whether a schema says what a value of this kind may hold."""


def _require_pattern(source: str, place: str) -> None:
    try:
        pattern(source)
    except PatternRefused:
        unfit("a pattern cannot be held (look-around, back references and flags are not)", place)
