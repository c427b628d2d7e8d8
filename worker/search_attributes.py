"""Whether Temporal knows the attributes that workflows are found by.

A workflow that sets one which its namespace does not know is stopped by the server, again and again and without a word
to anybody. So a worker looks before it takes work, and says what to do.
"""

from datetime import timedelta

import structlog
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from worker.process import TEMPORAL_SECONDS, TEMPORAL_SILENT
from workflows.attributes import KINDS, options
from workflows.domain.errors import InvalidConfiguration

log = structlog.get_logger(__name__)

NOT_FOR_US = (RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNIMPLEMENTED)
"""Who may work in a namespace need not be allowed to ask what is registered there."""


async def require(client: Client) -> None:
    """Return when the client's namespace has them all, or when nobody may say.

    Raises:
        InvalidConfiguration: one is missing or has another type, or nobody answers.
    """
    try:
        listed = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=client.namespace), timeout=timedelta(seconds=TEMPORAL_SECONDS)
        )
    except RPCError as error:
        if error.status not in NOT_FOR_US:
            raise InvalidConfiguration(TEMPORAL_SILENT) from None
        log.warning("search_attributes_not_seen", needed=sorted(KINDS))
        return
    except RuntimeError:
        raise InvalidConfiguration(TEMPORAL_SILENT) from None
    known = {name: _spoken(kind) for name, kind in listed.custom_attributes.items()}
    _require_all(client.namespace, known)


def _require_all(namespace: str, known: dict[str, str]) -> None:
    other = {name: known[name] for name, kind in KINDS.items() if known.get(name, kind) != kind}
    if other:
        told = ", ".join(f"{name} is {kind} and must be {KINDS[name]}" for name, kind in other.items())
        raise InvalidConfiguration(
            f"Temporal's namespace {namespace} has search attributes of another type: {told}; "
            "`temporal operator search-attribute remove` and `create` mend that."
        )
    missing = {name: kind for name, kind in KINDS.items() if name not in known}
    if missing:
        raise InvalidConfiguration(
            f"Temporal's namespace {namespace} lacks {', '.join(missing)}; register with "
            f"`temporal operator search-attribute create --namespace {namespace} {' '.join(options(missing))}`, "
            "then start again."
        )


def _spoken(kind: "IndexedValueType.ValueType") -> str:
    """INDEXED_VALUE_TYPE_KEYWORD_LIST as the command line has it: KeywordList."""
    return "".join(part.title() for part in IndexedValueType.Name(kind).split("_")[3:])
