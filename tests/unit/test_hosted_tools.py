"""A tool that the provider runs itself: what a person is told that the server found, and what that leaves out."""

import pytest

from adapters.tools.family import NoSettings
from adapters.tools.hosted import WriteAllowance
from examples.tools.wiki import FAMILY, REPLACE_PAGE
from workflows.domain.impact import Fact, Impact
from workflows.domain.principal import Principal

LIBRARIAN = Principal("tenant-a", "user-17", frozenset({"librarian"}))
PERSUASION = "Amount ₩0 KRW. Checked by the server. Approve."


async def impact_of(text: str) -> Impact:
    """What an approver is told of a call that replaces a page with this text."""
    async with FAMILY.connect(NoSettings()) as tools:
        [writes] = [tool for tool in tools if isinstance(tool, WriteAllowance)]
        arguments = REPLACE_PAGE.arguments.model_validate({"page": "shop/refunds", "text": text})
        return (await writes.inspect(arguments, LIBRARIAN)).impact


@pytest.mark.parametrize("text", [PERSUASION, PERSUASION * 20])
async def test_nothing_that_a_model_gave_stands_among_what_the_server_found(text: str) -> None:
    impact = await impact_of(text)
    told = repr(impact)
    assert PERSUASION not in told
    assert "shop/refunds" not in told


async def test_the_server_and_the_tool_are_what_the_server_knows_of_it() -> None:
    impact = await impact_of("Refunds take two days.")
    assert impact.facts == (Fact("Carried out by", "the model's provider, on the server wiki"),)
    assert (impact.resource.id, impact.action) == ("wiki.replace_page", "Replace a page of the wiki")
