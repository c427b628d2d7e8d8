"""What a contract must be like before a process may start with it.

A fault here would be met by a model, an approver or an operator later; so it is met by the author now.
"""

import re
from collections.abc import Iterator
from typing import Any

from pydantic import TypeAdapter, ValidationError

from workflows.domain.contract import Contract, Idempotency, Risk
from workflows.domain.errors import InvalidConfiguration

NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)+")
HOSTED_NAME = re.compile(r"[a-zA-Z0-9_-]{1,40}\.[a-zA-Z0-9_.-]{1,120}")
VAGUE = frozenset({"do", "run", "fetch", "handle", "process", "execute", "update", "manage", "perform", "call", "use"})
FREE_WORDS = frozenset({"data", "item", "items", "thing", "things", "it", "all", "action", "task", "record", "object"})
SHORTEST_DESCRIPTION = 60
"""Characters; less does not say what, when and when not."""

SERVER_OWNED = re.compile(
    r"(tenant|user|owner|account_owner|principal|subject|role|roles|scope|scopes|operation|idempotency|approved"
    r"|approval|confirm|confirmed|dry_run|generation|request)(_?(id|ids|key|token))?$"
)
"""Arguments that only the authenticated context or the executor may supply."""

MONEY = re.compile(r"(^|_)(amount|price|total|fee|balance|cost)($|_)")
TIME = re.compile(r"(_at|_time|_date|^date|^time|^when)$")

Fault = tuple[str, str]
"""Where in the contract, and what was expected there."""


def require_fit(contract: Contract, tool: object | None = None) -> None:
    """Refuse a contract, and the tool that fits it when there is one.

    Raises:
        InvalidConfiguration: names the tool and every fault.
    """
    faults = [f"{place}: {expected}" for place, expected in found_in(contract, tool)]
    if faults:
        raise InvalidConfiguration(f"The tool {contract.name} cannot be offered. " + "; ".join(faults) + ".")


def found_in(contract: Contract, tool: object | None = None) -> list[Fault]:
    """Every fault of a contract, in the order in which its author would read it."""
    # The schemas of others are held as strictly as our own models by `adapters.outside_schema`, or refused there.
    checks = (_others_words,) if contract.pinned else (_words, _arguments, _result, _examples)
    faults = [fault for check in (*checks, _findable, _effect, _people) for fault in check(contract)]
    return faults if tool is None else [*faults, *_calls(contract, tool)]


def _words(contract: Contract) -> Iterator[Fault]:
    verb, _, rest = contract.name.partition("_")
    if contract.hosted is not None:
        if not HOSTED_NAME.fullmatch(contract.name) or contract.name.partition(".")[0] != contract.hosted.label:
            yield "name", "the server's label, a dot and the tool's name on that server"
    elif not NAME.fullmatch(contract.name) or len(contract.name) > 64:
        yield "name", "a verb and its object in lower case with underscores, at most 64 characters"
    elif verb in VAGUE or rest in FREE_WORDS:
        yield "name", "a verb and an object that tell it from every other tool"
    if len(contract.description) < SHORTEST_DESCRIPTION:
        yield "description", "what it does, when to use it and when not, in a sentence or two"
    elif not re.search(r"\b(not|never|nothing|no)\b", contract.description.lower()):
        yield "description", "also when not to use it, or what it does not do"
    if not contract.title or not contract.version:
        yield "title, version", "both"


def _others_words(contract: Contract) -> Iterator[Fault]:
    """What an MCP server says of its tool is not ours to word; people have reviewed it as it is."""
    if not HOSTED_NAME.fullmatch(contract.name):
        yield "name", "the server's name, a dot and the tool's name on that server"
    if not contract.title or not contract.description or not contract.version:
        yield "title, description, version", "all of them"


def _arguments(contract: Contract) -> Iterator[Fault]:
    kind, name = contract.resource
    if not kind or (contract.hosted is None and name not in contract.arguments.model_fields):
        yield "resource", "a kind of object and the argument that identifies it"
    if contract.schema != contract.arguments.model_json_schema(by_alias=False):
        yield "arguments", "fields under their own names: a call is kept and checked again under these"
    for name in (*contract.repetition.arguments, *contract.presentation):
        if name not in contract.arguments.model_fields:
            yield f"repetition, presentation: {name}", "names of arguments"
    for name in contract.presentation & contract.arguments.model_fields.keys():
        if contract.arguments.model_fields[name].is_required():
            yield f"presentation: {name}", "an argument that may be left out"
    for place, schema in _objects(contract.schema, contract.schema, "arguments"):
        yield from _object(place, schema, contract.schema)


def _object(place: str, schema: dict[str, Any], root: dict[str, Any]) -> Iterator[Fault]:
    properties: dict[str, Any] = schema.get("properties", {})
    if schema.get("additionalProperties") is not False or schema.get("patternProperties"):
        yield place, "a closed object: no free-form keys"
    for name, given in properties.items():
        yield from _field(f"{place}/{name}", name, _resolved(given, root), properties)


def _field(place: str, name: str, schema: dict[str, Any], siblings: dict[str, Any]) -> Iterator[Fault]:
    if SERVER_OWNED.fullmatch(name.lower()):
        yield place, "nothing that the authenticated context or the executor supplies"
    if not schema.get("description") and "properties" not in schema:
        yield place, "a description: meaning, unit, where it comes from"
    if (
        not {"examples", "enum", "const", "default", "properties", "items"} & schema.keys()
        and schema.get("type") != "boolean"
    ):
        yield place, "an example"
    if schema.keys() <= {"title", "description", "examples"}:
        yield place, "a type"
    if MONEY.search(name) and "properties" not in schema:
        yield from _money(place, schema, siblings)
    if name.endswith("_id") and schema.get("type") == "string" and not {"pattern", "enum", "const"} & schema.keys():
        yield place, "a pattern: what looks like another id must not be one"
    if TIME.search(name) and schema.get("type") == "string" and schema.get("format") not in ("date-time", "date"):
        yield place, "the format date-time (with its zone) or date"


def _money(place: str, schema: dict[str, Any], siblings: dict[str, Any]) -> Iterator[Fault]:
    if "currency" not in siblings:
        yield place, "a currency beside it"
    if schema.get("type") != "integer":
        yield place, "an integer of minor units, or digits as text in an object with their currency"
    elif "minor unit" not in schema.get("description", ""):
        yield place, "a description that names the minor unit"


def _result(contract: Contract) -> Iterator[Fault]:
    schema = contract.result.model_json_schema()
    for place, each in _objects(schema, schema, "result"):
        if not each.get("properties"):
            yield place, "named fields: only what the result model names may leave"
    if contract.fresh_seconds is not None and "observed_at" not in contract.result.model_fields:
        yield "fresh_seconds", "a result with observed_at"


def _examples(contract: Contract) -> Iterator[Fault]:
    for name, field in contract.arguments.model_fields.items():
        fitting = TypeAdapter[Any](field.rebuild_annotation())
        if not all(_fits(fitting, example) for example in field.examples or ()):
            yield f"arguments/{name}", "examples that are valid"
    if not all(_fits(TypeAdapter(contract.arguments), example) for example in contract.examples):
        yield "examples", "whole calls that are valid"


def _findable(contract: Contract) -> Iterator[Fault]:
    if contract.deferred and not contract.tags:
        yield "tags", "what people call it: nobody is told of it before a search has found it"


def _fits(fitting: TypeAdapter[Any], example: Any) -> bool:
    try:
        fitting.validate_python(example, strict=True)
    except ValidationError:
        return False
    return True


def _effect(contract: Contract) -> Iterator[Fault]:
    if contract.writes != (contract.idempotency is not Idempotency.READ):
        yield "idempotency", "read for a tool that reads, and another class for one that writes"
    if contract.idempotency is Idempotency.KEYED and not contract.recovery.key_lifetime_seconds:
        yield "recovery.key_lifetime_seconds", "how long the downstream remembers a key"
    if contract.idempotency is Idempotency.NONE and contract.limits.sends != 1:
        yield "limits.sends", "1: what cannot be found again is sent once"
    if contract.limits.sends < 1 or contract.limits.attempt_seconds <= 0:
        yield "limits", "attempts and a time limit above zero"
    if contract.writes and (contract.recovery.settle_seconds <= 0 or contract.recovery.give_up_seconds <= 0):
        yield "recovery", "times above zero"


def _people(contract: Contract) -> Iterator[Fault]:
    dangerous = contract.risk is Risk.HIGH or not contract.reversible
    if contract.writes and dangerous and contract.approval is None:
        yield "approval", "a rule: it is rated high risk or cannot be undone"
    if contract.approval is not None and (contract.approval.quorum < 1 or contract.approval.expires_seconds <= 0):
        yield "approval", "at least one approver and a time to decide"


def _calls(contract: Contract, tool: object) -> Iterator[Fault]:
    for name in _methods(contract):
        if not callable(getattr(tool, name, None)):
            yield f"method {name}", f"an async method: the class {contract.idempotency.value} needs it"


def _methods(contract: Contract) -> tuple[str, ...]:
    if not contract.writes:
        return ("read",)
    # Without a look-up nothing uncertain can be found again, and only the class `none` says so.
    return ("inspect", "apply") if contract.idempotency is Idempotency.NONE else ("inspect", "apply", "look_up")


def _objects(schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object schema inside a schema with its place; what is referred to more than once comes once."""
    seen: set[str] = set()
    pending: list[tuple[str, Any]] = [(place, schema)]
    while pending:
        where, each = pending.pop()
        if not isinstance(each, dict) or each.get("$ref") in seen:
            continue
        seen |= {each["$ref"]} if "$ref" in each else set()
        each = _resolved(each, root)
        if each.get("type") == "object":
            yield where, each
        pending.extend(_inside(where, each))


def _inside(where: str, schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, each in schema.get("properties", {}).items():
        yield f"{where}/{name}", each
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for each in schema.get(key, ()):
            yield where, each
    yield f"{where}/items", schema.get("items")


def _resolved(schema: Any, root: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(schema, dict):
        return {}
    reference = schema.get("$ref", "")
    if not reference.startswith("#/$defs/"):
        return schema
    target: dict[str, Any] = root["$defs"][reference.removeprefix("#/$defs/")]
    beside = {key: value for key, value in schema.items() if key != "$ref"}
    return target if not beside else {**target, **beside}
