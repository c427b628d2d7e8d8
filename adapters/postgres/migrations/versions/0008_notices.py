"""What receivers outside are to be told.

Revision ID: 0008
Revises: 0007
"""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TABLE = """
CREATE TABLE notices (
    message_id BIGINT NOT NULL,
    receiver TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    due_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    attempts INTEGER DEFAULT '0' NOT NULL,
    failure TEXT,
    sent_at TIMESTAMP WITH TIME ZONE,
    set_aside_at TIMESTAMP WITH TIME ZONE,
    PRIMARY KEY (message_id, receiver),
    FOREIGN KEY(message_id) REFERENCES outbox (message_id)
);
CREATE INDEX notices_due ON notices (receiver, due_at) WHERE sent_at IS NULL AND set_aside_at IS NULL;
CREATE INDEX notices_set_aside ON notices (message_id) WHERE set_aside_at IS NOT NULL;
COMMENT ON TABLE notices IS 'What each receiver outside is to be told of an event, and whether it has taken it.';
"""

RIGHTS = """
GRANT SELECT ON notices TO onceward_door, onceward_worker, onceward_relay;
GRANT INSERT ON notices TO onceward_relay;
GRANT UPDATE (due_at, attempts, failure, sent_at, set_aside_at) ON notices TO onceward_relay;
"""


def upgrade() -> None:
    op.execute(TABLE)
    op.execute(RIGHTS)


def downgrade() -> None:
    op.execute("DROP TABLE notices")
