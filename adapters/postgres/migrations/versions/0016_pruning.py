"""What ended long ago gives up its content and keeps its identity and its end.

Revision ID: 0016
Revises: 0015
"""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

COLUMN = """
ALTER TABLE operations ADD COLUMN pruned_at TIMESTAMP WITH TIME ZONE;
CREATE INDEX operations_to_prune ON operations (ended_at)
WHERE ended_at IS NOT NULL AND pruned_at IS NULL AND code IS DISTINCT FROM 'outcome_abandoned';
"""

FUNCTION = """
-- Runs as the tables' owner, so that nobody else has to have the right to empty or remove anything.
-- What nobody could find out keeps its content: somebody may still have to.
CREATE FUNCTION prune_content(older_than interval, most integer)
RETURNS TABLE (pruned bigint, messages_gone bigint, notices_gone bigint, verdicts_gone bigint) LANGUAGE sql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
    WITH old AS MATERIALIZED (
        SELECT operation_id, tenant FROM operations
        WHERE ended_at IS NOT NULL AND pruned_at IS NULL AND code IS DISTINCT FROM 'outcome_abandoned'
        AND ended_at < clock_timestamp() - greatest(older_than, interval '7 days')
        ORDER BY ended_at LIMIT most FOR UPDATE SKIP LOCKED
    ), emptied AS (
        UPDATE operations SET arguments = '{}', given = NULL, pruned_at = clock_timestamp(),
            result = CASE WHEN result IS NOT NULL THEN jsonb_strip_nulls(
                jsonb_build_object('reference', reference, 'no_longer_kept', true))::text END
        FROM old WHERE operations.operation_id = old.operation_id
    ), unclaimed AS (
        UPDATE claims SET data = '{}' FROM old
        WHERE claims.operation_id = old.operation_id AND data IS NOT NULL
    ), done AS MATERIALIZED (
        SELECT message_id FROM outbox JOIN old USING (operation_id)
        WHERE sent_at IS NOT NULL
        AND NOT EXISTS (SELECT FROM notices WHERE notices.message_id = outbox.message_id AND notices.sent_at IS NULL)
    ), taken AS (
        DELETE FROM notices USING done WHERE notices.message_id = done.message_id RETURNING notices.message_id
    ), delivered AS (
        DELETE FROM outbox USING done WHERE outbox.message_id = done.message_id RETURNING outbox.message_id
    ), passed AS (
        -- One stays, as the ground of the end; where a layer has refused, all of them do, for their order tells.
        DELETE FROM verdicts USING old
        WHERE verdicts.operation_id = old.operation_id
        AND NOT EXISTS (
            SELECT FROM verdicts AS refusing
            WHERE refusing.operation_id = old.operation_id AND refusing.code IS NOT NULL
        )
        AND EXISTS (
            SELECT FROM verdicts AS later
            WHERE later.operation_id = old.operation_id AND later.verdict_id > verdicts.verdict_id
        )
        RETURNING verdicts.verdict_id
    ), told AS (
        INSERT INTO events (tenant, actor, what, detail)
        SELECT tenant, 'relay', 'content.pruned', jsonb_build_object('operations', count(*)) FROM old GROUP BY tenant
    )
    SELECT (SELECT count(*) FROM old), (SELECT count(*) FROM delivered), (SELECT count(*) FROM taken),
        (SELECT count(*) FROM passed)
$$;
REVOKE EXECUTE ON FUNCTION prune_content FROM PUBLIC;
GRANT EXECUTE ON FUNCTION prune_content TO onceward_relay;
"""


def upgrade() -> None:
    """For both releases: the one before reads what was pruned as it reads anything else."""
    op.execute(COLUMN)
    op.execute(FUNCTION)


def downgrade() -> None:
    """What was pruned does not come back."""
    op.execute("DROP FUNCTION prune_content; ALTER TABLE operations DROP COLUMN pruned_at")
