"""What people look for in the back office is found by an index, and an operator may put a message back.

Revision ID: 0005
Revises: 0004
"""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

INDEXES = """
DROP INDEX operations_by_tenant, pending_approvals;
CREATE INDEX operations_by_tenant ON operations (tenant, created_at DESC, operation_id DESC);
CREATE INDEX operations_by_state ON operations (tenant, state, created_at DESC, operation_id DESC);
CREATE INDEX operations_by_tool ON operations (tenant, tool, created_at DESC, operation_id DESC);
CREATE INDEX operations_by_requester ON operations (tenant, subject, created_at DESC, operation_id DESC);
CREATE INDEX operations_by_object ON operations (tenant, md5(substr(resource, strpos(resource, ':') + 1)));
CREATE INDEX operations_at_rest ON operations (tenant, state, updated_at) WHERE ended_at IS NULL;
CREATE INDEX calls_by_id ON calls (tenant, md5(call_id));
CREATE INDEX calls_by_request ON calls (tenant, md5(request_id));
CREATE INDEX open_approvals ON approvals (tenant, expires_at, approval_id) WHERE state IN ('pending', 'granted');
"""

RIGHTS = """
-- An operator, through the back office, has a message that was set aside delivered after all; what it says stays.
GRANT UPDATE (due_at, attempts, failure, set_aside_at) ON outbox TO onceward_door;
"""


def upgrade() -> None:
    op.execute(INDEXES)
    op.execute(RIGHTS)


def downgrade() -> None:
    op.execute("REVOKE UPDATE (due_at, attempts, failure, set_aside_at) ON outbox FROM onceward_door")
    op.execute(
        "DROP INDEX operations_by_tenant, operations_by_state, operations_by_tool, operations_by_requester, "
        "operations_by_object, operations_at_rest, calls_by_id, calls_by_request, open_approvals"
    )
    op.execute(
        "CREATE INDEX operations_by_tenant ON operations (tenant, created_at DESC); "
        "CREATE INDEX pending_approvals ON approvals (tenant, asked_at) WHERE state = 'pending'"
    )
