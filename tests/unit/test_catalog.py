"""Contracts, the catalog and the toolbox: who is offered what, and what a contract's fingerprint covers."""

from dataclasses import replace
from typing import Any

import pytest

from adapters.tools.payments import GetOrder, PrepareRefund, RefundPayment
from adapters.tools.toolbox import Toolbox
from tests.support.proposals import AUTHORIZER, CALLER, CATALOG
from workflows.domain.catalog import Catalog
from workflows.domain.contract import Arguments, Contract, EffectKind, Idempotency
from workflows.domain.errors import CallRefused, InvalidConfiguration
from workflows.domain.principal import Principal

CONTRACT = RefundPayment.contract
STRANGER = replace(CALLER, roles=frozenset({"stranger"}))


class OtherArguments(Arguments):
    order_id: str


def test_a_tool_is_offered_to_its_roles_alone() -> None:
    names = ["credit_account", "credit_accounts", "get_credit_balance", "get_order", "prepare_refund", "refund_payment"]
    assert [contract.name for contract in CATALOG.offered(CALLER)] == names
    assert CATALOG.offered(STRANGER) == []
    assert CATALOG.offered(Principal("tenant-a", "user-17")) == []


@pytest.mark.parametrize(
    ("name", "caller", "code"),
    [
        ("refund_payment", STRANGER, "tool_not_allowed"),
        ("delete_everything", CALLER, "unknown_tool"),
        ("", CALLER, "unknown_tool"),
    ],
)
def test_what_was_not_offered_cannot_be_called(name: str, caller: Principal, code: str) -> None:
    with pytest.raises(CallRefused) as refused:
        CATALOG.require(name, caller)
    assert refused.value.code == code


def test_two_tools_of_one_name_do_not_start() -> None:
    with pytest.raises(InvalidConfiguration, match="refund_payment"):
        Catalog([CONTRACT, replace(CONTRACT, version="2")], AUTHORIZER)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "refund"},
        {"version": "2"},
        {"description": "x"},
        {"effect": EffectKind.READ},
        {"arguments": OtherArguments},
    ],
    ids=str,
)
def test_whatever_changes_the_meaning_changes_the_fingerprint(change: dict[str, Any]) -> None:
    assert replace(CONTRACT, **change).hash != CONTRACT.hash


def test_a_fingerprint_is_the_same_in_every_process() -> None:
    assert replace(CONTRACT).hash == CONTRACT.hash


def test_the_schema_refuses_what_is_not_in_it() -> None:
    for contract in CATALOG.offered(CALLER):
        assert contract.schema["additionalProperties"] is False
        assert set(contract.schema["required"]) == set(contract.schema["properties"])


def test_a_resource_has_one_canonical_name() -> None:
    arguments = OtherArguments(order_id="O-17")
    assert replace(CONTRACT, arguments=OtherArguments).resource_of(arguments) == "order:O-17"


def test_every_write_says_how_it_is_recovered() -> None:
    writes: list[Contract] = [contract for contract in CATALOG.offered(CALLER) if contract.writes]
    assert [contract.name for contract in writes] == ["credit_account", "credit_accounts", "refund_payment"]
    for contract in writes:
        assert contract.idempotency is not Idempotency.READ
        assert contract.recovery.settle_seconds > contract.limits.attempt_seconds
        assert contract.approval is not None


def test_a_write_cannot_be_had_as_a_read() -> None:
    tools = Toolbox([GetOrder(None), PrepareRefund(None), RefundPayment(None)])  # type: ignore[arg-type]
    assert tools.writer("refund_payment").contract is CONTRACT
    for find, name in ((tools.reader, "refund_payment"), (tools.writer, "get_order"), (tools.reader, "invented")):
        with pytest.raises(CallRefused) as refused:
            find(name)
        assert refused.value.code == "unknown_tool"
