"""Every tool has one name that any surface takes, and a model that uses it means that tool."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.envelopes.aliases import Aliases
from workflows.domain.errors import InvalidConfiguration

TAKEN = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@pytest.mark.parametrize("name", ["get_order", "a", "A-1", "9lives", "_x", "n" * 64])
def test_a_name_that_every_surface_takes_stays(name: str) -> None:
    assert Aliases([name]).alias_of(name) == name


@pytest.mark.parametrize(
    ("name", "alias"),
    [
        ("crm.contacts.find", "crm_contacts_find_a8cf0e18b3"),
        ("find order", "find_order_"),
        ("find__order!", "find__order_"),
        ("3d.print", "_3d_print_"),
        ("-x.y", "_-x_y_"),
        (".hidden", "hidden_"),
        ("주문", "tool_"),
        ("café", "caf_"),
        ("", "tool_"),
        ("a\n", "a_"),
        ("n" * 65, "n" * 53 + "_"),
        ("\ud800", "tool_"),
    ],
)
def test_another_name_is_readable_in_its_alias(name: str, alias: str) -> None:
    found = Aliases([name]).alias_of(name)
    assert found.startswith(alias)
    assert TAKEN.fullmatch(found)
    assert re.fullmatch(r"[0-9a-f]{10}", found[-10:])
    assert re.match(r"[a-zA-Z_]", found)


def test_names_that_read_alike_have_aliases_of_their_own() -> None:
    names = ["a.b", "a b", "a:b", "a..b", "A.b", "a_b", "n" * 65, "n" * 66]
    aliases = Aliases(names)
    assert len({aliases.alias_of(name) for name in names}) == len(names)


def test_a_model_may_use_the_alias_or_the_name_itself_exactly() -> None:
    aliases = Aliases(["crm.find", "get_order"])
    alias = aliases.alias_of("crm.find")
    assert [aliases.name_of(name) for name in (alias, "crm.find", "get_order")] == ["crm.find", "crm.find", "get_order"]


def test_what_nobody_is_called_stays_unknown() -> None:
    aliases = Aliases(["crm.find", "get_order"])
    for name in (
        "Get_Order",
        "get_order ",
        " get_order",
        "get_order\n",
        aliases.alias_of("crm.find").upper(),
        "crm_find",
        "",
    ):
        assert aliases.name_of(name) == name


def test_two_names_with_one_alias_are_refused() -> None:
    alias = Aliases(["crm.find"]).alias_of("crm.find")
    with pytest.raises(InvalidConfiguration) as refused:
        Aliases(["crm.find", "other", alias])
    assert refused.value.code == "invalid_configuration"


def test_the_same_name_twice_is_one_name() -> None:
    assert Aliases(["a.b", "a.b"]).alias_of("a.b") == Aliases(["a.b"]).alias_of("a.b")


@settings(max_examples=80, deadline=None)
@given(st.sets(st.text(max_size=90) | st.from_regex(r"[a-c._ -]{1,4}", fullmatch=True), max_size=12))
def test_any_set_of_names_can_be_read_back(names: set[str]) -> None:
    aliases = Aliases(names)
    for name in names:
        alias = aliases.alias_of(name)
        assert TAKEN.fullmatch(alias)
        assert aliases.name_of(alias) == aliases.name_of(name) == name
        assert Aliases([name, "another"]).alias_of(name) == alias
