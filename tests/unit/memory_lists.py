"""What people find, over sheets in memory: the same rules as the real store's."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TypeVar

from adapters.http.back_office.lists import (
    NEAR,
    PAGE,
    STILL,
    ApprovalLine,
    ApprovalList,
    OperationLine,
    OperationList,
    OperationQuery,
    PendingQuery,
    Stuck,
    StuckGroup,
    StuckLine,
)
from adapters.http.back_office.ports import ApprovalSheet
from workflows.domain.approval import ApprovalState, Choice, refusal_of_approver
from workflows.domain.impact import Money
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal

Line = TypeVar("Line")

OPEN = (ApprovalState.PENDING, ApprovalState.GRANTED)

OF_STATE = {Stuck.MANUAL_REVIEW: State.MANUAL_REVIEW, Stuck.UNCONFIRMED: State.UNCONFIRMED}


def pending(sheets: Iterable[ApprovalSheet], viewer: Principal, query: PendingQuery, now: datetime) -> ApprovalList:
    mine = sorted((sheet for sheet in sheets if sheet.requester.tenant == viewer.tenant), key=_deadline)
    meant = [sheet for sheet in mine if waits(sheet, now) and _asks_for(sheet, viewer, query, now)]
    places = [sheet.approval.approval_id for sheet in mine]
    page, following = _page(meant, places, query.after, lambda sheet: sheet.approval.approval_id)
    return ApprovalList(tuple(map(_approval_line, page)), len(meant), following)


def operations(
    lines: Iterable[OperationLine], query: OperationQuery, called: Callable[[OperationLine], set[str]]
) -> OperationList:
    """`called` gives the ids of an operation's calls and responses."""
    mine = sorted(lines, key=lambda line: (line.created_at, line.operation_id), reverse=True)
    meant = [line for line in mine if _is_asked_for(line, query, called(line))]
    places = [line.operation_id for line in mine]
    return OperationList(*_page(meant, places, query.after, lambda line: line.operation_id))


def group(why: Stuck, lines: Iterable[OperationLine], asked: Sequence[ApprovalSheet], now: datetime) -> StuckGroup:
    """`asked` are the questions that are open."""
    if why is Stuck.OVERDUE:
        late = [sheet for sheet in asked if _is_late(sheet, now)]
        found = [
            StuckLine(_operation_line(sheet), sheet.asked_at, sheet.approval.approval_id, sheet.approval.expires_at)
            for sheet in late
        ]
    else:
        questions = {sheet.approval.operation_id: sheet.approval.approval_id for sheet in asked}
        found = [
            StuckLine(line, line.updated_at, questions.get(line.operation_id, ""))
            for line in lines
            if _is_stuck(line, why, now) and not (why is Stuck.STILL and line.operation_id in questions)
        ]
    found.sort(key=lambda each: (each.since, each.line.operation_id))
    return StuckGroup(why, len(found), _sums(each.line.money for each in found), tuple(found[:PAGE]))


def waits(sheet: ApprovalSheet, now: datetime) -> bool:
    return sheet.approval.state is ApprovalState.PENDING and sheet.approval.expires_at > now


def approving(sheet: ApprovalSheet) -> int:
    return sum(vote.choice is Choice.APPROVE for vote in sheet.votes)


def _asks_for(sheet: ApprovalSheet, viewer: Principal, query: PendingQuery, now: datetime) -> bool:
    asked = sheet.requester
    barred = refusal_of_approver(viewer, asked.tenant, asked.subject, sheet.approval.approver_role) is not None
    spoken = any(vote.approver == viewer.subject for vote in sheet.votes)
    return (
        query.tool in ("", sheet.tool)
        and (query.waiting is None or sheet.asked_at <= now - query.waiting)
        and (query.ends_in is None or sheet.approval.expires_at <= now + query.ends_in)
        and not (query.mine and (barred or spoken))
        and (not query.currency or _is_within(sheet.impact.money, query))
    )


def _is_within(money: Money | None, query: PendingQuery) -> bool:
    return (
        money is not None
        and money.currency == query.currency
        and (query.at_least is None or money.minor_units >= query.at_least)
        and (query.at_most is None or money.minor_units <= query.at_most)
    )


def _is_asked_for(line: OperationLine, query: OperationQuery, names: set[str]) -> bool:
    kind, name = line.resource.kind, line.resource.id
    return (
        query.id in ("", line.operation_id, *names)
        and query.resource in ("", name, f"{kind} {name}", f"{kind}:{name}")
        and query.tool in ("", line.tool)
        and query.state in (None, line.state)
        and query.requester in ("", line.requester)
        and (query.since is None or line.created_at >= query.since)
        and (query.until is None or line.created_at < query.until)
    )


def _is_late(sheet: ApprovalSheet, now: datetime) -> bool:
    near = sheet.approval.state is ApprovalState.PENDING and sheet.approval.expires_at <= now + NEAR
    return near or sheet.approval.expires_at <= now


def _is_stuck(line: OperationLine, why: Stuck, now: datetime) -> bool:
    if why is not Stuck.STILL:
        return line.state is OF_STATE[why]
    moving = line.state in (State.PROPOSED, State.STARTED, State.AWAITING_APPROVAL)
    return moving and line.writes and line.updated_at <= now - STILL


def _sums(amounts: Iterable[Money | None]) -> tuple[Money, ...]:
    totals: dict[str, int] = {}
    for money in amounts:
        if money is not None:
            totals[money.currency] = totals.get(money.currency, 0) + money.minor_units
    return tuple(Money(total, currency) for currency, total in sorted(totals.items()))


def _deadline(sheet: ApprovalSheet) -> tuple[datetime, str]:
    return sheet.approval.expires_at, sheet.approval.approval_id


def _page(
    meant: Sequence[Line], places: Sequence[str], after: str, named: Callable[[Line], str]
) -> tuple[tuple[Line, ...], str]:
    """`places` are the names of all that there is, in their order: what a cursor names may not be meant any more."""
    if after and after not in places:
        return (), ""
    begun = places.index(after) + 1 if after else 0
    left = [line for line in meant if places.index(named(line)) >= begun]
    return tuple(left[:PAGE]), named(left[PAGE - 1]) if len(left) > PAGE else ""


def _approval_line(sheet: ApprovalSheet) -> ApprovalLine:
    approval, impact = sheet.approval, sheet.impact
    return ApprovalLine(
        approval_id=approval.approval_id,
        tool=sheet.tool,
        action=impact.action,
        resource=impact.resource,
        money=impact.money,
        count=impact.count,
        reversible=impact.reversible,
        requester=sheet.requester.subject,
        agent=sheet.requester.agent,
        asked_at=sheet.asked_at,
        expires_at=approval.expires_at,
        votes=approving(sheet),
        quorum=approval.quorum,
    )


def _operation_line(sheet: ApprovalSheet) -> OperationLine:
    """The operation of an open question."""
    return OperationLine(
        operation_id=sheet.approval.operation_id,
        tool=sheet.tool,
        action=sheet.impact.action,
        resource=sheet.impact.resource,
        money=sheet.impact.money,
        state=State.AWAITING_APPROVAL,
        code=None,
        waiting_for="a person's decision",
        requester=sheet.requester.subject,
        agent=sheet.requester.agent,
        created_at=sheet.asked_at,
        updated_at=sheet.asked_at,
    )
