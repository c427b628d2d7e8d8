"""The invariants over one tenant's newest operations: the same queries, and which operations break each."""

from typing import Any, Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.http.back_office.dashboard_ports import CHECKED, MOST_BREACHES, MOST_CHECKED, Invariant
from adapters.postgres.invariant_queries import EACH_ONE, NONE, NONE_ELSEWHERE
from adapters.postgres.invariants import NAMES, VALUES
from adapters.postgres.tenant_scope import FOR_LISTS_OF_IDS, NEWEST, OF_OPERATIONS

BREACHES: Final = """
SELECT count(*), min(operations.updated_at), (
    array_agg(about ORDER BY operations.updated_at DESC NULLS LAST)
)[1:{most}]
FROM ({breaking}) AS breach
LEFT JOIN operations ON operations.operation_id = about
"""
"""How many there are, since when the longest unchanged of them is as it is, and the newest of them."""

NOT_ONE: Final = "SELECT about FROM ({}) AS each_group WHERE number <> 1"

FIRST_AT_FAULT: Final = """
SELECT min(at) FROM hosted_calls WHERE code IS NOT NULL AND at > clock_timestamp() - interval '7 days'
"""
"""Since when providers run what they may not."""


async def invariants_of(connection: AsyncConnection, tenant: str) -> tuple[Invariant, ...]:
    """Every invariant, in the order in which they are told."""
    await connection.execute(text(FOR_LISTS_OF_IDS))
    newest = await connection.execute(text(NEWEST), {"tenant": tenant, "within": CHECKED, "most": MOST_CHECKED})
    scope = {"tenant": tenant, "ids": [operation_id for (operation_id,) in newest]}
    return tuple([await _invariant(connection, name, scope) for name in NAMES])


async def _invariant(connection: AsyncConnection, name: str, scope: dict[str, Any]) -> Invariant:
    breaches = BREACHES.format(most=MOST_BREACHES, breaking=_breaking(name))
    ((broken, since, about),) = await _rows(connection, breaches, scope)
    if name not in NONE_ELSEWHERE:
        # One operation may break it in several ways, such as with several items of a batch.
        return Invariant(name, broken, since, operations=tuple(dict.fromkeys(about or ())))
    ((first,),) = await _rows(connection, FIRST_AT_FAULT, scope)
    return Invariant(name, broken, first, theirs=tuple(about or ()))


def _breaking(name: str) -> str:
    return NOT_ONE.format(EACH_ONE[name]) if name in EACH_ONE else NONE.get(name) or NONE_ELSEWHERE[name]


async def _rows(connection: AsyncConnection, query: str, scope: dict[str, Any]) -> list[Any]:
    # A query that does not name a value is not given it.
    named = {name: value for name, value in VALUES.items() if f":{name}" in query}
    return list(await connection.execute(text(OF_OPERATIONS + query), named | scope))
