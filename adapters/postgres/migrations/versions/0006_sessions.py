"""People's sessions at the back office are kept on the server.

Revision ID: 0006
Revises: 0005
"""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TABLE = """
CREATE TABLE sessions (
    session_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    earlier_fingerprint TEXT,
    tenant TEXT NOT NULL,
    subject TEXT NOT NULL,
    name TEXT NOT NULL,
    roles TEXT[] NOT NULL,
    locale TEXT NOT NULL,
    zone TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    seen_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    checked_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    ends_at TIMESTAMP WITH TIME ZONE NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    PRIMARY KEY (session_id),
    UNIQUE (fingerprint)
);
CREATE INDEX sessions_by_earlier_fingerprint ON sessions (earlier_fingerprint) WHERE earlier_fingerprint IS NOT NULL;
CREATE INDEX sessions_of_a_person ON sessions (tenant, subject, created_at) WHERE ended_at IS NULL;
CREATE INDEX sessions_by_end ON sessions (ends_at);
COMMENT ON TABLE sessions IS
    'Who is signed in to the back office, until when; of the secret in their browser only the fingerprint.';
"""

RIGHTS = """
-- A session never changes its person and is never prolonged. The door takes away what has long ended: nothing that was
-- decided hangs on it.
GRANT SELECT, INSERT, DELETE ON sessions TO onceward_door;
GRANT UPDATE (fingerprint, earlier_fingerprint, name, roles, locale, zone, seen_at, checked_at, ended_at)
    ON sessions TO onceward_door;
"""


def upgrade() -> None:
    op.execute(TABLE)
    op.execute(RIGHTS)


def downgrade() -> None:
    op.execute("DROP TABLE sessions")
