"""Calls and impacts made from a contract and from nothing else."""

import copy
from collections.abc import Iterator
from typing import Any

from adapters.tools.family import families
from worker.docs import shipped_tools
from workflows.domain.contract import Contract
from workflows.domain.impact import Fact, Impact, Money, Resource

Json = dict[str, Any]
Path = tuple[str, ...]

FAMILIES = families(shipped_tools())
CONTRACTS = {contract.name: contract for family in FAMILIES for contract in family.contracts}


def resolved(schema: Json, root: Json) -> Json:
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    return {**root["$defs"][name], **schema} if name else schema


def fields(contract: Contract) -> dict[Path, Json]:
    """Every field at every depth, with its schema."""

    def inside(schema: Json, before: Path) -> Iterator[tuple[Path, Json]]:
        for name, given in schema.get("properties", {}).items():
            field = resolved(given, contract.schema)
            yield (*before, name), field
            yield from inside(field, (*before, name))

    return dict(inside(contract.schema, ()))


def example(schema: Json, root: Json) -> Any:
    """Arguments made of nothing but the examples that the model is shown."""
    if "properties" in schema:
        return {name: example(resolved(given, root), root) for name, given in schema["properties"].items()}
    return next(iter(schema.get("examples") or schema.get("enum") or [schema.get("const", schema.get("default"))]))


def good(contract: Contract) -> Json:
    made: Json = example(contract.schema, contract.schema)
    return made


def with_value(arguments: Json, path: Path, value: Any) -> Json:
    changed = copy.deepcopy(arguments)
    place = changed
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return changed


def without(arguments: Json, path: Path) -> Json:
    changed = copy.deepcopy(arguments)
    place = changed
    for name in path[:-1]:
        place = place[name]
    del place[path[-1]]
    return changed


def impact(contract: Contract) -> Impact:
    """What a good call of it would be shown to an approver as."""
    kind, field = contract.resource
    return Impact(
        resource=Resource(kind, str(good(contract)[field]), "tenant-a", "1"),
        action=contract.title,
        money=Money(12_000, "KRW"),
        reversible=contract.reversible,
        facts=tuple(
            Fact("/".join(path), str(example(field, contract.schema))) for path, field in fields(contract).items()
        ),
    )
