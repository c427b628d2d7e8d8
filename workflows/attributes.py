"""What operations and turns can be searched by in the console."""

from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

TOOL = SearchAttributeKey.for_keyword("OncewardTool")
TENANT = SearchAttributeKey.for_keyword("OncewardTenant")
STATE = SearchAttributeKey.for_keyword("OncewardState")
WAITING_FOR = SearchAttributeKey.for_keyword("OncewardWaitingFor")
ALL = (TOOL, TENANT, STATE, WAITING_FOR)


def of_operation(tool: str, tenant: str) -> TypedSearchAttributes:
    """Those of an operation that begins."""
    return TypedSearchAttributes(
        [
            SearchAttributePair(TOOL, tool),
            SearchAttributePair(TENANT, tenant),
            SearchAttributePair(STATE, "proposed"),
        ]
    )


def of_turn(tenant: str) -> TypedSearchAttributes:
    """Those of a turn."""
    return TypedSearchAttributes([SearchAttributePair(TENANT, tenant)])
