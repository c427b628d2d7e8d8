"""An operation that moves says so to those who wait for it.

Revision ID: 0015
Revises: 0014
"""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

NEWS = """
-- A trigger, because a worker of the release before this one moves operations too while this one is rolled out.
CREATE FUNCTION operation_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('onceward_progress', NEW.operation_id);
    RETURN NULL;
END $$;
-- Commits that notify take turns, so only what somebody waits for is told: nobody waits for a beginning.
CREATE TRIGGER operation_moved AFTER UPDATE OF state ON operations FOR EACH ROW
WHEN (OLD.state IS DISTINCT FROM NEW.state AND NEW.state <> 'started') EXECUTE FUNCTION operation_moved();
"""


def upgrade() -> None:
    """For both releases: nobody has to listen."""
    op.execute(NEWS)


def downgrade() -> None:
    """As before: whoever waits looks again and again."""
    op.execute("DROP TRIGGER operation_moved ON operations; DROP FUNCTION operation_moved();")
