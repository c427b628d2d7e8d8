"""One operation with everything that is known about it."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.http.back_office.ports import (
    ApprovalReference,
    ItemLine,
    OperationSheet,
    OperatorsWord,
    TimelineEntry,
)
from adapters.postgres.back_office.impacts import impact_from
from adapters.postgres.back_office.operation_lists import line_from, lines_of
from adapters.postgres.tables import approvals, claims, events, handler_calls, operations, resolutions, verdicts
from workflows.domain.approval import ApprovalState
from workflows.domain.gate import Layer, Verdict
from workflows.domain.impact import Fact, Impact
from workflows.domain.principal import Principal
from workflows.domain.resolution import Finding


async def sheet(
    connection: AsyncConnection, viewer: Principal, operation_id: str, titles: Mapping[str, str]
) -> OperationSheet | None:
    """The operation in full; None when it is absent or another tenant's."""
    statement = lines_of(viewer).where(operations.c.operation_id == operation_id)
    row = (await connection.execute(statement)).one_or_none()
    return None if row is None else await _sheet(connection, row, titles)


async def _sheet(connection: AsyncConnection, row: Any, titles: Mapping[str, str]) -> OperationSheet:
    claim = await _claim(connection, row.operation_id)
    return OperationSheet(
        line=line_from(row, titles),
        tool_version=row.tool_version,
        policy_version=(row.clearance or {}).get("policy_version", ""),
        intent_hash=row.intent_hash,
        idempotency_key=claim.idempotency_key if claim else "",
        sends=claim.sends if claim else 0,
        generation=claim.generation if claim else 0,
        reference=row.reference or (claim.reference if claim else None),
        impact=await _impact(connection, row.operation_id),
        verdicts=await _verdicts(connection, row.operation_id),
        timeline=await _timeline(connection, row.operation_id),
        evidence=(*_evidence(claim), *await _invocations(connection, row.operation_id)),
        approvals=await _approvals(connection, row.operation_id),
        items=await _items(connection, row.operation_id),
        words=await _words(connection, row.operation_id),
    )


async def _impact(connection: AsyncConnection, operation_id: str) -> Impact | None:
    """What the newest question showed, whole."""
    asked = select(approvals.c.impact).where(approvals.c.operation_id == operation_id)
    newest = (await connection.execute(asked.order_by(approvals.c.revision.desc()).limit(1))).scalar_one_or_none()
    return None if newest is None else impact_from(newest)


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


async def _invocations(connection: AsyncConnection, operation_id: str) -> tuple[Fact, ...]:
    """Under which ids the other side knows the calls that were made for it."""
    wanted = (handler_calls.c.operation_id == operation_id) & handler_calls.c.request_id.is_not(None)
    made = await connection.execute(select(handler_calls).where(wanted).order_by(handler_calls.c.entry))
    known = ((label, value) for row in made for label, value in (("Request", row.request_id), ("Task", row.task_id)))
    return tuple(Fact(label, value) for label, value in known if value)


def _detail(detail: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in detail.items() if value is not None)
