"""Who may use which tool on whose objects: normal work, everything beyond it, tricks, and policies that are unfit."""

import asyncio
import re
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import cedarpy
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from adapters.authorization import policy_file
from adapters.authorization.cedar import CedarAuthorizer
from adapters.authorization.policy_file import read_policy
from adapters.tools.family import families
from worker.docs import shipped_tools
from workflows.domain.authorization import Authorizer
from workflows.domain.contract import Contract, EffectKind, Risk
from workflows.domain.errors import InvalidConfiguration
from workflows.domain.impact import Resource
from workflows.domain.principal import Principal

FAMILIES = families(shipped_tools())
TOOLS: dict[str, Contract] = {contract.name: contract for family in FAMILIES for contract in family.contracts}
REFUND = TOOLS["refund_payment"]
POLICY = "\n".join([read_policy(), *(family.policy for family in FAMILIES)])
DEFAULT = CedarAuthorizer(POLICY, TOOLS.values())

NORMAL_WORK = {
    (row["role"], row["tool"])
    for row in tomllib.loads((policy_file.HERE / "normal_work.toml").read_text("utf-8"))["work"]
}
ROLES = sorted({role for role, _ in NORMAL_WORK} | {"approver:refunds", "operator", "admin", "customer"})

EVERYBODY = 'permit (principal, action, resource) when { context.tool in [Tool::"get_order", Tool::"refund_payment"] };'


def person(*roles: str, tenant: str = "tenant-a", subject: str = "user-17", agent: str = "support-agent") -> Principal:
    return Principal(tenant, subject, frozenset(roles), agent=agent)


def order_of(tenant: str, kind: str = "order") -> Resource:
    return Resource(kind, "O-17", tenant, "1")


HARMLESS = [name for name, tool in TOOLS.items() if not (tool.writes and tool.risk is Risk.HIGH)]

OWN, FOREIGN = order_of("tenant-a"), order_of("tenant-b")


def authorizer(policy: str) -> Authorizer:
    return CedarAuthorizer(policy, TOOLS.values())


def anything(who: Principal, resource: Resource, by: Authorizer = DEFAULT) -> list[str]:
    """The tools that this principal gets anything out of."""
    return [name for name, tool in TOOLS.items() if by.offers(who, tool) or by.permits(who, tool, resource)]


# ── normal work, and nothing besides ──


@pytest.mark.parametrize(("role", "tool"), sorted(NORMAL_WORK))
def test_normal_work_is_possible(role: str, tool: str) -> None:
    assert DEFAULT.offers(person(role), TOOLS[tool])
    assert DEFAULT.permits(person(role), TOOLS[tool], OWN)


@pytest.mark.parametrize(("role", "tool"), sorted(set(product(ROLES, TOOLS)) - NORMAL_WORK))
def test_what_is_not_normal_work_is_neither_offered_nor_permitted(role: str, tool: str) -> None:
    assert not DEFAULT.offers(person(role), TOOLS[tool])
    assert not DEFAULT.permits(person(role), TOOLS[tool], OWN)


@pytest.mark.parametrize(("role", "tool"), sorted(product(ROLES, TOOLS)))
def test_no_role_reaches_an_object_of_another_tenant(role: str, tool: str) -> None:
    assert not DEFAULT.permits(person(role), TOOLS[tool], FOREIGN)


def test_every_role_and_every_tool_of_the_policy_has_its_normal_work_written_down() -> None:
    rules = re.sub(r"//[^\n]*", "", POLICY)
    assert set(re.findall(r'Role::"([^"]*)"', rules)) == {role for role, _ in NORMAL_WORK}
    assert set(re.findall(r'Tool::"([^"]*)"', rules)) == {tool for _, tool in NORMAL_WORK} == set(TOOLS)


@pytest.mark.parametrize("roles", list(product(ROLES, ROLES)), ids="+".join)
def test_two_roles_may_do_what_either_may(roles: tuple[str, str]) -> None:
    expected = [tool for tool in TOOLS if any((role, tool) in NORMAL_WORK for role in roles)]
    assert anything(person(*roles), OWN) == expected


@pytest.mark.parametrize("who", [person(), Principal("tenant-a", "user-17")], ids=["agent", "person"])
def test_without_a_role_nothing_is_possible(who: Principal) -> None:
    assert anything(who, OWN) == []


def test_nobody_needs_an_agent_to_do_their_own_work() -> None:
    assert anything(person("support", agent=""), OWN) == list(TOOLS)


# ── writes of high risk need somebody behind them ──


@pytest.mark.parametrize("subject", ["", " ", "support-agent"])
def test_software_that_acts_for_itself_makes_no_refund_but_may_look(subject: str) -> None:
    assert "refund_payment" not in HARMLESS
    assert anything(person("support", subject=subject), OWN) == HARMLESS


@pytest.mark.parametrize(("effect", "risk"), list(product(EffectKind, Risk)))
def test_only_a_write_of_high_risk_asks_for_an_end_user(effect: EffectKind, risk: Risk) -> None:
    tool = replace(REFUND, effect=effect, risk=risk)
    assert DEFAULT.permits(person("support"), tool, OWN)
    needs_a_person = effect is EffectKind.WRITE and risk is Risk.HIGH
    assert DEFAULT.permits(person("support", subject=""), tool, OWN) is not needs_a_person


# ── names that try to be something else ──


@pytest.mark.parametrize(
    "role",
    [
        "Support",
        "SUPPORT",
        " support",
        "support ",
        "support\n",
        "support\0",
        "ѕupport",  # a Cyrillic first letter
        "ｓupport",  # a full-width first letter
        "sup\u200bport",
        "supports",
        "suppor",
        "*",
        "",
        'support"',
        '"support"',
        'Role::"support"',
        'x", Role::"support',
        'x"] } || true //',
        "\\u0073upport",
        "\\x73upport",
        "support,viewer",
        "\ud800",
    ],
    ids=ascii,
)
def test_a_role_that_only_looks_like_one_is_none(role: str) -> None:
    assert anything(person(role), OWN) == []


@pytest.mark.parametrize(
    "name", ["Get_Order", "get_order ", 'get_order", Tool::"refund_payment', "*", "", "delete_all"]
)
def test_a_tool_that_the_deployment_does_not_have_is_never_offered(name: str) -> None:
    tool = replace(TOOLS["get_order"], name=name)
    everybody = authorizer("permit (principal, action, resource);")
    assert not everybody.offers(person("support"), tool)
    assert not everybody.permits(person("support"), tool, OWN)


ODD: list[Any] = ["", " ", "*", "%", "null", "None", "Tenant-A", "tenant-a ", "tenant-а", "tenant-a\0", '"', "\ud800"]


@pytest.mark.parametrize("tenant", ODD, ids=ascii)
def test_a_tenant_that_only_looks_like_the_owner_is_foreign(tenant: str) -> None:
    assert not DEFAULT.permits(person("support", tenant=tenant), REFUND, OWN)
    assert not DEFAULT.permits(person("support"), REFUND, order_of(tenant))


@pytest.mark.parametrize("tenant", ["", None, 1, True, ["tenant-a"], {"__entity": {"type": "Role", "id": "support"}}])
def test_a_missing_or_shapeless_tenant_owns_nothing(tenant: Any) -> None:
    assert not DEFAULT.permits(person("support", tenant=tenant), REFUND, order_of(tenant))


@pytest.mark.parametrize("roles", [None, "support", ["support"], frozenset({None}), frozenset({("Role", "support")})])
def test_roles_of_another_shape_are_none(roles: Any) -> None:
    assert anything(replace(person(), roles=roles), OWN) == []


# ── whatever the policy file says ──

WORDS = st.one_of(st.sampled_from(["tenant-a", "tenant-b", "", "*", "support", "viewer"]), st.text(max_size=20))
PRINCIPALS = st.builds(
    Principal,
    tenant=WORDS,
    subject=WORDS,
    roles=st.frozensets(WORDS, max_size=4),
    scopes=st.frozensets(WORDS, max_size=2),
    agent=WORDS,
)


@settings(max_examples=1000, deadline=None)
@given(who=PRINCIPALS, owner=WORDS, kind=WORDS, tool=st.sampled_from(sorted(TOOLS)))
def test_a_foreign_object_is_never_permitted(who: Principal, owner: str, kind: str, tool: str) -> None:
    assume(owner != who.tenant)
    assert not DEFAULT.permits(who, TOOLS[tool], order_of(owner, kind))
    assert not GENEROUS.permits(who, TOOLS[tool], order_of(owner, kind))


GENEROUS = authorizer("permit (principal, action, resource);")


def test_a_policy_file_that_allows_everything_still_keeps_tenants_apart() -> None:
    assert anything(person(), OWN, GENEROUS) == list(TOOLS)
    assert not any(GENEROUS.permits(person("support"), tool, FOREIGN) for tool in TOOLS.values())
    assert not GENEROUS.permits(person("support", tenant=""), REFUND, order_of(""))


def test_what_is_not_offered_cannot_be_called_even_if_a_rule_says_so() -> None:
    calls_alone = authorizer('permit (principal, action == Action::"call", resource);')
    assert not calls_alone.permits(person("support"), REFUND, OWN)


def test_a_policy_may_tell_kinds_scopes_and_agents_apart() -> None:
    by = authorizer(
        'permit (principal, action == Action::"offer", resource);\n'
        'permit (principal, action == Action::"call", resource) when { resource.kind == "order" && '
        'principal.agent == "support-agent" && principal.scopes.contains("refunds") };'
    )
    who = replace(person(), scopes=frozenset({"refunds"}))
    assert by.permits(who, REFUND, OWN)
    assert not by.permits(who, REFUND, order_of("tenant-a", "invoice"))
    assert not by.permits(replace(who, scopes=frozenset()), REFUND, OWN)
    assert not by.permits(replace(who, agent="other-agent"), REFUND, OWN)


# ── a policy that is unfit does not start ──

FINE = 'permit (principal in Role::"support", action, resource);\n'


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("permit (principal, action, resource", "unexpected end of input"),
        ("permit (principal, action, resource)", "unexpected end of input"),
        ("permit (principal, action, resource) wen { true };", "wen"),
        ('permit (principal, action == Action::"fly", resource);', "fly"),
        ('permit (principal in Rolle::"support", action, resource);', "Rolle"),
        ('permit (principal, action == Action::"call", resource) when { resource.tenant == "a" };', "tenant"),
        (
            'permit (principal, action, resource) when { context.tool == Tool::"refund_paymnet" };',
            'no Tool called "refund_paymnet"',
        ),
        ('forbid (principal, action, resource) when { context.risk == Risk::"hihg" };', 'no Risk called "hihg"'),
        ('forbid (principal, action, resource) when { context.risk == "high" };', "Risk"),
        ("forbid (principal, action, resource) when { resource.owner_tenant == principal.tenant };", "Tool"),
        ('permit (principal, action, resource) when { principal.tenant == "a;b" } };', "unexpected token"),
        ("permit (principal == ?principal, action, resource);", "allows nothing by itself"),
        ("permit permit;", "permit"),
        ('"', "unexpected|invalid"),
    ],
)
def test_a_rule_that_is_unfit_is_named_by_its_line(rule: str, told: str) -> None:
    with pytest.raises(InvalidConfiguration, match=f"line 4: .*(?:{told})") as refused:
        authorizer(f"// a remark; with a semicolon\n{FINE}\n{rule}\n// the end\n")
    assert "\n" not in str(refused.value)
    assert "policy0" not in str(refused.value)
    assert str(refused.value).endswith(".")


def test_the_line_is_where_the_rule_begins_not_its_remark() -> None:
    with pytest.raises(InvalidConfiguration, match="line 3"):
        authorizer('// permit;\n\n@id("a;b")\nforbid (principal, action, resource)\nwhen { 1 < ";" };')


@pytest.mark.parametrize("policy", ["", "  \n", "// permit (principal, action, resource);"])
def test_a_policy_without_a_rule_does_not_start(policy: str) -> None:
    with pytest.raises(InvalidConfiguration, match="no rule"):
        authorizer(policy)


@pytest.mark.parametrize("names", [[], ["bad\0name"]], ids=ascii)
def test_a_deployment_without_a_nameable_tool_does_not_start(names: list[str]) -> None:
    with pytest.raises(InvalidConfiguration, match="at least one tool"):
        CedarAuthorizer(FINE, [replace(REFUND, name=name) for name in names])


def test_a_policy_file_is_read_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "policy.cedar"
    path.write_bytes(b"\xef\xbb\xbf" + FINE.replace("\n", "\r\n").encode())
    assert authorizer(read_policy(path)).offers(person("support"), REFUND)


@pytest.mark.parametrize("content", [None, b"\xff\xfe"], ids=["absent", "no UTF-8"])
def test_a_policy_file_that_cannot_be_read_does_not_start(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "policy.cedar"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidConfiguration, match="cannot be read"):
        read_policy(path)


# ── whatever goes wrong is a no ──

OVERFLOWS = "when { context.tool == context.tool && 9223372036854775807 + 1 > 0 }"


@pytest.mark.parametrize("action", ["offer", "call"])
def test_a_prohibition_that_fails_is_a_no_although_the_engine_would_pass_it_over(action: str) -> None:
    failing = authorizer(f'{EVERYBODY} forbid (principal, action == Action::"{action}", resource) {OVERFLOWS};')
    assert not failing.permits(person("support"), REFUND, OWN)
    assert failing.offers(person("support"), REFUND) is (action == "call")


def test_a_permission_that_fails_beside_one_that_holds_is_a_no() -> None:
    failing = authorizer(f"{EVERYBODY} permit (principal, action, resource) {OVERFLOWS};")
    assert anything(person("support"), OWN, failing) == []


def test_an_engine_that_breaks_is_a_no_and_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = authorizer(POLICY)

    def broken(*asked: Any) -> cedarpy.AuthzResult:
        raise RuntimeError("the engine is broken")

    with monkeypatch.context() as patched:
        patched.setattr(cedarpy, "is_authorized", broken)
        assert anything(person("support"), OWN, fresh) == []
    assert anything(person("support"), OWN, fresh) == list(TOOLS)


# ── a remembered offer is the policy's own answer ──


@pytest.mark.parametrize(
    ("condition", "other"),
    [
        ('principal.tenant == "tenant-a"', {"tenant": "tenant-b"}),
        ('principal.agent == "support-agent"', {"agent": ""}),
        ('principal.scopes.contains("refunds")', {"scopes": frozenset()}),
        ("principal.end_user", {"subject": ""}),
        ('principal in Role::"support"', {"roles": frozenset({"viewer"})}),
    ],
)
def test_an_offer_is_remembered_for_those_alone_of_whom_the_policy_was_told_the_same(
    condition: str, other: dict[str, Any]
) -> None:
    by = authorizer(f"permit (principal, action, resource) when {{ {condition} }};")
    who = replace(person("support"), scopes=frozenset({"refunds"}))
    for _ in range(2):
        assert by.offers(who, REFUND)
        assert not by.offers(replace(who, **other), REFUND)


def test_a_tool_that_is_rated_anew_is_asked_about_anew() -> None:
    by = authorizer('permit (principal, action, resource) when { context.risk == Risk::"low" };')
    for _ in range(2):
        assert not by.offers(person(), REFUND)
        assert by.offers(person(), replace(REFUND, risk=Risk.LOW))


def test_what_the_policy_was_told_once_it_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh, asked = authorizer(POLICY), []
    real = cedarpy.is_authorized

    def counted(request: dict[str, Any], *rest: Any) -> cedarpy.AuthzResult:
        asked.append(request["action"]["id"])
        return real(request, *rest)

    monkeypatch.setattr(cedarpy, "is_authorized", counted)
    for number in range(3):
        assert fresh.permits(person("support", subject=f"user-{number}"), REFUND, replace(OWN, id=f"O-{number}"))
    assert asked == ["offer", "call"]
    assert not fresh.permits(person("support"), REFUND, FOREIGN)
    assert asked == ["offer", "call", "call"]


# ── many at once ──


def questions() -> Iterator[tuple[str, str, Resource, bool]]:
    for role, tool, resource in product(ROLES, TOOLS, (OWN, FOREIGN)):
        yield role, tool, resource, (role, tool) in NORMAL_WORK and resource is OWN


def test_threads_that_ask_at_once_each_get_their_own_answer() -> None:
    fresh, asked = authorizer(POLICY), list(questions()) * 25
    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda each: fresh.permits(person(each[0]), TOOLS[each[1]], each[2]), asked)
    assert list(answers) == [expected for *_, expected in asked]


async def test_tasks_and_threads_may_ask_together() -> None:
    fresh, asked = authorizer(POLICY), list(questions())

    async def here(role: str, tool: str, resource: Resource) -> bool:
        await asyncio.sleep(0)
        return fresh.permits(person(role), TOOLS[tool], resource)

    elsewhere = [asyncio.to_thread(fresh.permits, person(role), TOOLS[tool], each) for role, tool, each, _ in asked]
    tasks = [here(role, tool, each) for role, tool, each, _ in asked]
    expected = [answer for *_, answer in asked]
    assert await asyncio.gather(*elsewhere, *tasks) == expected * 2
