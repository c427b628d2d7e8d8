"""What operations and turns are found by in the console, and the line that names them there."""

import json
from collections.abc import Mapping
from datetime import datetime

from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

TOOL = SearchAttributeKey.for_keyword("OncewardTool")
TENANT = SearchAttributeKey.for_keyword("OncewardTenant")
STATE = SearchAttributeKey.for_keyword("OncewardState")
WAITING_FOR = SearchAttributeKey.for_keyword("OncewardWaitingFor")
WAITING_SINCE: SearchAttributeKey[datetime] = SearchAttributeKey.for_datetime("OncewardWaitingSince")
ALL = (TOOL, TENANT, STATE, WAITING_FOR, WAITING_SINCE)

KINDS = {key.name: key.indexed_value_type.name.title() for key in ALL}
"""Each attribute's name, and its type as Temporal's command line calls it. A namespace must have them all."""

LONGEST_SUMMARY = 200
"""Bytes, as recorded; Temporal refuses a start with a much longer one."""


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


def options(kinds: Mapping[str, str]) -> list[str]:
    """What names such attributes on Temporal's command line."""
    return [part for name, kind in kinds.items() for part in ("--name", name, "--type", kind)]


def summary(what: str, tenant: str) -> str:
    """One line for lists and steps: the tool (or the calls of a turn) and the tenant, no argument and no person."""
    line = f"{what} for {tenant}"
    while len(json.dumps(line)) > LONGEST_SUMMARY:
        line = line[:-1]
    return line


def summary_of_turn(reads: int, writes: int, tenant: str) -> str:
    """The same of a turn."""
    return summary(f"{writes} writes after {reads} reads" if reads else f"{writes} writes", tenant)


def summary_of(found_by: TypedSearchAttributes) -> str | None:
    """The same from a running operation's own attributes; one that was started by hand may have none."""
    tool, tenant = found_by.get(TOOL), found_by.get(TENANT)
    return summary(tool, tenant) if tool and tenant else None
