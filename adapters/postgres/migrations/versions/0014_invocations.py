"""Each call of a handler keeps the ids under which the other side knows it.

Revision ID: 0014
Revises: 0013
"""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE handler_calls ADD COLUMN request_id TEXT, ADD COLUMN task_id TEXT")


def downgrade() -> None:
    op.execute("ALTER TABLE handler_calls DROP COLUMN request_id, DROP COLUMN task_id")
