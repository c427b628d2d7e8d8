"""What a tenant's dashboard counts within a span is found by an index.

Revision ID: 0009
Revises: 0008
"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

INDEXES = """
CREATE INDEX ended_operations ON operations (tenant, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX refused_calls ON calls (tenant, created_at) WHERE refusal IS NOT NULL;
CREATE INDEX refusing_verdicts ON verdicts (tenant, at) WHERE code IS NOT NULL;
CREATE INDEX approvals_by_question ON approvals (tenant, asked_at);
"""


def upgrade() -> None:
    op.execute(INDEXES)


def downgrade() -> None:
    op.execute("DROP INDEX ended_operations, refused_calls, refusing_verdicts, approvals_by_question")
