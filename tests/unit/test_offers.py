"""What a caller's model is offered on each surface, and what a call of it means here."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel, Field
from structlog.testing import capture_logs

from adapters.envelopes import SURFACES
from adapters.envelopes.envelope import HostedCall
from adapters.intake import hosted
from adapters.intake.judging import judge
from adapters.intake.offers import Offers
from adapters.intake.searches import Searches
from examples.tools import feeds, wiki
from tests.support.proposals import CALLER, CATALOG
from workflows.domain.catalog import Catalog
from workflows.domain.contract import Arguments, Contract
from workflows.domain.errors import InvalidConfiguration, ResponseRefused
from workflows.domain.gate import first_refusal
from workflows.domain.impact import Resource
from workflows.domain.principal import Principal
from workflows.domain.proposal import Proposal


class Everybody:
    """A policy under which everybody has everything."""

    def offers(self, principal: Principal, contract: Contract) -> bool:
        return True

    def permits(self, principal: Principal, contract: Contract, resource: Resource) -> bool:
        return True


class Sender(BaseModel):
    """A field that not every provider takes by its name, one step inside."""

    full_name: str = Field(default="", alias="full name")


class LetterArguments(Arguments):
    """What to send, and from whom."""

    text: str
    sender: Sender


class NoteArguments(Arguments):
    """A required text and one that may be left out."""

    text: str
    title: str = ""


GET_ORDER = CATALOG.find("get_order")
assert GET_ORDER is not None
DOTTED = replace(GET_ORDER, name="crm.orders.get")
NOTE = replace(GET_ORDER, name="add_note", arguments=NoteArguments, resource=("note", "text"))
LETTER = replace(GET_ORDER, name="send_letter", arguments=LetterArguments, resource=("letter", "text"))
POSTCARD = replace(LETTER, name="send_postcard", deferred=True, tags=frozenset({"postcard"}))
LETTERS = Catalog([*CATALOG.all(), LETTER, POSTCARD], Everybody())
TOOLS = Catalog([*CATALOG.all(), *feeds.FAMILY.contracts, *wiki.FAMILY.contracts, DOTTED, NOTE], Everybody())


def refusal(proposal: Proposal, **more: Any) -> str | None:
    found = first_refusal(judge(proposal, 0, CALLER, TOOLS, **more).verdicts)
    return None if found is None else found.code


@pytest.mark.parametrize("surface", SURFACES)
def test_a_name_that_surfaces_do_not_take_is_offered_under_an_alias_that_leads_back(surface: str) -> None:
    offers = Offers(SURFACES, TOOLS)
    alias = offers.definition(surface, "crm.orders.get").name
    assert "." not in alias
    assert offers.meant(surface, Proposal("c", alias, {})).tool_name == "crm.orders.get"
    assert offers.meant(surface, Proposal("c", "crm.orders.get", {})).tool_name == "crm.orders.get"


@pytest.mark.parametrize("surface", ["openai-chat", "openai-responses"])
def test_a_null_that_only_the_strict_form_asked_for_is_no_argument(surface: str) -> None:
    offers = Offers(SURFACES, TOOLS)
    assert offers.definition(surface, "add_note").strict
    given = Proposal("c", "add_note", {"text": "x", "title": None})
    assert offers.meant(surface, given).arguments == {"text": "x"}


def test_without_strict_schemas_arguments_are_taken_as_they_are() -> None:
    offers = Offers(SURFACES, TOOLS, strict=False)
    assert not any(offers.definition("openai-chat", each.name).strict for each in TOOLS.all() if each.hosted is None)
    given = Proposal("c", "add_note", {"text": "x", "title": None})
    assert offers.meant("openai-chat", given).arguments == given.arguments


@pytest.mark.parametrize("surface", ["anthropic-messages", "gemini-generate-content", "gemini-interactions"])
def test_a_null_is_kept_where_nobody_was_asked_for_it(surface: str) -> None:
    given = Proposal("c", "add_note", {"text": "x", "title": None})
    assert Offers(SURFACES, TOOLS).meant(surface, given).arguments == given.arguments


def test_every_shipped_tool_is_offered_strictly_where_a_provider_can_be_strict() -> None:
    offers = Offers(SURFACES, CATALOG)
    for surface in ("openai-chat", "openai-responses", "anthropic-messages"):
        assert all(offers.definition(surface, each.name).strict for each in CATALOG.all())


def test_no_tool_may_bear_the_name_of_the_search() -> None:
    with pytest.raises(InvalidConfiguration):
        Offers(SURFACES, Catalog([replace(NOTE, name="tool_search")], Everybody()))


def test_a_surface_without_a_search_of_its_own_says_so() -> None:
    for surface in ("openai-chat", "gemini-generate-content"):
        with pytest.raises(ResponseRefused) as refused:
            Offers(SURFACES, TOOLS).to(CALLER, surface, "provider")
        assert refused.value.code == "unknown_search"


@pytest.mark.parametrize("surface", SURFACES)
def test_no_server_is_listed_where_a_write_could_not_be_asked_about(surface: str) -> None:
    listed = str(Offers(SURFACES, TOOLS).to(CALLER, surface))
    assert ("replace_page" in listed) is (surface == "openai-responses")
    assert ("search_pages" in listed) is (surface not in ("openai-chat", "gemini-generate-content"))


# -- what a provider does not take


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("surface", SURFACES)
def test_a_tool_that_would_fail_the_whole_request_is_left_out_on_that_surface_alone(surface: str, strict: bool) -> None:
    offers = Offers(SURFACES, LETTERS, strict=strict)
    is_taken = surface != "anthropic-messages"
    assert ("send_letter" in offers.names(surface)) is is_taken
    assert ("send_letter" in str(offers.to(CALLER, surface))) is is_taken
    assert ("send_letter" in str(offers.few(surface, ["get_order", "send_letter"]))) is is_taken
    assert "get_order" in str(offers.to(CALLER, surface))
    assert "get_order" in str(offers.few(surface, ["get_order", "send_letter"]))


def test_what_is_left_out_is_told_to_the_log_once() -> None:
    with capture_logs() as logs:
        Offers(SURFACES, LETTERS).to(CALLER, "anthropic-messages")
    assert logs == [
        {"event": "tool_left_out", "log_level": "warning", "surface": "anthropic-messages", "tool": name}
        for name in ("send_letter", "send_postcard")
    ]


@pytest.mark.parametrize("surface", SURFACES)
def test_a_search_finds_nothing_that_its_surface_does_not_take(surface: str) -> None:
    searches = Searches(LETTERS, Offers(SURFACES, LETTERS))
    taken = ("send_postcard",) if surface != "anthropic-messages" else ()
    for arguments in ({"query": "postcard"}, {"pattern": "^send_postcard$"}):
        searched = searches.answer(CALLER, surface, Proposal("c", "tool_search", arguments))
        assert (searched.names, searched.result.error) == (taken, None)
    assert tuple(searches.by_words(CALLER, surface, "postcard", 1)) == taken


def test_what_was_left_out_is_not_called_on_that_surface() -> None:
    offers = Offers(SURFACES, LETTERS)
    call = Proposal("c", "send_letter", {"text": "x", "sender": {"full name": "y"}})
    for surface in SURFACES:
        found = first_refusal(judge(call, 0, CALLER, LETTERS, offers.meant(surface, call)).verdicts)
        assert (found.code if found else None) == ("unknown_tool" if surface == "anthropic-messages" else None)


# -- judged


def test_a_deferred_tool_is_called_by_who_has_found_it_only() -> None:
    rate = Proposal("c", "get_exchange_rate", {"pair": "USDKRW"})
    assert refusal(rate) == "tool_not_found_yet"
    assert refusal(rate, found={"get_exchange_rate"}) is None


@pytest.mark.parametrize(
    ("tool", "arguments", "is_hosted"),
    [("wiki.search_pages", {"words": "x"}, False), ("get_order", {"order_id": "O-17"}, True)],
)
def test_what_a_provider_runs_and_what_is_run_here_are_not_called_as_each_other(
    tool: str, arguments: Any, is_hosted: bool
) -> None:
    call = Proposal("c", tool, arguments, hosted=is_hosted)
    assert refusal(call) == "unknown_tool"
    assert refusal(replace(call, hosted=not is_hosted)) is None


# -- found


def test_a_model_finds_deferred_tools_only_and_a_caller_all_of_them() -> None:
    searches = Searches(TOOLS, Offers(SURFACES, TOOLS))
    words = Proposal("c", "tool_search", {"query": "weather or exchange rate"})
    assert searches.answer(CALLER, "openai-chat", words).names == ("get_exchange_rate",)
    assert set(searches.by_words(CALLER, "openai-chat", "weather or exchange rate", 5)) == {
        "get_weather",
        "get_exchange_rate",
    }


@pytest.mark.parametrize(
    "arguments",
    [None, [], {}, {"query": ""}, {"query": 7}, {"query": "x", "limit": 0}, {"query": "x", "limit": True},
     {"query": "x" * 1001}, {"pattern": "("}, {"pattern": "x" * 201}, {"words": "x"}],
)  # fmt: skip
def test_a_search_that_cannot_be_made_is_answered_with_the_place(arguments: Any) -> None:
    searched = Searches(TOOLS, Offers(SURFACES, TOOLS)).answer(
        CALLER, "openai-chat", Proposal("c", "tool_search", arguments)
    )
    assert searched.result.error is not None
    assert (searched.result.error.code, bool(searched.result.error.details)) == ("invalid_arguments", True)
    assert searched.names == ()


def test_arguments_that_are_no_json_are_told_as_such() -> None:
    broken = Proposal("c", "tool_search", None, "invalid_arguments_json")
    searched = Searches(TOOLS, Offers(SURFACES, TOOLS)).answer(CALLER, "openai-chat", broken)
    assert searched.result.error is not None
    assert searched.result.error.code == "invalid_arguments_json"


# -- run by the provider


def test_a_providers_own_tool_is_recorded_as_it_is() -> None:
    seen = hosted.seen(HostedCall("ws_1", "web_search_call", failed=False), CALLER, TOOLS)
    assert (seen.code, seen.needs_approval, seen.tool) == (None, False, "")


@pytest.mark.parametrize(
    ("server", "tool", "code"),
    [
        ("wiki", "search_pages", None),
        ("wiki", "drop_pages", "hosted_call_not_allowed"),
        ("other", "search_pages", "hosted_call_not_allowed"),
        ("wiki", "", None),
    ],
)
def test_a_call_on_a_server_must_be_of_a_tool_that_was_offered(server: str, tool: str, code: str | None) -> None:
    asked = HostedCall("mcp_1", "mcp_call", server, tool, asks=True)
    seen = hosted.seen(asked, CALLER, TOOLS)
    assert (seen.code, seen.needs_approval) == (code, bool(tool))


def test_a_write_on_a_server_must_have_been_asked_about() -> None:
    asked, unasked = (HostedCall("m", "mcp_call", "wiki", "replace_page", asks=asks) for asks in (True, False))
    assert hosted.seen(asked, CALLER, TOOLS).code is None
    assert hosted.seen(unasked, CALLER, TOOLS).code == "hosted_call_not_allowed"


def test_names_of_what_is_no_tool_of_ours_are_not_kept() -> None:
    offers = Offers(SURFACES, TOOLS)
    assert offers.named(["x" * 9000, "get_weather", offers.definition("openai-chat", "crm.orders.get").name]) == {
        "get_weather", "crm.orders.get",
    }  # fmt: skip


def test_only_so_many_searches_of_one_response_are_made() -> None:
    asked = [Proposal(f"c{number}", "tool_search", {"query": "rate"}) for number in range(10)]
    answers = Searches(TOOLS, Offers(SURFACES, TOOLS)).answers(CALLER, "openai-chat", asked)
    assert [each.result.call_id for each in answers] == [each.call_id for each in asked]
    assert [each.result.error.code for each in answers if each.result.error] == ["call_budget_spent"] * 2


def test_a_tool_of_ours_that_a_server_seems_to_have_was_not_offered_there() -> None:
    contract = replace(NOTE, name="wiki.add_note")
    assert hosted.seen(HostedCall("m", "mcp_call", "wiki", "add_note"), CALLER, Catalog([contract], Everybody())).code
