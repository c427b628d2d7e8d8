"""What the back office reads, and the people's words that it writes."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sqlalchemy import Select, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.http.back_office.ports import (
    ApprovalLine,
    ApprovalReference,
    ApprovalSheet,
    DecisionOutcome,
    ItemLine,
    OperationLine,
    OperationList,
    OperationSheet,
    OperatorsWord,
    TimelineEntry,
)
from adapters.postgres import rows
from adapters.postgres.decisions import Nudge, PostgresDecisions, votes_on
from adapters.postgres.engine import Database
from adapters.postgres.resolutions import PostgresResolutions
from adapters.postgres.rows import NOW
from adapters.postgres.tables import approvals, claims, decisions, events, operations, resolutions, verdicts
from workflows.domain.approval import Approval, ApprovalState, Binding, Choice
from workflows.domain.gate import Layer, Verdict
from workflows.domain.impact import Fact, Impact, Item, Money, Resource
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal
from workflows.domain.resolution import Finding, Resolution

PAGE = 50
"""Operations on one page of the list."""

WAITING = {
    State.PROPOSED: "the first check",
    State.AWAITING_APPROVAL: "a person's decision",
    State.STARTED: "the downstream's answer",
    State.UNCONFIRMED: "evidence from the downstream",
    State.MANUAL_REVIEW: "an operator",
}


class PostgresBackOffice:
    """Fits `adapters.http.back_office.ports.BackOfficeStore`."""

    def __init__(self, database: Database, nudge: Nudge, titles: Mapping[str, str] = MappingProxyType({})) -> None:
        """`titles` of tools, by name: what an operation is called while the server has not computed its impact."""
        self._database, self._titles = database, titles
        self._decisions, self._resolutions = PostgresDecisions(database), PostgresResolutions(database)
        self._nudge = nudge

    async def pending(self, viewer: Principal) -> Sequence[ApprovalLine]:
        """Approvals of the viewer's tenant that wait, the nearest deadline first."""
        approving = (
            select(func.count())
            .where(decisions.c.approval_id == approvals.c.approval_id, decisions.c.choice == Choice.APPROVE.value)
            .scalar_subquery()
        )
        statement = (
            select(approvals, operations.c.tool, operations.c.subject, operations.c.agent, approving.label("votes"))
            .join_from(approvals, operations)
            .where(approvals.c.tenant == viewer.tenant, approvals.c.state == "pending", approvals.c.expires_at > NOW)
            .order_by(approvals.c.expires_at)
        )
        async with self._database.transaction() as connection:
            return [_approval_line(row) for row in await connection.execute(statement)]

    async def approval(self, viewer: Principal, approval_id: str) -> ApprovalSheet | None:
        """One question in full."""
        statement = (
            select(approvals, (approvals.c.expires_at <= NOW).label("passed"), *_REQUEST)
            .join_from(approvals, operations)
            .where(approvals.c.approval_id == approval_id, approvals.c.tenant == viewer.tenant)
        )
        async with self._database.transaction() as connection:
            row = (await connection.execute(statement)).one_or_none()
            return None if row is None else await _approval_sheet(connection, row)

    async def decide(
        self, viewer: Principal, approval_id: str, choice: Choice, reason: str, revision: int, intent_hash: str
    ) -> DecisionOutcome:
        """Count one person's word and wake the operation; a wake-up that is lost comes again from the outbox."""
        outcome, wake = await self._decisions.decide(viewer, approval_id, choice, reason, revision, intent_hash)
        await self._nudge(wake)
        return outcome

    async def resolve(self, viewer: Principal, operation_id: str, word: Resolution) -> None:
        """Keep an operator's word and wake the operation; a wake-up that is lost comes again from the outbox."""
        await self._nudge(await self._resolutions.resolve(viewer, operation_id, word))

    async def operations(self, viewer: Principal, state: State | None = None, after: str = "") -> OperationList:
        """Operations of the viewer's tenant, the newest first."""
        statement = _lines(viewer).order_by(operations.c.created_at.desc(), operations.c.operation_id.desc())
        if state is not None:
            statement = statement.where(operations.c.state == state.value)
        if after:
            mark = operations.alias("mark")
            # The calls of one turn share a moment, so among them the id decides.
            earlier = tuple_(operations.c.created_at, operations.c.operation_id) < tuple_(
                mark.c.created_at, mark.c.operation_id
            )
            shown = (mark.c.operation_id == after) & (mark.c.tenant == viewer.tenant)
            statement = statement.where(select(mark.c.operation_id).where(shown, earlier).exists())
        async with self._database.transaction() as connection:
            found = [_operation_line(row, self._titles) for row in await connection.execute(statement.limit(PAGE + 1))]
        following = found[PAGE - 1].operation_id if len(found) > PAGE else ""
        return OperationList(tuple(found[:PAGE]), following)

    async def operation(self, viewer: Principal, operation_id: str) -> OperationSheet | None:
        """One operation in full."""
        async with self._database.transaction() as connection:
            statement = _lines(viewer).where(operations.c.operation_id == operation_id)
            row = (await connection.execute(statement)).one_or_none()
            return None if row is None else await _operation_sheet(connection, row, self._titles)


_REQUEST = (
    operations.c.tool,
    operations.c.tool_version,
    operations.c.arguments,
    operations.c.subject,
    operations.c.agent,
    operations.c.roles,
)


def _lines(viewer: Principal) -> Select[Any]:
    newest = (
        select(approvals.c.impact)
        .where(approvals.c.operation_id == operations.c.operation_id)
        .order_by(approvals.c.revision.desc())
        .limit(1)
        .scalar_subquery()
    )
    return select(operations, newest.label("impact")).where(operations.c.tenant == viewer.tenant)


def _approval_line(row: Any) -> ApprovalLine:
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


async def _approval_sheet(connection: AsyncConnection, row: Any) -> ApprovalSheet:
    state = ApprovalState(row.state)
    overdue = row.passed and state in (ApprovalState.PENDING, ApprovalState.GRANTED)
    return ApprovalSheet(
        approval=Approval(
            approval_id=row.approval_id,
            operation_id=row.operation_id,
            revision=row.revision,
            state=ApprovalState.EXPIRED if overdue else state,
            binding=Binding(row.intent_hash, row.resource_version, row.policy_version),
            approver_role=row.approver_role,
            quorum=row.quorum,
            expires_at=row.expires_at,
        ),
        tool=row.tool,
        tool_version=row.tool_version,
        impact=impact_from(row.impact),
        arguments=_facts(rows.from_text(row.arguments)),
        why=row.why,
        requester=Principal(row.tenant, row.subject, frozenset(row.roles), agent=row.agent),
        asked_at=row.asked_at,
        votes=await votes_on(connection, row.approval_id),
    )


def _operation_line(row: Any, titles: Mapping[str, str]) -> OperationLine:
    kind, _, name = row.resource.partition(":")
    impact = None if row.impact is None else impact_from(row.impact)
    state = State(row.state)
    return OperationLine(
        operation_id=row.operation_id,
        tool=row.tool,
        action=titles.get(row.tool, row.tool) if impact is None else impact.action,
        resource=Resource(kind, name, row.tenant, "") if impact is None else impact.resource,
        money=None if impact is None else impact.money,
        state=state,
        code=row.code,
        waiting_for=WAITING.get(state, ""),
        requester=row.subject,
        agent=row.agent,
        created_at=row.created_at,
        updated_at=row.updated_at,
        writes=row.writes,
    )


async def _operation_sheet(connection: AsyncConnection, row: Any, titles: Mapping[str, str]) -> OperationSheet:
    claim = await _claim(connection, row.operation_id)
    return OperationSheet(
        line=_operation_line(row, titles),
        tool_version=row.tool_version,
        policy_version=(row.clearance or {}).get("policy_version", ""),
        intent_hash=row.intent_hash,
        idempotency_key=claim.idempotency_key if claim else "",
        sends=claim.sends if claim else 0,
        generation=claim.generation if claim else 0,
        reference=row.reference or (claim.reference if claim else None),
        impact=None if row.impact is None else impact_from(row.impact),
        verdicts=await _verdicts(connection, row.operation_id),
        timeline=await _timeline(connection, row.operation_id),
        evidence=_evidence(claim),
        approvals=await _approvals(connection, row.operation_id),
        items=await _items(connection, row.operation_id),
        words=await _words(connection, row.operation_id),
    )


async def _claim(connection: AsyncConnection, operation_id: str) -> Any:
    wanted = (claims.c.operation_id == operation_id) & (claims.c.item == "")
    return (await connection.execute(select(claims).where(wanted))).one_or_none()


async def _words(connection: AsyncConnection, operation_id: str) -> tuple[OperatorsWord, ...]:
    wanted = select(resolutions).where(resolutions.c.operation_id == operation_id)
    found = await connection.execute(wanted.order_by(resolutions.c.resolution_id))
    return tuple(
        OperatorsWord(
            Finding(row.finding), row.item, row.reference, row.evidence, row.operator, row.operator_name, row.at
        )
        for row in found
    )


async def _items(connection: AsyncConnection, operation_id: str) -> tuple[ItemLine, ...]:
    wanted = (claims.c.operation_id == operation_id) & (claims.c.item != "")
    found = await connection.execute(select(claims).where(wanted).order_by(claims.c.item))
    return tuple(
        ItemLine(
            row.item, row.outcome or "", row.code or "", row.uncertain, row.generation, row.sends, row.idempotency_key
        )
        for row in found
    )


async def _verdicts(connection: AsyncConnection, operation_id: str) -> tuple[Verdict, ...]:
    """The newest verdict of each layer, in the gate's order."""
    statement = select(verdicts).where(verdicts.c.operation_id == operation_id).order_by(verdicts.c.verdict_id)
    newest = {Layer(row.layer): Verdict(Layer(row.layer), row.code) for row in await connection.execute(statement)}
    return tuple(newest[layer] for layer in Layer if layer in newest)


async def _timeline(connection: AsyncConnection, operation_id: str) -> tuple[TimelineEntry, ...]:
    statement = select(events).where(events.c.operation_id == operation_id).order_by(events.c.event_id)
    return tuple(
        TimelineEntry(row.at, row.actor, row.what, _detail(row.detail)) for row in await connection.execute(statement)
    )


async def _approvals(connection: AsyncConnection, operation_id: str) -> tuple[ApprovalReference, ...]:
    statement = select(approvals).where(approvals.c.operation_id == operation_id).order_by(approvals.c.revision)
    return tuple(
        ApprovalReference(row.approval_id, row.revision, ApprovalState(row.state))
        for row in await connection.execute(statement)
    )


def _evidence(claim: Any) -> tuple[Fact, ...]:
    if claim is None:
        return ()
    known = (("Outcome", claim.outcome), ("Code", claim.code))
    return tuple(Fact(label, value) for label, value in known if value)


def impact_from(value: Any) -> Impact:
    """An impact from its JSON column."""
    return Impact(
        resource=Resource(**value["resource"]),
        action=value["action"],
        money=_money(value["money"]),
        count=value["count"],
        reversible=value["reversible"],
        facts=tuple(Fact(fact["label"], fact["value"], _money(fact.get("money"))) for fact in value["facts"]),
        items=tuple(Item(**item) for item in value.get("items", ())),
    )


def _money(value: Any) -> Money | None:
    return None if value is None else Money(**value)


def _facts(arguments: Any) -> tuple[Fact, ...]:
    return tuple(Fact(name, _as_given(value)) for name, value in arguments.items())


def _as_given(value: Any) -> str:
    """Text as it is; everything else as the JSON that it was given as."""
    return value if isinstance(value, str) else rows.as_text(value)


def _detail(detail: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in detail.items() if value is not None)
