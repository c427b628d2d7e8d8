"""Who may be offered and call which tool, on whose objects. Asked here; the answer is policy, apart from code."""

from collections.abc import Callable
from typing import Protocol

from workflows.domain.contract import Contract
from workflows.domain.errors import CallRefused
from workflows.domain.impact import Resource
from workflows.domain.principal import Principal


class Authorizer(Protocol):
    """Answers without input or output; whatever goes wrong inside is a no."""

    def offers(self, principal: Principal, contract: Contract) -> bool:
        """Whether this principal may be shown the tool, and so call it at all."""

    def permits(self, principal: Principal, contract: Contract, resource: Resource) -> bool:
        """Whether this principal may use the tool on this object, whose owner the server has found out."""


Admit = Callable[[Resource], None]
"""What a reading tool asks once it has found the object and before it gives anything away of it; raises as `admit`."""


def admit(principal: Principal, contract: Contract, resource: Resource, authorizer: Authorizer) -> None:
    """Return if this principal may use the tool on this object.

    Raises:
        CallRefused: `not_found` for another tenant's object, which looks absent; `permission_denied` by the policy.
    """
    if resource.owner_tenant != principal.tenant:
        raise CallRefused("not_found")
    if not authorizer.permits(principal, contract, resource):
        raise CallRefused("permission_denied")
