"""The page of documentation about the tools, written from their contracts and from nothing else."""

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import MappingProxyType
from typing import Any, Final

from workflows.domain.authorization import Authorizer
from workflows.domain.contract import Contract, Idempotency
from workflows.domain.principal import Principal

Json = dict[str, Any]
Roles = Callable[[Contract], Sequence[str]]
Row = Sequence[str]

HEAD: Final = """\
# Tools

What a model may ask for. Each tool is declared once, in `adapters/tools/`; this page, the schema on every surface, the
gate and the approval page are made from that declaration. [How to write one](writing-a-tool.md).

"""

AFTER_A_LOST_REPLY: Final = MappingProxyType(
    {
        Idempotency.READ: "It is read again; nothing can have changed.",
        Idempotency.KEYED: (
            "It is looked up. Found: told as it is. Not found once a late commit is impossible: sent again under the "
            "same key, as long as the service remembers the key; after that a person decides."
        ),
        Idempotency.FENCED: (
            "It is looked up. Found: told as it is. Not found once a late commit is impossible: sent again with a "
            "higher generation, and the service refuses whoever comes late with a smaller one."
        ),
        Idempotency.LOOKUP_ONLY: "It is looked up and never sent again; a person decides about what is not found.",
        Idempotency.NONE: "It is never sent again; a person finds out and says how it ended.",
    }
)
"""What the class of idempotency means for a caller, in the words of `workflows.domain.reconciliation`."""


def page(contracts: Iterable[Contract], offered_to: Roles) -> str:
    """The whole page in Markdown: a table of all tools, then one section for each, by name."""
    ordered = sorted(contracts, key=lambda contract: contract.name)
    rows = [(f"[`{each.name}`](#{each.name})", each.title, each.effect.value, each.risk.value) for each in ordered]
    overview = _table(("Tool", "Purpose", "Effect", "Risk"), rows)
    return HEAD + "\n".join([overview, *(_section(each, offered_to(each)) for each in ordered)])


def roles_in(policy: str, authorizer: Authorizer) -> Roles:
    """Of the roles that a policy names, those to whom it offers a tool when somebody stands behind the call."""
    named = sorted(set(re.findall(r'Role::"([^"]+)"', policy)))
    return lambda contract: [
        role
        for role in named
        if authorizer.offers(Principal("tenant", "user", frozenset({role}), agent="agent"), contract)
    ]


def _section(contract: Contract, roles: Sequence[str]) -> str:
    parts = [
        f"## {contract.name}\n\n{contract.description}\n",
        _table(("", ""), _facts(contract, roles)),
        "### Arguments\n",
        _table(("Argument", "Type", "Meaning", "Example"), _fields(contract.schema, contract.schema)),
        f"### Result\n\n{inspect.getdoc(contract.result)}\n",
        _table(("Field", "Type"), _results(contract.result.model_json_schema())),
    ]
    return "\n".join([*parts, *_rules(contract)])


def _facts(contract: Contract, roles: Sequence[str]) -> Iterator[Row]:
    yield "Effect", contract.effect.value + _undoing(contract)
    yield "Risk", contract.risk.value
    yield "Acts on", f"{contract.resource[0]}, identified by `{contract.resource[1]}`"
    yield "Idempotency", f"{contract.idempotency.value}: {_meaning(contract.idempotency)}"
    yield "After a lost reply", AFTER_A_LOST_REPLY[contract.idempotency]
    yield "Offered to", ", ".join(f"`{role}`" for role in roles) or "nobody, by the shipped policy"
    yield "Approval", _approval(contract)
    yield "Limits", _limits(contract)
    if contract.fresh_seconds is not None:
        yield "Fresh for", f"{contract.fresh_seconds:g} s after `observed_at`"
    yield "Version", contract.version


def _undoing(contract: Contract) -> str:
    if not contract.writes:
        return ""
    return ", can be undone" if contract.reversible else ", cannot be undone"


def _meaning(kind: Idempotency) -> str:
    return {
        Idempotency.READ: "nothing changes",
        Idempotency.KEYED: "the same key gives the same effect, within the key's lifetime",
        Idempotency.FENCED: "the service compares generations and refuses a smaller one",
        Idempotency.LOOKUP_ONLY: "no key, but the effect can be found",
        Idempotency.NONE: "neither key nor look-up",
    }[kind]


def _approval(contract: Contract) -> str:
    rule = contract.approval
    if rule is None:
        return "none"
    people = "one person" if rule.quorum == 1 else f"{rule.quorum} people"
    hours = f"{rule.expires_seconds / 3600:g} hours"
    return f"where the policy asks for it: {people} with the role `{rule.approver_role}`, within {hours}"


def _limits(contract: Contract) -> str:
    once = f"{contract.limits.attempt_seconds:g} s for one attempt"
    return f"{once}, {contract.limits.sends} sends in all" if contract.writes else once


def _fields(schema: Json, root: Json, before: str = "") -> Iterator[Row]:
    required = schema.get("required", ())
    for name, given in schema.get("properties", {}).items():
        field = _resolved(given, root)
        kind = _type(field) + ("" if name in required else ", may be left out")
        yield f"`{before}{name}`", kind, field.get("description", ""), _example(field)
        yield from _fields(field, root, f"{before}{name}.")


def _results(schema: Json) -> Iterator[Row]:
    for name, given in schema.get("properties", {}).items():
        yield f"`{name}`", _type(_resolved(given, schema))


def _rules(contract: Contract) -> Iterator[str]:
    if contract.rules:
        yield "### Rules\n"
        rows = [(f"`{code}`", rule.meaning, f"`{rule.next_action.value}`") for code, rule in contract.rules.items()]
        yield _table(("Code", "Meaning", "Next action"), rows)


def _type(field: Json) -> str:
    if "enum" in field:
        return "one of " + ", ".join(f"`{value}`" for value in field["enum"])
    if "const" in field:
        return f"`{field['const']}`"
    return str(field.get("type", "any"))


def _example(field: Json) -> str:
    examples = field.get("examples") or ()
    return f"`{json.dumps(examples[0], ensure_ascii=False)}`" if examples else ""


def _resolved(schema: Json, root: Json) -> Json:
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    return {**root["$defs"][name], **schema} if name else schema


def _table(head: Row, rows: Iterable[Row]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines) + "\n"


def _cell(words: str) -> str:
    return " ".join(words.replace("|", r"\|").split())
