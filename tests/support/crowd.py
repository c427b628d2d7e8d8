"""A tenant with very much in it, planted by the tables' owner: what lists and searches must be quick on."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres.engine import Database

OPERATIONS: Final = 100_000
PENDING: Final = 1_000

OF_ALL: Final = """
INSERT INTO operations (operation_id, tenant, subject, agent, roles, scopes, tool, tool_version, contract_hash, writes,
    intent_hash, act_hash, arguments, resource, state, created_at, updated_at, swept_at, ended_at)
SELECT :tenant || '-op-' || n, :tenant, 'support-' || n % 200, 'support-agent', '{support}', '{}',
    CASE WHEN n % 1000 = 0 THEN 'issue_store_credit' ELSE 'refund_payment' END, '1', 'contract', true,
    :tenant || n, :tenant || n, '{"order_id": "O-17", "amount": 12000, "currency": "KRW"}', 'order:O-' || n % 20000,
    standing.state, standing.at, standing.at, now(),
    CASE WHEN standing.state IN ('succeeded', 'failed_terminal') THEN standing.at END
FROM generate_series(1, :operations) AS n,
    LATERAL (SELECT now() - n * interval '1 minute' AS at, CASE
        WHEN n <= :pending THEN 'awaiting_approval'
        WHEN n % 5000 = 1 THEN 'manual_review'
        WHEN n % 5000 = 2 THEN 'unconfirmed'
        WHEN n % 5000 = 3 THEN 'started'
        WHEN n % 50 = 4 THEN 'failed_terminal'
        ELSE 'succeeded' END AS state) AS standing
"""

CALLS: Final = """
INSERT INTO calls (tenant, delivery_key, request_id, call_id, position, surface, lineage, tool, proposal_hash,
    operation_id)
SELECT tenant, 'key-' || operation_id, 'request-' || operation_id, 'call-' || operation_id, 0, 'anthropic-messages',
    'lineage', tool, 'hash', operation_id
FROM operations WHERE tenant = :tenant
"""

QUESTIONS: Final = """
INSERT INTO approvals (approval_id, operation_id, tenant, revision, state, intent_hash, resource_version,
    policy_version, approver_role, quorum, impact, why, asked_at, expires_at)
SELECT 'ap-' || operation_id, operation_id, tenant, 1, 'pending', intent_hash, '1', '1', 'approver:refunds', 1,
    jsonb_build_object('resource', jsonb_build_object('kind', 'order', 'id', substr(resource, 7), 'owner_tenant',
        tenant, 'version', '1'), 'action', 'Refund a payment', 'money', jsonb_build_object('minor_units', 12000,
        'currency', 'KRW'), 'count', 1, 'reversible', false, 'facts', '[]'::jsonb, 'items', '[]'::jsonb),
    'It moves money.', created_at, created_at + interval '3 days'
FROM operations WHERE tenant = :tenant AND state = 'awaiting_approval'
"""

SPENDINGS: Final = """
INSERT INTO spendings (operation_id, tenant, subject, currency, minor_units)
SELECT operation_id, tenant, subject, 'KRW', 12000 FROM operations
WHERE tenant = :tenant AND state = 'awaiting_approval'
"""

REMOVED: Final = ("spendings", "approvals", "calls", "operations")


@asynccontextmanager
async def crowd(
    owner: Database, tenant: str, operations: int = OPERATIONS, pending: int = PENDING
) -> AsyncIterator[None]:
    """So many operations, the newest of them waiting for approval; they are gone afterwards."""
    async with owner.transaction() as connection:
        planted = {"tenant": tenant, "operations": operations, "pending": pending}
        await connection.execute(text(OF_ALL), planted)
        for statement in (CALLS, QUESTIONS, SPENDINGS):
            await connection.execute(text(statement), {"tenant": tenant})
    await _count_anew(owner)
    try:
        yield
    finally:
        async with owner.transaction() as connection:
            for table in REMOVED:
                await _remove(connection, table, tenant)
        await _count_anew(owner)


async def _remove(connection: AsyncConnection, table: str, tenant: str) -> None:
    await connection.execute(text(f"DELETE FROM {table} WHERE tenant = :tenant"), {"tenant": tenant})


async def _count_anew(owner: Database) -> None:
    """What PostgreSQL plans with: how much there is of what."""
    async with owner.transaction() as connection:
        await connection.execute(text("ANALYZE operations, calls, approvals"))
