"""A contract that would be met too late by a model, an approver or an operator is met by its author at the start."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import pytest
from pydantic import Field

from adapters.tools.family import families
from adapters.tools.payments import GetOrder, PrepareRefund, RefundPayment
from workflows.domain.contract import (
    Arguments,
    Contract,
    EffectKind,
    Idempotency,
    Limits,
    Recovery,
    Repetition,
    Risk,
    ToolResult,
)
from workflows.domain.errors import InvalidConfiguration
from workflows.domain.lint import found_in, require_fit

GOOD = RefundPayment.contract


def argument(kind: Any, **given: Any) -> Any:
    return Annotated[kind, Field(**{"description": "What it means, in its unit.", "examples": []} | given)]


def with_argument(name: str, kind: Any, **more: Any) -> Contract:
    """A fit contract with one argument more."""
    annotations = {"order_id": argument(str, examples=["O-17"], pattern="^O-"), name: kind}
    model = type("Given", (Arguments,), {"__annotations__": annotations, "__module__": __name__, **more})
    return replace(GetOrder.contract, arguments=model)


def places(contract: Contract, tool: object | None = None) -> set[str]:
    return {place for place, _ in found_in(contract, tool)}


@pytest.mark.parametrize("tool", [GetOrder, PrepareRefund, RefundPayment])
def test_the_shipped_tools_are_fit(tool: Any) -> None:
    assert found_in(tool.contract, tool(None)) == []


@pytest.mark.parametrize("name", ["update", "run", "fetch_data", "handle_order", "do_it", "GetOrder", "get order", "g"])
def test_a_vague_or_odd_name_is_found(name: str) -> None:
    assert "name" in places(replace(GOOD, name=name))


@pytest.mark.parametrize(
    "description", ["", "Refunds.", "Refund a payment of an order as the customer has asked for it today."]
)
def test_a_description_that_does_not_say_when_not_to_use_it_is_found(description: str) -> None:
    assert "description" in places(replace(GOOD, description=description))


@pytest.mark.parametrize(
    "name",
    ["tenant", "tenant_id", "tenantId", "user_id", "scopes", "role", "operation_id", "idempotency_key", "approved",
     "idempotencyKey", "dry_run", "confirm"],
)  # fmt: skip
def test_what_only_the_server_may_supply_is_no_argument(name: str) -> None:
    assert f"arguments/{name}" in places(with_argument(name, argument(str, examples=["x"])))


def test_a_field_without_description_or_example_is_found() -> None:
    assert "arguments/city" in places(with_argument("city", Annotated[str, Field(examples=["Seoul"])]))
    assert "arguments/city" in places(with_argument("city", argument(str, examples=None)))


def test_an_example_that_the_schema_refuses_is_found() -> None:
    assert "arguments/count" in places(with_argument("count", argument(int, examples=["three"])))
    assert "arguments/count" in places(with_argument("count", argument(int, examples=[0], ge=1)))
    assert places(with_argument("count", argument(int, examples=[3], ge=1))) == set()


@pytest.mark.parametrize("kind", [dict[str, Any], dict[str, str], Mapping[str, int]])
def test_a_free_form_object_is_found(kind: Any) -> None:
    assert "arguments/extra" in places(with_argument("extra", argument(kind, examples=[{}])))


def test_a_value_of_any_type_is_found() -> None:
    assert "arguments/extra" in places(with_argument("extra", argument(Any, examples=[1])))


class Inner(Arguments):
    tenant_id: Annotated[str, Field(description="Whose it is.", examples=["t-1"], pattern="^t-")]


class Other(Arguments):
    note: Annotated[str, Field(description="What was said.", examples=["Late."])]


@pytest.mark.parametrize("bad", range(12))
def test_what_is_wrong_inside_is_found_among_many_objects(bad: int) -> None:
    fit = [type(f"Other{number}", (Other,), {"__module__": __name__}) for number in range(12)]
    kinds = {f"part_{number}": argument(Inner if number == bad else fit[number]) for number in range(12)}
    annotations = {"order_id": argument(str, examples=["O-17"], pattern="^O-"), **kinds}
    model = type("Given", (Arguments,), {"__annotations__": annotations, "__module__": __name__})
    assert places(replace(GetOrder.contract, arguments=model)) == {f"arguments/part_{bad}/tenant_id"}


class Tree(Arguments):
    name: Annotated[str, Field(description="What it is called.", examples=["root"])]
    below: Annotated[list["Tree"], Field(description="What hangs below it.", default_factory=list)]


def test_an_object_that_holds_its_own_kind_is_looked_at_and_comes_to_an_end() -> None:
    assert places(with_argument("tree", argument(Tree))) == set()


@pytest.mark.parametrize("form", [True, False])
def test_a_form_that_is_no_schema_but_yes_or_no_is_found_or_passed_and_breaks_nothing(form: bool) -> None:
    words = argument(str, examples=["x"], json_schema_extra=lambda schema: schema.update({"anyOf": [form, {}]}))
    assert places(with_argument("words", words)) == set()
    anything = argument(str, json_schema_extra=lambda schema: schema.clear())
    assert "arguments/words" in places(with_argument("words", anything))


def test_a_field_that_a_model_knows_by_another_name_than_its_own_is_found() -> None:
    assert "arguments" in places(with_argument("spaced", argument(str, examples=["x"], alias="a b")))


def test_money_needs_its_currency_and_its_unit() -> None:
    in_minor_units = argument(int, description="Amount in the currency's minor unit.", examples=[100])
    assert "arguments/amount" in places(with_argument("amount", in_minor_units))
    assert "arguments/amount" in places(with_argument("amount", argument(float, examples=[1.5])))


def test_an_id_says_which_characters_it_has() -> None:
    assert "arguments/order_id" in places(with_argument("order_id", argument(str, examples=["O-17"])))
    assert places(with_argument("order_id", argument(str, examples=["O-17"], pattern=r"^[A-Z]-[0-9]+$"))) == set()


def test_a_time_needs_its_zone() -> None:
    assert "arguments/starts_at" in places(with_argument("starts_at", argument(str, examples=["10:00"])))


def test_a_resource_that_no_argument_identifies_is_found() -> None:
    assert "resource" in places(replace(GOOD, resource=("order", "order_number")))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"idempotency": Idempotency.READ}, "idempotency"),
        ({"recovery": Recovery(key_lifetime_seconds=None)}, "recovery.key_lifetime_seconds"),
        ({"idempotency": Idempotency.NONE}, "limits.sends"),
        ({"limits": Limits(attempt_seconds=0)}, "limits"),
        ({"limits": Limits(sends=0)}, "limits"),
        ({"recovery": Recovery(settle_seconds=0, key_lifetime_seconds=60)}, "recovery"),
        ({"approval": None}, "approval"),
        ({"approval": None, "risk": Risk.LOW}, "approval"),
        ({"repetition": Repetition(arguments=("order_number",))}, "repetition, presentation: order_number"),
        ({"presentation": frozenset({"amount"})}, "presentation: amount"),
    ],
)
def test_a_write_that_could_not_be_recovered_or_approved_is_found(change: dict[str, Any], place: str) -> None:
    assert place in places(replace(GOOD, **change))


def test_a_read_is_no_write() -> None:
    assert "idempotency" in places(replace(GetOrder.contract, effect=EffectKind.WRITE))


def test_a_result_without_named_fields_is_found() -> None:
    assert "result" in places(replace(GOOD, result=ToolResult))


def test_a_tool_without_the_calls_that_its_class_needs_is_found() -> None:
    class ForgetsToLook:
        contract = GOOD

        async def inspect(self) -> None: ...

        async def apply(self) -> None: ...

    assert "method look_up" in places(GOOD, ForgetsToLook())


def test_the_sentence_names_the_tool_and_every_fault() -> None:
    with pytest.raises(InvalidConfiguration) as refused:
        require_fit(replace(GOOD, name="run", description="", approval=None))
    assert all(word in str(refused.value) for word in ("run", "name", "description", "approval"))


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("adapters.tools.nowhere", "no module"),
        ("adapters.tools.toolbox", "no FAMILY"),
        ("adapters.tools.amounts", "no FAMILY"),
    ],
)
def test_a_setting_that_names_no_family_is_refused(module: str, words: str) -> None:
    with pytest.raises(InvalidConfiguration, match=words):
        families([module])
