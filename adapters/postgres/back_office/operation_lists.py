"""Operations as lines of a list, and the search for them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Select, false, func, select, tuple_, union_all
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.http.back_office.lists import PAGE, OperationLine, OperationList, OperationQuery
from adapters.postgres.back_office.impacts import IN_SHORT, impact_from
from adapters.postgres.tables import OBJECT_DIGEST, approvals, calls, operations, spendings
from workflows.domain.impact import Impact, Money, Resource
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal

PLACE = (operations.c.created_at, operations.c.operation_id)
"""The order of the list, backwards: the calls of one turn share a moment, and then the id decides."""

WAITING = {
    State.PROPOSED: "the first check",
    State.AWAITING_APPROVAL: "a person's decision",
    State.STARTED: "the downstream's answer",
    State.UNCONFIRMED: "evidence from the downstream",
    State.MANUAL_REVIEW: "an operator",
}


async def found(
    connection: AsyncConnection, viewer: Principal, query: OperationQuery, titles: Mapping[str, str]
) -> OperationList:
    """Those that are meant, the newest first."""
    page = lines_of(viewer).where(*_meant(viewer, query)).order_by(*(column.desc() for column in PLACE))
    if query.after:
        mark = await _mark(connection, viewer, query.after)
        page = page.where(false() if mark is None else tuple_(*PLACE) < tuple_(*mark))
    lines = [line_from(row, titles) for row in await connection.execute(page.limit(PAGE + 1))]
    return OperationList(tuple(lines[:PAGE]), lines[PAGE - 1].operation_id if len(lines) > PAGE else "")


def lines_of(viewer: Principal) -> Select[Any]:
    """The operations of a tenant, each with what `line_from` needs."""
    newest = (
        select(IN_SHORT)
        .select_from(approvals)
        .where(approvals.c.operation_id == operations.c.operation_id)
        .order_by(approvals.c.revision.desc())
        .limit(1)
        # Whoever joins the questions themselves means others than this one.
        .correlate(operations)
        .scalar_subquery()
    )
    return (
        select(operations, newest.label("impact"), spendings.c.currency, spendings.c.minor_units)
        .outerjoin_from(operations, spendings)
        .where(operations.c.tenant == viewer.tenant)
    )


def line_from(row: Any, titles: Mapping[str, str]) -> OperationLine:
    """One line; an operation without a question has what its act takes out of the day's totals for its amount."""
    impact = None if row.impact is None else impact_from(row.impact)
    state = State(row.state)
    return OperationLine(
        operation_id=row.operation_id,
        tool=row.tool,
        action=titles.get(row.tool, row.tool) if impact is None else impact.action,
        resource=_resource(row) if impact is None else impact.resource,
        money=_money(row, impact),
        state=state,
        code=row.code,
        waiting_for=WAITING.get(state, ""),
        requester=row.subject,
        agent=row.agent,
        created_at=row.created_at,
        updated_at=row.updated_at,
        writes=row.writes,
    )


def _resource(row: Any) -> Resource:
    kind, _, name = row.resource.partition(":")
    return Resource(kind, name, row.tenant, "")


def _money(row: Any, impact: Impact | None) -> Money | None:
    if impact is not None:
        return impact.money
    return None if row.currency is None else Money(int(row.minor_units), row.currency)


def _meant(viewer: Principal, query: OperationQuery) -> Iterator[ColumnElement[bool]]:
    if query.id:
        yield operations.c.operation_id.in_(_known_as(viewer, query.id))
    if query.resource:
        yield from _about(query.resource)
    if query.tool:
        yield operations.c.tool == query.tool
    if query.state is not None:
        yield operations.c.state == query.state.value
    if query.requester:
        yield operations.c.subject == query.requester
    if query.since is not None:
        yield operations.c.created_at >= query.since
    if query.until is not None:
        yield operations.c.created_at < query.until


def _known_as(viewer: Principal, name: str) -> Any:
    """The operations of this id, and those that calls became which have it or came with a response that has it."""
    of_call = select(calls.c.operation_id).where(calls.c.tenant == viewer.tenant, calls.c.operation_id.is_not(None))
    return union_all(
        select(operations.c.operation_id).where(operations.c.operation_id == name),
        # The digests are what is indexed: ids come from outside and may be longer than an index entry.
        of_call.where(func.md5(calls.c.call_id) == func.md5(name), calls.c.call_id == name),
        of_call.where(func.md5(calls.c.request_id) == func.md5(name), calls.c.request_id == name),
    )


def _about(resource: str) -> Iterator[ColumnElement[bool]]:
    """Operations on an object of this name, or of this kind and name."""
    with_kind = [(kind, name) for kind, name in _divided(resource) if kind and name]
    names = [resource, *(name for _, name in with_kind)]
    yield OBJECT_DIGEST.in_([func.md5(name) for name in names])
    kind, name = func.split_part(operations.c.resource, ":", 1), _name()
    yield (name == resource) | tuple_(kind, name).in_(with_kind or [("", "")])


def _divided(resource: str) -> Iterator[list[str]]:
    for mark in (r":", r"\s+"):
        kind_and_name = re.split(mark, resource, maxsplit=1)
        if len(kind_and_name) == 2:
            yield kind_and_name


def _name() -> ColumnElement[str]:
    return func.substr(operations.c.resource, func.strpos(operations.c.resource, ":") + 1)


async def _mark(connection: AsyncConnection, viewer: Principal, operation_id: str) -> Any:
    """The place after which the page begins; None when there is no such operation."""
    shown = (operations.c.operation_id == operation_id) & (operations.c.tenant == viewer.tenant)
    return (await connection.execute(select(*PLACE).where(shown))).one_or_none()
