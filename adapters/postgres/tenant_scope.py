"""Queries over all tenants, read as if there were one tenant only.

Each of these texts stands before such a query and puts some rows in the place of a table, under the table's own name:
the query itself stays the one that `python -m worker verify` asks.

The rows that the invariants join with one another are named by a list of ids. PostgreSQL then knows how many there are
and finds them by the index on `operation_id`; of a tenant that has come since its statistics were made it would expect
next to nothing, and read the same rows again and again for each other.
"""

from typing import Final

TABLES: Final = ("operations", "claims", "events", "verdicts", "handler_calls", "approvals")
"""Those that have an index on `operation_id` and of which an invariant reads more than what one row leads to."""

NEWEST: Final = """
SELECT operation_id
FROM operations
WHERE tenant = :tenant AND created_at >= clock_timestamp() - CAST(:within AS interval)
ORDER BY created_at DESC
LIMIT :most
"""
"""The ids that `OF_OPERATIONS` is given."""

MEANT: Final = """{0} AS NOT MATERIALIZED (
    SELECT {0}.* FROM {0} JOIN unnest(CAST(:ids AS text[])) AS meant (operation_id) USING (operation_id)
)"""

HOSTED: Final = "hosted_calls AS NOT MATERIALIZED (SELECT * FROM hosted_calls WHERE tenant = :tenant)"

OF_OPERATIONS: Final = "WITH " + ",\n".join([*map(MEANT.format, TABLES), HOSTED])
"""What belongs to the operations `:ids` of `:tenant`, and what providers have run for it."""

WAITING_FOR_TENANT: Final = """
WITH outbox AS NOT MATERIALIZED (
    SELECT * FROM outbox
    WHERE (SELECT tenant FROM operations WHERE operations.operation_id = outbox.operation_id) = :tenant
),
operations AS NOT MATERIALIZED (SELECT * FROM operations WHERE tenant = :tenant),
approvals AS NOT MATERIALIZED (SELECT * FROM approvals WHERE tenant = :tenant)
"""
"""Of `:tenant`, for queries about what is open."""

FOR_LISTS_OF_IDS: Final = "SELECT set_config('plan_cache_mode', 'force_custom_plan', true)"
"""Each list is planned for by its own length, until the transaction ends."""

NOT_FOR_LONG: Final = "SELECT set_config('statement_timeout', '20s', true)"
"""A person waits for it: what takes longer is given up, until the transaction ends."""
