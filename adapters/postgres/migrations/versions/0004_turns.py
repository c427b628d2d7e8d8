"""The order of a turn's calls, what providers have run themselves, and the tools that searches have found.

Revision ID: 0004
Revises: 0003
"""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TABLES = """
ALTER TABLE operations ADD COLUMN after TEXT[];
ALTER TABLE calls ADD COLUMN hosted BOOLEAN DEFAULT false NOT NULL;
CREATE INDEX hosted_approvals ON calls (tenant, md5(call_id)) WHERE hosted;

CREATE TABLE hosted_calls (
    tenant TEXT NOT NULL,
    delivery_key TEXT NOT NULL,
    request_id TEXT NOT NULL,
    surface TEXT NOT NULL,
    item_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    failed BOOLEAN,
    code TEXT,
    operation_id TEXT,
    at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    PRIMARY KEY (tenant, delivery_key),
    FOREIGN KEY(operation_id) REFERENCES operations (operation_id)
);
CREATE INDEX hosted_calls_by_operation ON hosted_calls (operation_id) WHERE operation_id IS NOT NULL;
CREATE INDEX hosted_calls_at_fault ON hosted_calls (at) WHERE code IS NOT NULL;
COMMENT ON TABLE hosted_calls IS
    'What providers have run themselves; code says what was wrong with it, operation_id what had allowed it.';

CREATE TABLE discoveries (
    lineage TEXT NOT NULL,
    tool TEXT NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    PRIMARY KEY (lineage, tool)
);
COMMENT ON TABLE discoveries IS 'The tools that a search has brought up in a conversation.';
"""

RIGHTS = """
GRANT SELECT, INSERT ON hosted_calls, discoveries TO onceward_door;
GRANT SELECT ON hosted_calls, discoveries TO onceward_worker;
GRANT SELECT (after) ON operations TO onceward_relay;
"""


def upgrade() -> None:
    op.execute(TABLES)
    op.execute(RIGHTS)


def downgrade() -> None:
    op.execute(
        "DROP TABLE discoveries, hosted_calls; DROP INDEX hosted_approvals; "
        "ALTER TABLE calls DROP COLUMN hosted; ALTER TABLE operations DROP COLUMN after"
    )
