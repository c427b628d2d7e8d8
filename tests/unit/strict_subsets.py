"""What providers take as a strict schema, written down from what they publish and apart from the code that it judges.

Each function returns what is wrong with a schema, one line for each fault; none when the provider takes it.
"""

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

ABOUT = {"title", "description"}
LIMITS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
KINDS = {"object", "array", "string", "number", "integer", "boolean", "null"}
FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}

OF_OBJECTS = {"type", "properties", "required", "additionalProperties"}
OPENAI = {
    "object": OF_OBJECTS,
    "array": {"type", "items", "minItems", "maxItems"},
    "string": {"type", "pattern", "format"},
    "number": {"type"} | LIMITS,
    "integer": {"type"} | LIMITS,
}
ANTHROPIC = {"object": OF_OBJECTS, "array": {"type", "items", "minItems"}, "string": {"type", "format"}}


def openai_faults(schema: Json) -> list[str]:
    return [*_root(schema), *_openai_node(schema, schema, "#"), *_openai_limits(schema)]


def anthropic_faults(schema: Json) -> list[str]:
    return [*_root(schema), *_anthropic_node(schema, schema, "#"), *_circles(schema, schema, ())]


def _root(schema: Json) -> Iterator[str]:
    if schema.get("type") != "object" or "anyOf" in schema:
        yield "the root is no object"


def _openai_node(schema: Json, root: Json, place: str) -> Iterator[str]:
    yield from _shape(schema, root, place)
    kind = schema.get("type")
    if "enum" in schema:
        yield from _unknown(schema, {"type", "enum"}, place)
        yield from _primitives(schema, place)
        if not set([kind] if isinstance(kind, str) else kind or ()) <= KINDS or kind is None:
            yield f"{place}: listed values without their types"
    elif isinstance(kind, str):
        yield from _unknown(schema, OPENAI.get(kind, {"type"}), place)
    if kind == "object" and set(schema["required"]) != set(schema["properties"]):
        yield f"{place}: a field that need not be given"
    if schema.get("format", "date") not in FORMATS:
        yield f"{place}: a format that is not taken"
    for step, inner in _inside(schema):
        yield from _openai_node(inner, root, f"{place}/{step}")


def _anthropic_node(schema: Json, root: Json, place: str) -> Iterator[str]:
    yield from _shape(schema, root, place)
    kind = schema.get("type")
    if "enum" in schema:
        yield from _unknown(schema, {"enum"}, place)
        yield from _primitives(schema, place)
    elif kind is not None:
        yield from _unknown(schema, ANTHROPIC.get(str(kind), {"type"}), place)
    if schema.get("format", "uri") not in FORMATS | {"uri"} or schema.get("minItems", 0) not in (0, 1):
        yield f"{place}: a bound that is not taken"
    for step, inner in _inside(schema):
        yield from _anthropic_node(inner, root, f"{place}/{step}")


def _shape(schema: Json, root: Json, place: str) -> Iterator[str]:
    """Each place is one thing: a reference and nothing else, a choice, listed values, or one type."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        if schema.keys() != {"$ref"} or (schema["$ref"] != "#" and name not in root.get("$defs", {})):
            yield f"{place}: a reference with siblings or to nothing"
    elif "anyOf" in schema:
        yield from _unknown(schema, {"anyOf"}, place)
        if len(schema["anyOf"]) < 2:
            yield f"{place}: a choice of one"
    elif "enum" not in schema:
        yield from _typed(schema, place)


def _typed(schema: Json, place: str) -> Iterator[str]:
    if schema.get("type") not in KINDS:
        yield f"{place}: no type"
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        yield f"{place}: an open object"
    if not set(schema.get("required", ())) <= set(schema.get("properties", {})):
        yield f"{place}: an undeclared field is required"
    if schema.get("type") == "array" and "items" not in schema:
        yield f"{place}: a list of anything"


def _unknown(schema: Json, known: set[str], place: str) -> Iterator[str]:
    extra = schema.keys() - known - ABOUT - ({"$defs"} if place == "#" else set())
    yield from (f"{place}: {keyword} is not taken" for keyword in extra)


def _primitives(schema: Json, place: str) -> Iterator[str]:
    if not schema["enum"] or any(isinstance(value, dict | list) for value in schema["enum"]):
        yield f"{place}: no list of plain values"


def _circles(schema: Json, root: Json, under: tuple[str, ...]) -> Iterator[str]:
    pointer = schema.get("$ref")
    if pointer in under or pointer == "#":
        yield f"{pointer}: refers to itself"
    elif pointer is not None:
        yield from _circles(root["$defs"][pointer.removeprefix("#/$defs/")], root, (*under, pointer))
    for step, inner in _inside(schema):
        if not step.startswith("$defs"):
            yield from _circles(inner, root, under)


def _openai_limits(root: Json) -> Iterator[str]:
    schemas = [root, *_all_inside(root)]
    names = [name for schema in schemas for keyword in ("properties", "$defs") for name in schema.get(keyword, {})]
    values = [value for schema in schemas for value in schema.get("enum", ())]
    letters = sum(map(len, names)) + sum(len(value) for value in values if isinstance(value, str))
    if sum(len(schema.get("properties", {})) for schema in schemas) > 5_000:
        yield "too many fields"
    if letters > 120_000:
        yield "too many letters"
    if len(values) > 1_000:
        yield "too many values"
    if _depth(root) > 10:
        yield "too many levels"


def _depth(schema: Json) -> int:
    own = schema.get("type") in ("object", "array")
    return own + max((_depth(inner) for step, inner in _inside(schema) if not step.startswith("$defs")), default=0)


def _all_inside(schema: Json) -> Iterator[Json]:
    for _, inner in _inside(schema):
        yield inner
        yield from _all_inside(inner)


def _inside(schema: Json) -> Iterator[tuple[str, Json]]:
    for keyword in ("properties", "$defs"):
        yield from ((f"{keyword}/{name}", inner) for name, inner in schema.get(keyword, {}).items())
    yield from ((f"anyOf/{at}", inner) for at, inner in enumerate(schema.get("anyOf", ())))
    if "items" in schema:
        yield "items", schema["items"]
