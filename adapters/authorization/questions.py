"""What the policy is told of a principal, a tool and an object, and nothing besides.

Names are handed over as values, never put into policy text, so no name can be read as a rule. The person's own name
and subject are not told: a policy speaks of roles, and people with the same rights share one remembered answer.
"""

from dataclasses import dataclass
from typing import Any

from workflows.domain.contract import Contract
from workflows.domain.impact import Resource
from workflows.domain.principal import Principal

WHO = {"type": "Principal", "id": "principal"}
WHAT = {"type": "Object", "id": "object"}


@dataclass(frozen=True, slots=True)
class Asker:
    """All that a policy sees of a principal. `end_user`: somebody other than the acting software is behind the call."""

    tenant: str
    agent: str
    end_user: bool
    roles: frozenset[str]
    scopes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Use:
    """All that a policy sees of a tool."""

    tool: str
    effect: str
    risk: str


@dataclass(frozen=True, slots=True)
class Target:
    """All that a policy sees of an object: neither its id nor its version."""

    kind: str
    owner_tenant: str


@dataclass(frozen=True)
class Question:
    """A Cedar request with the entities that it speaks of."""

    request: dict[str, Any]
    entities: list[dict[str, Any]]


def asker_of(principal: Principal) -> Asker:
    """The principal as policies see them."""
    end_user = bool(principal.subject.strip()) and principal.subject != principal.agent
    return Asker(principal.tenant, principal.agent, end_user, principal.roles, principal.scopes)


def use_of(contract: Contract) -> Use:
    """The tool as policies see it."""
    return Use(contract.name, contract.effect.value, contract.risk.value)


def target_of(resource: Resource) -> Target:
    """The object as policies see it."""
    return Target(resource.kind, resource.owner_tenant)


def offer(asker: Asker, use: Use) -> Question:
    """May the tool be shown?"""
    return Question(_request("offer", {"type": "Tool", "id": use.tool}, use), [_principal(asker)])


def call(asker: Asker, use: Use, target: Target) -> Question:
    """May it be used on this object?"""
    return Question(_request("call", WHAT, use), [_principal(asker), _object(target)])


def _request(action: str, resource: dict[str, str], use: Use) -> dict[str, Any]:
    return {
        "principal": WHO,
        "action": {"type": "Action", "id": action},
        "resource": resource,
        "context": {
            "tool": _one("Tool", use.tool),
            "effect": _one("Effect", use.effect),
            "risk": _one("Risk", use.risk),
        },
    }


def _principal(asker: Asker) -> dict[str, Any]:
    told = {"tenant": asker.tenant, "agent": asker.agent, "end_user": asker.end_user, "scopes": sorted(asker.scopes)}
    return {"uid": WHO, "attrs": told, "parents": [{"type": "Role", "id": role} for role in sorted(asker.roles)]}


def _object(target: Target) -> dict[str, Any]:
    return {"uid": WHAT, "attrs": {"kind": target.kind, "owner_tenant": target.owner_tenant}, "parents": []}


def _one(kind: str, name: str) -> dict[str, Any]:
    return {"__entity": {"type": kind, "id": name}}
