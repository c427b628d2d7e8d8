"""The store-credit ledger: a service of its own that lives in the same database.

Revision ID: 0002
Revises: 0001
"""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE ledger_accounts (
    account_id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    customer TEXT NOT NULL,
    currency TEXT NOT NULL,
    balance BIGINT DEFAULT '0' NOT NULL,
    credit_limit BIGINT NOT NULL,
    closed BOOLEAN DEFAULT false NOT NULL,
    version INTEGER DEFAULT '1' NOT NULL,
    PRIMARY KEY (account_id),
    CONSTRAINT ledger_balance_is_never_negative CHECK (balance >= 0)
);
COMMENT ON TABLE ledger_accounts IS 'A customer''s store credit, in minor units; the version rises whenever the balance moves.';

CREATE TABLE ledger_entries (
    operation_id TEXT NOT NULL,
    item TEXT DEFAULT '' NOT NULL,
    entry_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    minor_units BIGINT NOT NULL,
    currency TEXT NOT NULL,
    reason TEXT NOT NULL,
    balance_after BIGINT NOT NULL,
    generation INTEGER NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    PRIMARY KEY (operation_id, item),
    UNIQUE (entry_id),
    FOREIGN KEY(account_id) REFERENCES ledger_accounts (account_id),
    CONSTRAINT ledger_credit_is_positive CHECK (minor_units > 0)
);
CREATE INDEX ledger_entries_by_account ON ledger_entries (account_id, at);
COMMENT ON TABLE ledger_entries IS 'A credit that was given: one for each operation and item, whoever sends it and how often.';

CREATE TABLE ledger_fences (
    operation_id TEXT NOT NULL,
    item TEXT DEFAULT '' NOT NULL,
    generation INTEGER NOT NULL,
    PRIMARY KEY (operation_id, item)
);
COMMENT ON TABLE ledger_fences IS 'The smallest generation of an operation that is still let in; every send and every look may raise it.';
"""

RIGHTS = """
-- The worker gives credits; it can neither open, close nor re-assign an account, nor rewrite an entry. Nobody else of
-- ours has any right here.
GRANT SELECT ON ledger_accounts, ledger_entries, ledger_fences TO onceward_worker;
GRANT INSERT ON ledger_entries, ledger_fences TO onceward_worker;
GRANT UPDATE (balance, version) ON ledger_accounts TO onceward_worker;
GRANT UPDATE (generation) ON ledger_fences TO onceward_worker;
"""


def upgrade() -> None:
    op.execute(TABLES)
    op.execute(RIGHTS)


def downgrade() -> None:
    op.execute("DROP TABLE ledger_fences, ledger_entries, ledger_accounts")
