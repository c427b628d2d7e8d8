"""Tools that a provider runs itself on an MCP server, where it asks us first: what is done here is to allow the call.

    FAMILY = hosted_family("wiki", [Contract(name="wiki.search_pages", hosted=HostedServer("wiki", url), …)], policy)

A deployment writes such a module and names it in `ONCEWARD_TOOLS`. The provider's request to approve a call becomes an
operation like any other: held to the contract's arguments, judged by the policy, and by people where the policy asks
for them. Its only effect is the word "allowed" in its result; the provider is told it once.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from adapters.tools.family import Family, NoSettings
from workflows.domain.authorization import Admit
from workflows.domain.contract import Arguments, Contract, Recovery, ToolResult
from workflows.domain.effect import Dispatch, Effect
from workflows.domain.errors import InvalidConfiguration
from workflows.domain.impact import Fact, Impact, Inspection, Resource
from workflows.domain.principal import Principal

KIND: Final = "hosted_tool"

RECOVERY: Final = Recovery(settle_seconds=1.0, key_lifetime_seconds=365 * 24 * 3600.0)
"""Allowing it is a word in our own database, so no late commit is to be feared and a repeat is the same word."""


class Allowed(ToolResult):
    """The provider may run this call."""

    allowed: bool
    tool: str


class ReadAllowance:
    """Allows a call that changes nothing."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract

    async def read(self, _: Arguments, principal: Principal, admit: Admit) -> Mapping[str, Any]:
        """Say that it is allowed, if the policy lets this principal use it."""
        admit(_resource(self.contract, principal))
        return _allowed(self.contract)


class WriteAllowance:
    """Allows a call that may change something, once a person has where one must be asked."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract

    async def inspect(self, _: Arguments, principal: Principal) -> Inspection:
        """Where it would run, and no more: nobody here can see what the arguments would do over there.

        They are the model's words and no finding of ours. People read them, whole, as what will be sent.
        """
        return Inspection(
            Impact(
                resource=_resource(self.contract, principal),
                action=self.contract.title,
                reversible=self.contract.reversible,
                facts=(Fact("Carried out by", f"the model's provider, on the server {_server(self.contract)}"),),
            )
        )

    async def apply(self, _: Arguments, dispatch: Dispatch) -> Effect:
        """Allow it; nothing leaves from here."""
        return Effect.applied(dispatch.operation_id, _allowed(self.contract))

    async def look_up(self, _: Arguments, dispatch: Dispatch) -> Effect | None:
        """Nothing but our own record knows of it, and that is asked before this."""
        del dispatch
        return None


def hosted_family(name: str, contracts: Iterable[Contract], policy: str) -> Family:
    """Return the family of these contracts, each with `hosted`; `policy` says in Cedar who has them.

    Raises:
        InvalidConfiguration: one of them is no hosted tool.
    """
    declared = tuple(contracts)
    for contract in declared:
        if contract.hosted is None:
            raise InvalidConfiguration(f"The tool {contract.name} says of no server that it is hosted there.")

    @asynccontextmanager
    async def connect(_: NoSettings) -> AsyncIterator[Sequence[Any]]:
        yield [WriteAllowance(each) if each.writes else ReadAllowance(each) for each in declared]

    return Family(name=name, contracts=declared, connect=connect, policy=policy)


def _resource(contract: Contract, principal: Principal) -> Resource:
    return Resource(KIND, contract.name, principal.tenant, contract.version)


def _server(contract: Contract) -> str:
    return contract.hosted.label if contract.hosted is not None else ""


def _allowed(contract: Contract) -> dict[str, Any]:
    return {"allowed": True, "tool": contract.name}
