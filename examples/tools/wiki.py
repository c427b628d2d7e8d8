"""A wiki behind an MCP server that the model's provider calls by itself, and asks us before each call where it can."""

from typing import Annotated

from pydantic import Field

from adapters.tools.family import policy_beside
from adapters.tools.hosted import KIND, RECOVERY, Allowed, hosted_family
from workflows.domain.contract import (
    ApprovalRule,
    Arguments,
    Contract,
    EffectKind,
    HostedServer,
    Idempotency,
    Risk,
)

WIKI = HostedServer("wiki", "https://wiki.example/mcp")

Words = Annotated[str, Field(description="What to look for.", examples=["refund rules"], max_length=200)]
Page = Annotated[
    str, Field(description="A page by its path.", examples=["shop/refunds"], pattern=r"^[a-z0-9/-]{1,80}$")
]
Text = Annotated[str, Field(description="The page's new text.", examples=["Refunds take two days."], max_length=4000)]


class SearchArguments(Arguments):
    """What to look for."""

    words: Words


class PageArguments(Arguments):
    """Which page, and what it shall say."""

    page: Page
    text: Text


SEARCH_PAGES = Contract(
    name="wiki.search_pages",
    title="Search the wiki",
    description="Search the company's wiki for pages. The provider carries it out itself; it changes nothing.",
    version="1",
    effect=EffectKind.READ,
    idempotency=Idempotency.READ,
    risk=Risk.LOW,
    resource=(KIND, "words"),
    arguments=SearchArguments,
    result=Allowed,
    hosted=WIKI,
)
REPLACE_PAGE = Contract(
    name="wiki.replace_page",
    title="Replace a page of the wiki",
    description="Replace the text of one wiki page. The provider carries it out itself; never use it to add a remark.",
    version="1",
    effect=EffectKind.WRITE,
    idempotency=Idempotency.KEYED,
    risk=Risk.HIGH,
    resource=(KIND, "page"),
    arguments=PageArguments,
    result=Allowed,
    approval=ApprovalRule(approver_role="approver:pages", expires_seconds=3600.0),
    recovery=RECOVERY,
    hosted=WIKI,
)

FAMILY = hosted_family("wiki", (SEARCH_PAGES, REPLACE_PAGE), policy_beside(__file__))
