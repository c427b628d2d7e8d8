"""Refunds that have ended long ago, as many as one likes: every row that each leaves, made by the database itself.

The ids are spread like real ones, so an index over them is as large and as deep. Indexes and keys are taken off while
rows go in and put back afterwards: kept up row by row, they would take most of the time.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg import sql

BATCH: Final = 250_000
"""Operations that go in by one statement."""

TENANTS: Final = 50

DAYS: Final = 90
"""Over which they are spread, up to yesterday."""

EACH: Final = """
SELECT n, 'op_' || substr(md5('op' || n), 1, 24) AS operation_id,
    CASE WHEN n % {tenants} = 0 THEN 'tenant-a' ELSE 'tenant-' || n % {tenants} END AS tenant,
    encode(sha256(convert_to('intent' || n, 'UTF8')), 'hex') AS intent_hash,
    now() - interval '1 day' - interval '{days} days' * n / {all} AS at
FROM generate_series({first}, {last}) AS n
"""

ROWS: Final = {
    "operations": """
INSERT INTO operations (operation_id, tenant, subject, agent, roles, scopes, tool, tool_version, contract_hash, writes,
    intent_hash, act_hash, arguments, resource, state, result, reference, clearance, cleared_at, created_at, updated_at,
    ended_at, swept_at)
SELECT operation_id, tenant, 'support-' || n % 200, 'support-agent', '{{support}}', '{{}}', 'refund_payment', '1',
    repeat('c', 64), true, intent_hash, encode(sha256(convert_to('act' || n, 'UTF8')), 'hex'),
    jsonb_build_object('order_id', 'O-' || n, 'quote_id', 'qt-' || n, 'quote_version', 1, 'amount', 12000,
        'currency', 'KRW')::text, 'order:O-' || n, 'succeeded',
    jsonb_build_object('refund_id', 'rf-' || n, 'payment_id', 'pay-' || n, 'amount', 12000, 'currency', 'KRW')::text,
    'rf-' || n, jsonb_build_object('intent_hash', intent_hash, 'resource_version', '1/pay-17/1', 'policy_version',
        'policy-1', 'approval_id', NULL), at, at, at, at, at
FROM ({each}) AS each
""",
    "calls": """
INSERT INTO calls (tenant, delivery_key, request_id, call_id, position, surface, lineage, tool, proposal_hash,
    operation_id, created_at)
SELECT tenant, encode(sha256(convert_to('key' || n, 'UTF8')), 'hex'), 'msg_' || md5('request' || n),
    'toolu_' || md5('call' || n), 0, 'anthropic-messages', encode(sha256(convert_to('lineage' || n, 'UTF8')), 'hex'),
    'refund_payment', encode(sha256(convert_to('proposal' || n, 'UTF8')), 'hex'), operation_id, at
FROM ({each}) AS each
""",
    "verdicts": """
INSERT INTO verdicts (tenant, request_id, call_id, operation_id, layer, at)
SELECT tenant, CASE WHEN at_the_door THEN 'msg_' || md5('request' || n) END,
    CASE WHEN at_the_door THEN 'toolu_' || md5('call' || n) END, operation_id, layer, at
FROM ({each}) AS each, (VALUES ('parse', true), ('exposure', true), ('schema', true), ('business', false),
    ('authorization', false), ('risk', false)) AS layers (layer, at_the_door)
""",
    "claims": """
INSERT INTO claims (operation_id, intent_hash, idempotency_key, owner, generation, lease_until, sends, first_sent_at,
    last_sent_at, outcome, reference, data, concluded_at)
SELECT operation_id, intent_hash, encode(sha256(convert_to('claim' || n, 'UTF8')), 'hex'), md5('owner' || n), 1, at, 1,
    at, at, 'applied', 'rf-' || n, jsonb_build_object('refund_id', 'rf-' || n, 'payment_id', 'pay-' || n, 'amount',
        12000, 'currency', 'KRW')::text, at
FROM ({each}) AS each
""",
    "spendings": """
INSERT INTO spendings (operation_id, tenant, subject, currency, minor_units, reserved_at, left_at)
SELECT operation_id, tenant, 'support-' || n % 200, 'KRW', 12000, at, at FROM ({each}) AS each
""",
    "handler_calls": """
INSERT INTO handler_calls (operation_id, tool, generation, began_at, ended_at, outcome)
SELECT operation_id, 'refund_payment', 1, at, at, 'applied' FROM ({each}) AS each
""",
    "outbox": """
INSERT INTO outbox (operation_id, kind, payload, created_at, due_at, sent_at)
SELECT operation_id, kind, CASE kind
    WHEN 'start' THEN jsonb_build_object('tool', 'refund_payment', 'tenant', tenant, 'intent_hash', intent_hash)
    ELSE jsonb_build_object('what', 'operation.ended', 'data', jsonb_build_object('operation_id', operation_id,
        'tenant', tenant, 'tool', 'refund_payment', 'state', 'succeeded', 'requester', 'support-' || n % 200)) END,
    at, at, at
FROM ({each}) AS each, (VALUES ('start'), ('event')) AS kinds (kind)
""",
    "events": """
INSERT INTO events (tenant, operation_id, actor, what, tool, resource, detail, at, written_by, place, previous_hash,
    hash)
SELECT tenant, operation_id, 'executor', what, 'refund_payment', 'order:O-' || n, detail::jsonb, at, 'onceward_worker',
    n / {tenants} * 6 + step, repeat('0', 64), encode(sha256(convert_to(step || 'line' || n, 'UTF8')), 'hex')
FROM ({each}) AS each, (VALUES (0, 'proposed', '{{"surface": "anthropic-messages", "subject": "user-17"}}'),
    (1, 'gate.cleared', '{{"policy": "policy-1", "resource_version": "1/pay-17/1"}}'), (2, 'started', '{{}}'),
    (3, 'claim.acquired', '{{"generation": 1}}'),
    (4, 'effect.applied', '{{"code": null, "reference": "rf-204", "generation": 1}}'), (5, 'succeeded', '{{}}')
) AS steps (step, what, detail)
""",
}
"""What one finished refund that nobody had to approve leaves in each table."""

LARGEST_FIRST: Final = ("events", "verdicts", "outbox", "operations", "calls", "claims", "spendings", "handler_calls")

KEYS: Final = """
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), contype::text FROM pg_constraint
WHERE conrelid = ANY(%(tables)s::regclass[]) AND contype IN ('p', 'u', 'f')
UNION
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), contype::text FROM pg_constraint
WHERE confrelid = ANY(%(tables)s::regclass[])
"""

INDEXES: Final = """
SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
WHERE indrelid = ANY(%(tables)s::regclass[])
"""

SIZES: Final = """
SELECT relname, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname = ANY(%(tables)s)
"""

Tell = Callable[[str], None]


def plant(superuser_dsn: str, number: int, tell: Tell) -> None:
    """Add so many finished refunds to tables that have no rows yet."""
    with _connected(superuser_dsn) as connection:
        named = {"tables": list(ROWS)}
        keys = sorted(connection.execute(KEYS, named).fetchall(), key=lambda key: "fpu".index(key[3]))
        for table, name, *_ in keys:
            connection.execute(_put("ALTER TABLE {} DROP CONSTRAINT {}", table, name))
        indexes = connection.execute(INDEXES, named).fetchall()
        for name, _ in indexes:
            connection.execute(_put("DROP INDEX {}", name))
    _side_by_side(superuser_dsn, [_filling(table, number) for table in LARGEST_FIRST], tell)
    _side_by_side(superuser_dsn, [[sql.SQL(definition)] for _, definition in indexes], tell)
    with _connected(superuser_dsn) as connection:
        for table, name, definition, kind in reversed(keys):
            valid = " NOT VALID" if kind == "f" else ""
            connection.execute(_put("ALTER TABLE {} ADD CONSTRAINT {} ", table, name) + sql.SQL(definition + valid))
            tell(f"key {name}")
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")


def sizes(superuser_dsn: str) -> dict[str, tuple[int, int]]:
    """Bytes of each table and of its indexes."""
    with psycopg.connect(superuser_dsn) as connection:
        return {name: (table, index) for name, table, index in connection.execute(SIZES, {"tables": list(ROWS)})}


def _filling(table: str, number: int) -> list[sql.SQL]:
    """The statements that fill a table, one for each batch."""
    spread = {"tenants": TENANTS, "days": DAYS, "all": number}
    batches = [EACH.format(**spread, first=n, last=min(n + BATCH - 1, number)) for n in range(1, number + 1, BATCH)]
    return [sql.SQL(ROWS[table].format(each=batch, tenants=TENANTS)) for batch in batches]


def _side_by_side(superuser_dsn: str, works: Sequence[Sequence[sql.SQL]], tell: Tell) -> None:
    """Do each work, on as many connections as the machine has cores."""

    def do(work: Sequence[sql.SQL]) -> None:
        with _connected(superuser_dsn) as connection:
            for statement in work:
                connection.execute(statement)
        tell(" ".join(work[0].as_string().split()[:3]))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(do, works))


@contextmanager
def _connected(superuser_dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(superuser_dsn, autocommit=True) as connection:
        # Foreign keys and triggers look at each row otherwise; what is planted fits.
        connection.execute("SET session_replication_role = replica")
        connection.execute("SET synchronous_commit = off")
        connection.execute("SET maintenance_work_mem = '1GB'")
        yield connection


def _put(statement: str, *names: str) -> sql.Composed:
    return sql.SQL(statement).format(*map(sql.Identifier, names))
