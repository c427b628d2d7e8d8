"""What the provider has run itself, held against what it was allowed to."""

from typing import Any, Final

from adapters import strict_json
from adapters.envelopes.envelope import HostedCall
from adapters.intake.judging import fingerprint
from adapters.intake.ports import HostedSeen
from workflows.domain.catalog import Catalog
from workflows.domain.errors import CallRefused
from workflows.domain.principal import Principal
from workflows.domain.proposal import Proposal

NOT_ALLOWED: Final = "hosted_call_not_allowed"

LONGEST_NAME: Final = 200
"""Characters of a server's or a tool's name that are kept; they are the provider's or whoever says to be it."""


def seen(call: HostedCall, principal: Principal, catalog: Catalog) -> HostedSeen:
    """One hosted call as it is recorded. A provider's own tools, such as a web search, are recorded as they are."""
    name = f"{call.server}.{call.tool}" if call.server else call.tool
    is_call = bool(call.server and call.tool)
    return HostedSeen(
        item_id=call.item_id,
        kind=call.kind[:LONGEST_NAME],
        server=call.server[:LONGEST_NAME],
        tool=name[:LONGEST_NAME],
        failed=call.failed,
        code=NOT_ALLOWED if is_call and not _was_listed(call, name, principal, catalog) else None,
        approved_under=call.approved_under,
        needs_approval=is_call and call.asks,
        fingerprint=_fingerprint(name, call.arguments) if is_call and call.asks else "",
    )


def _was_listed(call: HostedCall, name: str, principal: Principal, catalog: Catalog) -> bool:
    """Whether a request of this principal would list it: what may change something, only where the provider asks."""
    try:
        contract = catalog.require(name, principal)
    except CallRefused:
        return False
    return contract.hosted is not None and (call.asks or not contract.writes)


def _fingerprint(name: str, arguments: Any) -> str:
    """That of the request to approve this very call, which has the same arguments."""
    try:
        text = arguments or "{}"
        given = strict_json.parse(text) if isinstance(text, str) else strict_json.exact(text)
    except strict_json.StrictJsonError:
        return ""
    return fingerprint(Proposal("", name, given))
