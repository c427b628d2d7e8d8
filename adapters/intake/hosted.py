"""What the provider has run itself, held against what it was allowed to."""

from adapters.envelopes.envelope import HostedCall
from adapters.intake.ports import HostedSeen
from workflows.domain.catalog import Catalog
from workflows.domain.principal import Principal

NOT_ALLOWED = "hosted_call_not_allowed"


def seen(call: HostedCall, principal: Principal, catalog: Catalog) -> HostedSeen:
    """One hosted call as it is recorded. A provider's own tools, such as a web search, are recorded as they are."""
    name = f"{call.server}.{call.tool}" if call.server else call.tool
    contract = catalog.find(name) if call.server else None
    offered = contract is not None and contract.hosted is not None and contract in catalog.offered(principal)
    is_call = bool(call.server and call.tool)
    return HostedSeen(
        item_id=call.item_id,
        kind=call.kind,
        server=call.server,
        tool=name,
        failed=call.failed,
        code=NOT_ALLOWED if is_call and not offered else None,
        approved_under=call.approved_under,
        needs_approval=is_call and call.asks,
    )
