"""Events for the outbox: written in the transaction that makes them true, with all that is ever told of them."""

from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres import rows
from workflows.domain.notice import NoticeType

ANNOUNCE: Final = text("""
INSERT INTO outbox (operation_id, kind, payload)
SELECT operation_id, 'event', jsonb_build_object('what', CAST(:what AS text), 'data', jsonb_strip_nulls(
    jsonb_build_object(
        'operation_id', operation_id,
        'tenant', operations.tenant,
        'tool', tool,
        'state', operations.state,
        'code', code,
        'requester', subject,
        'approval', CASE WHEN approval_id = :approval_id THEN jsonb_build_object(
            'approval_id', approval_id,
            'revision', revision,
            'state', approvals.state,
            'approver_role', approver_role,
            'quorum', quorum,
            'deadline', expires_at
        ) END,
        'amount', impact -> 'money',
        'count', impact -> 'count'
    )
))
FROM operations LEFT JOIN approvals USING (operation_id)
WHERE operation_id = :operation_id AND writes AND (approval_id = :approval_id OR :approval_id = '')
ORDER BY revision DESC
LIMIT 1
""")
"""What is told of a write, as the transaction sees it: ids, states and figures, and nobody's words or arguments.

The amount is the one that the named question showed, or the last one; there is none where nobody was ever asked.
"""


async def announce(connection: AsyncConnection, notice: NoticeType, operation_id: str, approval_id: str = "") -> None:
    """Put an event of a write in the outbox, in the caller's transaction, which has made it true.

    Of a read nothing is told: whoever made it has the answer, and nobody else waits for it.
    """
    named = {"what": notice.value, "operation_id": operation_id, "approval_id": approval_id}
    await rows.later(connection, ANNOUNCE, named)
