"""Searches for tools: each finds what its caller may use, and nothing else."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.envelopes.envelope import Listing
from adapters.intake.answers import refused_call
from adapters.intake.lineage import lineage_of
from adapters.intake.offers import Offers
from adapters.intake.ports import Inbox
from adapters.intake.search_tool import SEARCH, asked_for
from adapters.tool_search import Entry, Found, ToolIndex
from workflows.domain.catalog import Catalog
from workflows.domain.contract import Contract
from workflows.domain.errors import CallRefused, ResponseRefused
from workflows.domain.principal import Principal
from workflows.domain.proposal import CallResult, Proposal, Status

MOST_SEARCHES = 8
"""Searches in one response; whoever needs more has not read what the first ones found."""


@dataclass(frozen=True)
class Searched:
    """One search, answered: the tools that it has brought up, and the definitions that the next request needs."""

    result: CallResult
    names: tuple[str, ...] = ()
    add: Sequence[dict[str, Any]] = ()


def is_search(proposal: Proposal) -> bool:
    """Whether a model searches for tools, by our search."""
    return proposal.tool_name == SEARCH.name and not proposal.hosted


class Searches:
    """Looks through the tools of a catalog."""

    def __init__(self, catalog: Catalog, offers: Offers) -> None:
        self._catalog, self._offers = catalog, offers
        self._index = ToolIndex(_entry(contract) for contract in catalog.all() if contract.hosted is None)

    def answers(self, principal: Principal, surface: str, asked: Sequence[Proposal]) -> list[Searched]:
        """Answer all searches of a turn; those beyond `MOST_SEARCHES` are refused."""
        beyond = [Searched(refused_call(each, CallRefused("call_budget_spent"))) for each in asked[MOST_SEARCHES:]]
        return [*(self.answer(principal, surface, each) for each in asked[:MOST_SEARCHES]), *beyond]

    def answer(self, principal: Principal, surface: str, proposal: Proposal) -> Searched:
        """Find deferred tools for a model, as its surface takes them."""
        try:
            if proposal.fault is not None:
                raise CallRefused(proposal.fault, proposal.fault_details)
            names = self._by_model(principal, surface, proposal.arguments)
        except CallRefused as refused:
            return Searched(refused_call(proposal, refused))
        found = self._offers.found(surface, names)
        told = CallResult(proposal.call_id, proposal.tool_name, Status.SUCCEEDED, data=found.data)
        return Searched(told, tuple(names), found.add)

    def by_words(self, principal: Principal, surface: str, query: str, limit: int) -> list[str]:
        """Names of tools of any kind that this principal may use on this surface, the best first.

        Raises:
            ResponseRefused: `unknown_surface` or `invalid_search`.
        """
        allowed = self._allowed(principal, surface).keys()
        try:
            return _names(self._index.search(query, allowed=allowed, limit=limit))
        except CallRefused as refused:
            raise ResponseRefused("invalid_search", refused.details) from None

    def _by_model(self, principal: Principal, surface: str, arguments: Any) -> list[str]:
        asked = asked_for(arguments)
        allowed = {name for name, each in self._allowed(principal, surface).items() if each.deferred}
        if asked.pattern:
            return _names(self._index.matching(asked.pattern, allowed=allowed, limit=asked.limit))
        return _names(self._index.search(asked.query, allowed=allowed, limit=asked.limit))

    def _allowed(self, principal: Principal, surface: str) -> dict[str, Contract]:
        taken = self._offers.names(surface)
        return {each.name: each for each in self._catalog.offered(principal) if each.name in taken}


class Shortlists:
    """The few tools that fit what a user wants, for a loop that offers its model no more than those."""

    def __init__(self, searches: Searches, offers: Offers, inbox: Inbox) -> None:
        self._searches, self._offers, self._inbox = searches, offers, inbox

    async def of(self, principal: Principal, surface: str, query: str, limit: int, conversation: str) -> Listing:
        """List them, the best first; from now on they may be called in this conversation, deferred or not.

        Raises:
            ResponseRefused: `unknown_surface` or `invalid_search`.
        """
        names = self._searches.by_words(principal, surface, query, limit)
        listing = self._offers.few(surface, names)
        await self._inbox.discover(lineage_of(principal, conversation), names)
        return listing


def _names(found: Iterable[Found]) -> list[str]:
    return [each.name for each in found]


def _entry(contract: Contract) -> Entry:
    arguments = tuple(contract.schema.get("properties", {}))
    return Entry(contract.name, contract.title, contract.description, contract.tags, arguments)
