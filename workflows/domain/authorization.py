"""Who may be offered and call which tool, on whose objects. Asked here; the answer is policy, apart from code."""

from typing import Protocol

from workflows.domain.contract import Contract
from workflows.domain.impact import Resource
from workflows.domain.principal import Principal


class Authorizer(Protocol):
    """Answers without input or output; whatever goes wrong inside is a no."""

    def offers(self, principal: Principal, contract: Contract) -> bool:
        """Whether this principal may be shown the tool, and so call it at all."""

    def permits(self, principal: Principal, contract: Contract, resource: Resource) -> bool:
        """Whether this principal may use the tool on this object, whose owner the server has found out."""
