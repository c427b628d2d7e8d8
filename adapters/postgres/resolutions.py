"""Operators' words: written once by the back office, read and acted upon by the worker."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres import audit_notes, rows
from adapters.postgres.audit_words import of_name, of_resolution
from adapters.postgres.decisions import Wake
from adapters.postgres.engine import Database
from adapters.postgres.standing import hold_words
from adapters.postgres.tables import claims, operations, resolutions
from workflows.domain.errors import ResolutionRefused
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal
from workflows.domain.resolution import Finding, Resolution, refusal_of_operator, require_grounds


class PostgresResolutions:
    """Fits `activities.ports.Resolutions`, and takes the words for it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def given(self, operation_id: str, generation: int, item: str = "") -> Resolution | None:
        """The word on this state of the claim, None when there is none."""
        async with self._database.transaction() as connection:
            row = await _given(connection, operation_id, item, generation)
            return None if row is None else _resolution(row)

    async def resolve(self, operator: Principal, operation_id: str, word: Resolution) -> Wake:
        """Keep one operator's word and order the wake-up; returns whom to wake. The same word again changes nothing.

        Raises:
            ResolutionRefused: the word does not count; see `BackOfficeStore.resolve` for the codes and their order.
        """
        try:
            async with self._database.transaction() as connection:
                return await _resolved(connection, operator, operation_id, word)
        except ResolutionRefused as refusal:
            # Every attempt is on record, in a transaction of its own: the one that was refused has left nothing.
            async with self._database.transaction() as connection:
                attempt = {"finding": word.finding.value, "generation": word.generation}
                await audit_notes.resolution_refused(connection, operator, operation_id, refusal.code, **attempt)
            raise


async def _resolved(connection: AsyncConnection, operator: Principal, operation_id: str, word: Resolution) -> Wake:
    await hold_words(connection, operation_id)
    row = await _asked_about(connection, operation_id, word.item, operator)
    require_grounds(word)
    wake = Wake(operation_id, row.intent_hash, row.tool, row.tenant)
    earlier = await _given(connection, operation_id, word.item, word.generation)
    if earlier is not None and (earlier.operator, _resolution(earlier)) == (operator.subject, word):
        await rows.tell(connection, row.tenant, operation_id, operator.subject, "resolution.again")
        return wake
    _require_open(row, word)
    await _require_own_reference(connection, row, operation_id, word)
    await _tell(connection, row.tenant, await _keep(connection, operator, operation_id, word))
    await rows.post(connection, operation_id, "nudge", **wake.named())
    return wake


async def _tell(connection: AsyncConnection, tenant: str, kept: Any) -> None:
    # The evidence stays where it is; changed there, it is no longer what this line says.
    digests = {"said": of_resolution(kept), "named": of_name(kept.operator, kept.operator_name)}
    detail = {"generation": kept.generation, **digests, **({"item": kept.item} if kept.item else {})}
    await rows.tell(connection, tenant, kept.operation_id, kept.operator, f"resolution.{kept.finding}", **detail)


async def _asked_about(connection: AsyncConnection, operation_id: str, item: str, operator: Principal) -> Any:
    meant = (operations.c.tenant, operations.c.subject, operations.c.tool, operations.c.intent_hash)
    statement = (
        select(*meant, operations.c.state, claims.c.generation, claims.c.uncertain)
        .join_from(operations, claims, (claims.c.operation_id == operations.c.operation_id) & (claims.c.item == item))
        .where(operations.c.operation_id == operation_id)
    )
    row = (await connection.execute(statement)).one_or_none()
    if row is None:
        raise ResolutionRefused("not_found")
    refusal = refusal_of_operator(operator, row.tenant, row.subject)
    if refusal is not None:
        raise ResolutionRefused(refusal)
    return row


def _require_open(row: Any, word: Resolution) -> None:
    if State(row.state) is not State.MANUAL_REVIEW or not row.uncertain:
        raise ResolutionRefused("resolution_not_open")
    if row.generation != word.generation:
        raise ResolutionRefused("resolution_stale")


async def _require_own_reference(connection: AsyncConnection, row: Any, operation_id: str, word: Resolution) -> None:
    """One receipt proves one effect: a reference that another operation has is most likely mistyped.

    So is one under which another operation is about to end, on a word that no worker has acted upon yet.
    """
    if not word.reference:
        return
    # Two words with one reference at once would each find that nobody has it.
    await rows.hold(connection, f"{row.tenant}/{row.tool}/{word.reference}")
    others = (
        (operations.c.tenant == row.tenant) & (operations.c.tool == row.tool) & (claims.c.operation_id != operation_id)
    )
    said = select(resolutions.c.resolution_id).where(
        resolutions.c.operation_id == claims.c.operation_id,
        resolutions.c.item == claims.c.item,
        resolutions.c.generation == claims.c.generation,
        resolutions.c.reference == word.reference,
    )
    theirs = (claims.c.reference == word.reference) | (claims.c.uncertain & said.exists())
    taken = select(claims.c.operation_id).join_from(claims, operations).where(others, theirs).limit(1)
    if (await connection.execute(taken)).one_or_none() is not None:
        raise ResolutionRefused("resolution_reference_taken")


async def _keep(connection: AsyncConnection, operator: Principal, operation_id: str, word: Resolution) -> Any:
    """Write the word and return its row; of two operators at once one waits here for the other and is told."""
    statement = (
        insert(resolutions)
        .values(
            operation_id=operation_id,
            item=word.item,
            generation=word.generation,
            operator=operator.subject,
            operator_name=operator.name or operator.subject,
            finding=word.finding.value,
            evidence=word.evidence,
            reference=word.reference,
        )
        .on_conflict_do_nothing()
        .returning(resolutions)
    )
    kept = (await connection.execute(statement)).one_or_none()
    if kept is None:
        raise ResolutionRefused("resolution_already_given")
    return kept


async def _given(connection: AsyncConnection, operation_id: str, item: str, generation: int) -> Any:
    wanted = (
        (resolutions.c.operation_id == operation_id)
        & (resolutions.c.item == item)
        & (resolutions.c.generation == generation)
    )
    return (await connection.execute(select(resolutions).where(wanted))).one_or_none()


def _resolution(row: Any) -> Resolution:
    return Resolution(Finding(row.finding), row.evidence, row.reference, row.generation, row.item)
