"""Operators have what was set aside for a receiver delivered after all, and the audit log is told, whichever way.

Revision ID: 0011
Revises: 0010
"""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

FUNCTION = """
-- Runs as the tables' owner, so that the relay, which may tell the audit log nothing, can tell it this and only this.
CREATE FUNCTION retell_notices(whom text) RETURNS bigint LANGUAGE sql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
    WITH again AS (
        UPDATE notices SET set_aside_at = NULL, failure = NULL, attempts = 0, due_at = clock_timestamp()
        WHERE receiver = whom AND set_aside_at IS NOT NULL
        RETURNING message_id
    ), told AS (
        INSERT INTO events (tenant, operation_id, actor, what, detail, tool, resource)
        SELECT tenant, operation_id, 'relay', 'notice.retold',
            jsonb_build_object('message', message_id, 'receiver', whom), tool, resource
        FROM again JOIN outbox USING (message_id) JOIN operations USING (operation_id)
        ORDER BY message_id
    )
    SELECT count(*) FROM again
$$;
"""

RIGHTS = """
GRANT UPDATE (due_at, attempts, failure, set_aside_at) ON notices TO onceward_door;
REVOKE EXECUTE ON FUNCTION retell_notices FROM PUBLIC;
GRANT EXECUTE ON FUNCTION retell_notices TO onceward_relay;
"""


def upgrade() -> None:
    op.execute(FUNCTION)
    op.execute(RIGHTS)


def downgrade() -> None:
    op.execute("DROP FUNCTION retell_notices")
    op.execute("REVOKE UPDATE (due_at, attempts, failure, set_aside_at) ON notices FROM onceward_door")
