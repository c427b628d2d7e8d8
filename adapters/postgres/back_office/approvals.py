"""The questions to people: those that wait, and one in full."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, Numeric, Select, false, func, literal, literal_column, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.http.back_office.lists import PAGE, ApprovalLine, ApprovalList, PendingQuery
from adapters.http.back_office.ports import ApprovalSheet
from adapters.postgres import rows
from adapters.postgres.back_office.impacts import IN_SHORT, impact_from
from adapters.postgres.back_office.revisions import approval_from, earlier, history
from adapters.postgres.decisions import votes_on
from adapters.postgres.rows import NOW
from adapters.postgres.tables import approvals, decisions, operations
from workflows.domain.approval import ApprovalState, Choice
from workflows.domain.impact import Fact
from workflows.domain.principal import Principal

PLACE = (approvals.c.expires_at, approvals.c.approval_id)
"""The order of the inbox: two questions may have one deadline, and then the id decides."""

PENDING = approvals.c.state == literal_column("'pending'")
"""Written out, since a partial index is not found by a value that comes later."""

_APPROVING = (
    select(func.count())
    .where(decisions.c.approval_id == approvals.c.approval_id, decisions.c.choice == Choice.APPROVE.value)
    .scalar_subquery()
    .label("votes")
)

_REQUEST = (
    operations.c.tool,
    operations.c.tool_version,
    operations.c.arguments,
    operations.c.given,
    operations.c.subject,
    operations.c.agent,
    operations.c.roles,
)


async def pending(connection: AsyncConnection, viewer: Principal, query: PendingQuery) -> ApprovalList:
    """Those that wait and are meant, the nearest deadline first."""
    meant = list(_meant(viewer, query))
    number = select(func.count()).select_from(approvals.join(operations)).where(*meant)
    total: int = (await connection.execute(number)).scalar_one()
    page = _lines().where(*meant).order_by(*PLACE).limit(PAGE + 1)
    if query.after:
        mark = await _mark(connection, viewer, query.after)
        page = page.where(false() if mark is None else tuple_(*PLACE) > tuple_(*mark))
    lines = [_line(row) for row in await connection.execute(page)]
    return ApprovalList(tuple(lines[:PAGE]), total, lines[PAGE - 1].approval_id if len(lines) > PAGE else "")


async def sheet(connection: AsyncConnection, viewer: Principal, approval_id: str) -> ApprovalSheet | None:
    """One of them with everything that a person decides on; None when it is absent or another tenant's."""
    statement = (
        select(approvals, (approvals.c.expires_at <= NOW).label("passed"), *_REQUEST)
        .join_from(approvals, operations)
        .where(approvals.c.approval_id == approval_id, approvals.c.tenant == viewer.tenant)
    )
    row = (await connection.execute(statement)).one_or_none()
    return None if row is None else await _sheet(connection, row)


def _meant(viewer: Principal, query: PendingQuery) -> Iterator[ColumnElement[bool]]:
    yield from (approvals.c.tenant == viewer.tenant, PENDING, approvals.c.expires_at > NOW)
    if query.tool:
        yield operations.c.tool == query.tool
    if query.waiting is not None:
        yield approvals.c.asked_at <= NOW - query.waiting
    if query.ends_in is not None:
        yield approvals.c.expires_at <= NOW + query.ends_in
    if query.mine:
        yield from _mine(viewer)
    yield from _of_amount(query)


def _of_amount(query: PendingQuery) -> Iterator[ColumnElement[bool]]:
    money = approvals.c.impact["money"]
    minor_units = money["minor_units"].astext.cast(Numeric)
    if query.currency:
        yield money["currency"].astext == query.currency
    if query.at_least is not None:
        yield minor_units >= _exact(query.at_least)
    if query.at_most is not None:
        yield minor_units <= _exact(query.at_most)


def _exact(minor_units: int) -> ColumnElement[Decimal]:
    """As a numeric: an amount may be larger than any integer of PostgreSQL's."""
    return literal(Decimal(minor_units), Numeric())


def _mine(viewer: Principal) -> Iterator[ColumnElement[bool]]:
    """As `refusal_of_approver` says, and not voted on: what is said is said."""
    if viewer.agent:
        yield false()
    spoken = decisions.c.approver == viewer.subject
    yield approvals.c.approver_role.in_(sorted(viewer.roles))
    yield operations.c.subject != viewer.subject
    yield ~select(decisions.c.decision_id).where(decisions.c.approval_id == approvals.c.approval_id, spoken).exists()


async def _mark(connection: AsyncConnection, viewer: Principal, approval_id: str) -> Any:
    """The place after which the page begins; None when there is no such question."""
    shown = (approvals.c.approval_id == approval_id) & (approvals.c.tenant == viewer.tenant)
    return (await connection.execute(select(*PLACE).where(shown))).one_or_none()


def _lines() -> Select[Any]:
    kept = (approvals.c.approval_id, approvals.c.asked_at, approvals.c.expires_at, approvals.c.quorum)
    asked = (operations.c.tool, operations.c.subject, operations.c.agent)
    return select(*kept, IN_SHORT, *asked, _APPROVING).join_from(approvals, operations)


def _line(row: Any) -> ApprovalLine:
    impact = impact_from(row.impact)
    return ApprovalLine(
        approval_id=row.approval_id,
        tool=row.tool,
        action=impact.action,
        resource=impact.resource,
        money=impact.money,
        count=impact.count,
        reversible=impact.reversible,
        requester=row.subject,
        agent=row.agent,
        asked_at=row.asked_at,
        expires_at=row.expires_at,
        votes=row.votes,
        quorum=row.quorum,
    )


async def _sheet(connection: AsyncConnection, row: Any) -> ApprovalSheet:
    state = ApprovalState(row.state)
    overdue = row.passed and state in (ApprovalState.PENDING, ApprovalState.GRANTED)
    return ApprovalSheet(
        approval=approval_from(row, ApprovalState.EXPIRED if overdue else state),
        tool=row.tool,
        tool_version=row.tool_version,
        impact=impact_from(row.impact),
        arguments=_facts(rows.from_text(row.arguments)),
        why=row.why,
        requester=Principal(row.tenant, row.subject, frozenset(row.roles), agent=row.agent),
        asked_at=row.asked_at,
        votes=await votes_on(connection, row.approval_id),
        given=_facts(rows.from_text(row.given)) if row.given else (),
        earlier=await earlier(connection, row.operation_id, row.revision),
        history=await history(connection, row.operation_id),
    )


def _facts(arguments: Any) -> tuple[Fact, ...]:
    """Each with its name; what a model gave may be no object at all, and then has none."""
    named = arguments if isinstance(arguments, dict) else {"": arguments}
    return tuple(Fact(name, _as_given(value)) for name, value in named.items())


def _as_given(value: Any) -> str:
    """Text as it is; everything else as the JSON that it was given as."""
    return value if isinstance(value, str) else rows.as_text(value)
