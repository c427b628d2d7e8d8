"""What a schema must be so that it can be held strictly; anything else is refused when it is loaded."""

from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn

from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from adapters import strict_json
from adapters.outside_schema.formats import NOT_HELD
from adapters.outside_schema.keywords import NAMING
from adapters.outside_schema.patterns import PatternRefused, pattern
from workflows.domain.errors import InvalidConfiguration

LARGEST_SCHEMA: Final = 256 * 1024
"""Bytes of one tool's schema."""

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
OLDER_DIALECTS: Final = frozenset(
    {"http://json-schema.org/draft-07/schema", "https://json-schema.org/draft/2019-09/schema"}
)
"""Taken as long as a schema uses nothing that 2020-12 reads otherwise."""

ONE: Final = ("additionalProperties", "unevaluatedProperties", "items", "unevaluatedItems", "contains")
MANY: Final = ("properties", "patternProperties")
LISTED: Final = ("prefixItems",)
"""Where a schema of a value inside this one stands: alone, by name, in a list."""

IN_PLACE_LISTED: Final = ("allOf", "anyOf", "oneOf")
IN_PLACE_ONE: Final = ("then", "else")
ASKING_ONE: Final = ("not", "if", "propertyNames")
"""Schemas that are asked but do not speak of what the value may hold."""

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
        self._seen: set[int] = set()

    def require(self) -> None:
        """Refuse what cannot be held strictly."""
        self._require_each(self._root, "")
        self._require_no_loops()
        if not self._free_form:
            self._seen.clear()
            self._require_closable(self._root, "")

    # -- each schema by itself

    def _require_each(self, schema: Any, place: str) -> None:
        if not isinstance(schema, dict) or id(schema) in self._seen:
            return
        self._seen.add(id(schema))
        self._require_plain(schema, place)
        for source in (*schema.get("patternProperties", {}), *([schema["pattern"]] if "pattern" in schema else [])):
            _require_pattern(source, place)
        if schema.get("format") in NOT_HELD:
            unfit(f"the format {schema['format']} is not checked here", place)
        if "$ref" in schema:
            self._require_each(self.target(schema, place), f"{place}/$ref")
        for step, inner in _inside(schema):
            self._require_each(inner, f"{place}/{step}")

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

    def _require_no_loops(self) -> None:
        """A reference that comes back to itself without a step into the value would never end."""
        ended: set[int] = set()
        for schema in _all(self._root):
            self._walk_in_place(schema, (), ended)

    def _walk_in_place(self, schema: Any, under: tuple[int, ...], ended: set[int]) -> None:
        if not isinstance(schema, dict) or id(schema) in ended:
            return
        if id(schema) in under:
            unfit("$ref comes back to itself")
        asked = [schema[keyword] for keyword in ("not", "if") if keyword in schema]
        for each in (*self._conjuncts(schema), *_alternatives(schema), *_conditional(schema), *asked):
            self._walk_in_place(each, (*under, id(schema)), ended)
        ended.add(id(schema))

    # -- closing

    def _require_closable(self, schema: Any, place: str) -> None:
        """Refuse a place that may hold an object or a list of which nothing is said."""
        if self._permits(schema, "object") and not self._declares(schema, _names_fields, "object"):
            unfit("it has a free-form object, which may hold anything", place)
        if self._permits(schema, "array") and not self._declares(schema, _names_items, "array"):
            unfit("it has a list whose items may be anything", place)
        self._walk_closable(schema, place)

    def _walk_closable(self, schema: Any, place: str) -> None:
        if not isinstance(schema, dict) or id(schema) in self._seen:
            return
        self._seen.add(id(schema))
        for step, inner in _of_inner_values(schema):
            self._require_closable(inner, f"{place}/{step}")
        for each in (*self._conjuncts(schema), *_alternatives(schema), *_conditional(schema)):
            self._walk_closable(each, place)

    def _permits(self, schema: Any, kind: str) -> bool:
        if not isinstance(schema, dict):
            return bool(schema)
        types = schema.get("type", kind)
        if kind not in ([types] if isinstance(types, str) else types) or "enum" in schema or "const" in schema:
            return False
        choices = [schema[keyword] for keyword in ("anyOf", "oneOf") if keyword in schema]
        return all(self._permits(each, kind) for each in self._conjuncts(schema)) and all(
            any(self._permits(each, kind) for each in choice) for choice in choices
        )

    def _declares(self, schema: Any, says: Callable[[dict[str, Any]], bool], kind: str) -> bool:
        if not isinstance(schema, dict):
            return False
        choices = [schema[keyword] for keyword in ("anyOf", "oneOf") if keyword in schema]
        return (
            says(schema)
            or any(self._declares(each, says, kind) for each in self._conjuncts(schema))
            or any(
                all(self._declares(each, says, kind) for each in choice if self._permits(each, kind))
                for choice in choices
            )
        )

    def _conjuncts(self, schema: dict[str, Any]) -> list[Any]:
        return [*([self.target(schema)] if "$ref" in schema else []), *schema.get("allOf", [])]


def _alternatives(schema: dict[str, Any]) -> list[Any]:
    return [*schema.get("anyOf", []), *schema.get("oneOf", [])]


def _conditional(schema: dict[str, Any]) -> list[Any]:
    chosen = [schema[keyword] for keyword in IN_PLACE_ONE if keyword in schema and "if" in schema]
    return [*chosen, *schema.get("dependentSchemas", {}).values()]


def _names_fields(schema: dict[str, Any]) -> bool:
    return not NAMING.isdisjoint(schema)


def _names_items(schema: dict[str, Any]) -> bool:
    longest = schema.get("maxItems")
    whole = isinstance(longest, int) and longest <= len(schema.get("prefixItems", []))
    return "items" in schema or "unevaluatedItems" in schema or whole


def _of_inner_values(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The schemas of what a value holds."""
    yield from ((keyword, schema[keyword]) for keyword in ONE if keyword in schema and keyword != "contains")
    for keyword in MANY:
        yield from ((f"{keyword}/{name}", inner) for name, inner in schema.get(keyword, {}).items())
    for keyword in LISTED:
        yield from ((f"{keyword}/{place}", inner) for place, inner in enumerate(schema.get(keyword, [])))


def _inside(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every schema right inside this one."""
    yield from _of_inner_values(schema)
    for keyword in ("contains", *IN_PLACE_ONE, *ASKING_ONE):
        if keyword in schema:
            yield keyword, schema[keyword]
    for keyword in IN_PLACE_LISTED:
        yield from ((f"{keyword}/{place}", inner) for place, inner in enumerate(schema.get(keyword, [])))
    for keyword in ("dependentSchemas", "$defs", "definitions"):
        yield from ((f"{keyword}/{name}", inner) for name, inner in schema.get(keyword, {}).items())


def _all(schema: Any) -> Iterator[dict[str, Any]]:
    """This schema and every one inside it."""
    if isinstance(schema, dict):
        yield schema
        for _, inner in _inside(schema):
            yield from _all(inner)


def _require_pattern(source: str, place: str) -> None:
    try:
        pattern(source)
    except PatternRefused:
        unfit("a pattern cannot be held (look-around, back references and flags are not)", place)
