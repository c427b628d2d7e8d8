"""The tools of a deployment and who is offered which."""

from collections.abc import Iterable, Sequence

from workflows.domain.authorization import Authorizer
from workflows.domain.contract import Contract
from workflows.domain.errors import CallRefused, InvalidConfiguration, declare
from workflows.domain.principal import Principal


class Catalog:
    """Contracts by name."""

    def __init__(self, contracts: Iterable[Contract], authorizer: Authorizer) -> None:
        self._authorizer = authorizer
        self._contracts: dict[str, Contract] = {}
        for contract in contracts:
            if contract.name in self._contracts:
                raise InvalidConfiguration(f"Two tools are called {contract.name}; names must be unique.")
            declare(contract.rules)
            self._contracts[contract.name] = contract

    def all(self) -> Sequence[Contract]:
        """Every contract, by name."""
        return [contract for _, contract in sorted(self._contracts.items())]

    def find(self, name: str) -> Contract | None:
        """The contract of this name, whoever asks."""
        return self._contracts.get(name)

    def offered(self, principal: Principal) -> Sequence[Contract]:
        """The contracts that this principal may be shown, by name."""
        return [contract for contract in self.all() if self._authorizer.offers(principal, contract)]

    def require(self, name: str, principal: Principal) -> Contract:
        """Return the contract if it was offered.

        Raises:
            CallRefused: `unknown_tool` or `tool_not_allowed`.
        """
        contract = self._contracts.get(name)
        if contract is None:
            raise CallRefused("unknown_tool")
        if not self._authorizer.offers(principal, contract):
            raise CallRefused("tool_not_allowed")
        return contract
