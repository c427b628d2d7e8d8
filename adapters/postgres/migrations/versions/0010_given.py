"""The arguments as the model gave them, beside those that are sent.

Revision ID: 0010
Revises: 0009
"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE operations ADD COLUMN given TEXT")


def downgrade() -> None:
    op.execute("ALTER TABLE operations DROP COLUMN given")
