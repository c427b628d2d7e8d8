"""The tools that a caller's model may be offered, in the form of its surface, and what a call of them means here.

What is not offered cannot be called. A tool that a provider would refuse, and the whole request with it, is left out on
its surface, and the log is told. A surface may know a tool under another name, and under a stricter schema; what a
model then gives is brought back to the contract's own words before it is judged by the contract's own schema.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from adapters.envelopes.aliases import Aliases
from adapters.envelopes.envelope import Envelope, Findings, HostedTools, Listing, Offer, Search, ToolDefinition
from adapters.envelopes.strict import StrictForm
from adapters.intake import trace
from adapters.intake.search_tool import SEARCH
from adapters.intake.surfaces import envelope_of
from workflows.domain.catalog import Catalog
from workflows.domain.contract import Contract, HostedServer
from workflows.domain.errors import Detail, InvalidConfiguration, ResponseRefused
from workflows.domain.principal import Principal
from workflows.domain.proposal import Proposal


@dataclass(frozen=True)
class Offered:
    """One tool on one surface: its definition, and its strict form where it has one."""

    definition: ToolDefinition
    form: StrictForm | None = None


class Offers:
    """Renders the catalog, and reads it back. Without `strict` no schema is offered in a stricter form.

    Raises:
        InvalidConfiguration: two tools could not be told apart on a surface, or one bears the name of the search.
    """

    def __init__(self, surfaces: Mapping[str, Envelope], catalog: Catalog, *, strict: bool = True) -> None:
        self._surfaces, self._catalog, self._strict = surfaces, catalog, strict
        contracts = [contract for contract in catalog.all() if contract.hosted is None]
        if catalog.find(SEARCH.name) is not None:
            raise InvalidConfiguration(f"No tool may be called {SEARCH.name}: that is the search for tools.")
        self._aliases = Aliases([*(contract.name for contract in contracts), SEARCH.name])
        self._offered = {name: self._of_surface(envelope, contracts) for name, envelope in surfaces.items()}

    def to(self, principal: Principal, surface: str, search: str = Search.OURS) -> Listing:
        """What a request may list for this principal on this surface; `search` says who finds what is deferred.

        Raises:
            ResponseRefused: `unknown_surface`, or `unknown_search` when the surface has no search of this kind.
        """
        envelope = envelope_of(self._surfaces, surface)
        offered, taken = self._catalog.offered(principal), self._offered[surface]
        tools = tuple(taken[each.name].definition for each in offered if each.name in taken)
        ours = SEARCH if any(tool.deferred for tool in tools) else None
        try:
            return envelope.offer(Offer(tools, ours, Search(search), _hosted(offered)))
        except (InvalidConfiguration, ValueError):
            raise ResponseRefused("unknown_search", [Detail("/search", "unknown", Search.OURS.value)]) from None

    def few(self, surface: str, names: Sequence[str]) -> Listing:
        """What a request lists that offers these tools and no others; raises `unknown_surface` as `to` does."""
        envelope, taken = envelope_of(self._surfaces, surface), self.names(surface)
        tools = [self.definition(surface, name) for name in names if name in taken]
        return envelope.offer(Offer(tuple(replace(tool, deferred=False) for tool in tools)))

    def names(self, surface: str) -> Set[str]:
        """The catalog's names of all tools that this surface takes; raises `unknown_surface` as `to` does."""
        envelope_of(self._surfaces, surface)
        return self._offered[surface].keys()

    def definition(self, surface: str, name: str) -> ToolDefinition:
        """The definition of one tool that the surface takes."""
        return self._offered[surface][name].definition

    def found(self, surface: str, names: Sequence[str]) -> Findings:
        """What a search has brought up, as the surface takes it."""
        return self._surfaces[surface].found([self.definition(surface, name) for name in names])

    def named(self, surface_names: Iterable[str]) -> frozenset[str]:
        """The catalog's names of tools that a surface has named; what is no tool of ours is left out."""
        names = map(self._aliases.name_of, surface_names)
        return frozenset(name for name in names if self._catalog.find(name) is not None)

    def meant(self, surface: str, proposal: Proposal) -> Proposal:
        """The call in the catalog's own words; one of a tool that the surface does not take has the fault of that."""
        if proposal.hosted:
            return proposal
        meant = replace(proposal, tool_name=self._aliases.name_of(proposal.tool_name))
        if proposal.fault is not None:
            return meant
        offered = self._offered[surface].get(meant.tool_name)
        if offered is None:
            return replace(meant, fault="unknown_tool")
        return meant if offered.form is None else replace(meant, arguments=offered.form.undo(proposal.arguments))

    def _of_surface(self, envelope: Envelope, contracts: Sequence[Contract]) -> dict[str, Offered]:
        forms = envelope.forms([contract.schema for contract in contracts]) if self._strict else [None] * len(contracts)
        offered = {
            contract.name: self._offer(contract, form if isinstance(form, StrictForm) else None)
            for contract, form in zip(contracts, forms, strict=True)
        }
        taken = {name: each for name, each in offered.items() if envelope.takes(each.definition.parameters)}
        trace.left_out(envelope.SURFACE, [name for name in offered if name not in taken])
        return taken

    def _offer(self, contract: Contract, form: StrictForm | None) -> Offered:
        definition = ToolDefinition(
            name=self._aliases.alias_of(contract.name),
            description=form.described(contract.description) if form else contract.description,
            parameters=form.schema if form else contract.schema,
            strict=form is not None,
            deferred=contract.deferred,
            examples=contract.examples,
        )
        return Offered(definition, form)


def _hosted(offered: Iterable[Contract]) -> tuple[HostedTools, ...]:
    """The servers that providers may call, each with those of its tools that this caller has."""
    servers: dict[HostedServer, list[Contract]] = {}
    for contract in offered:
        if contract.hosted is not None:
            servers.setdefault(contract.hosted, []).append(contract)
    return tuple(
        HostedTools(server.label, server.url, *(_names(contracts, writes) for writes in (False, True)))
        for server, contracts in servers.items()
    )


def _names(contracts: Iterable[Contract], writes: bool) -> tuple[str, ...]:
    return tuple(each.name.partition(".")[2] for each in contracts if each.writes is writes)
