"""Who has sent a request, and what it says, as the door in front has found out."""

from collections.abc import Mapping
from typing import Any

from mcp.server.context import ServerRequestContext

from adapters.intake.arrival import ARRIVAL, Arrival


def arrival_of(context: ServerRequestContext[Any, Any]) -> Arrival:
    """The message's arrival; a request that came by no door has none, and is not served."""
    arrival = context.request.scope.get(ARRIVAL) if context.request is not None else None
    if not isinstance(arrival, Arrival):
        raise LookupError("a request that came by no door")
    return arrival


def params_of(context: ServerRequestContext[Any, Any]) -> Mapping[str, Any]:
    """The parameters as the host has written them, read strictly."""
    params = arrival_of(context).message.get("params")
    return params if isinstance(params, Mapping) else {}
