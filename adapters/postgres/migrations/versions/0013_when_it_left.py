"""What an operation takes out of a day's totals says itself when it left, so that counting looks at nothing else.

Revision ID: 0013
Revises: 0012
"""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

LEFT = """
ALTER TABLE spendings ADD COLUMN left_at TIMESTAMP WITH TIME ZONE;
UPDATE spendings SET left_at = operations.ended_at
FROM operations WHERE operations.operation_id = spendings.operation_id AND operations.ended_at IS NOT NULL;

DROP INDEX spendings_of_a_day;
CREATE INDEX spendings_of_a_day ON spendings (tenant, currency, (COALESCE(left_at, 'infinity'::timestamp with time zone)))
INCLUDE (subject, minor_units, operation_id) WHERE released_at IS NULL;

-- A trigger, because a worker of the release before this one ends operations too while this one is rolled out.
CREATE FUNCTION spending_leaves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE spendings SET left_at = NEW.ended_at WHERE operation_id = NEW.operation_id;
    RETURN NULL;
END $$;
CREATE TRIGGER spending_leaves AFTER UPDATE OF ended_at ON operations FOR EACH ROW
WHEN (OLD.ended_at IS DISTINCT FROM NEW.ended_at) EXECUTE FUNCTION spending_leaves();
GRANT UPDATE (left_at) ON spendings TO onceward_worker;
"""


def upgrade() -> None:
    """For both releases."""
    op.execute(LEFT)


def downgrade() -> None:
    """As before: counting asks the operations."""
    op.execute("DROP TRIGGER spending_leaves ON operations; DROP FUNCTION spending_leaves();")
    op.execute("DROP INDEX spendings_of_a_day; ALTER TABLE spendings DROP COLUMN left_at;")
    op.execute("CREATE INDEX spendings_of_a_day ON spendings (tenant, currency, reserved_at) WHERE released_at IS NULL")
