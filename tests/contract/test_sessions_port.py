"""Sessions: one counts until it ends, rests too long or is signed out, and nobody else ever comes in by it."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, text, update

from adapters.http.back_office.session_store import (
    BELIEVED_FOR,
    GRACE,
    KEPT_FOR,
    LIFETIME,
    RENEWED_AFTER,
    Arrival,
    KeptSession,
    SessionRules,
    SessionStore,
    fingerprint_of,
)
from adapters.postgres.engine import Database
from adapters.postgres.sessions import PostgresSessions
from adapters.postgres.tables import sessions
from tests.fakes.sessions import MemorySessions
from tests.support.proposals import fresh
from workflows.domain.principal import Principal

RULES = SessionRules(idle=timedelta(minutes=30), most=3)
SHORT = timedelta(seconds=5)


@dataclass(frozen=True)
class Lounge:
    """A store with a way to let time pass for one person's sessions."""

    store: SessionStore
    wait: Callable[[Principal, timedelta], Awaitable[None]]

    async def wait_in_use(self, viewer: Principal, span: timedelta, fingerprint: str) -> None:
        """Let time pass while the session is used again and again."""
        while span > timedelta(0):
            step = min(span, RULES.idle - SHORT)
            await self.wait(viewer, step)
            await self.store.find(fingerprint)
            span -= step


def in_memory() -> Lounge:
    now = [datetime(2026, 3, 2, 12, tzinfo=UTC)]

    async def wait(_: Principal, span: timedelta) -> None:
        now[0] += span

    return Lounge(MemorySessions(lambda: now[0], RULES), wait)


def in_postgres(door: Database, owner: Database) -> Lounge:
    async def wait(viewer: Principal, span: timedelta) -> None:
        moments = ("created_at", "seen_at", "checked_at", "ends_at")
        aged = update(sessions).values({name: sessions.c[name] - span for name in moments})
        async with owner.transaction() as connection:
            await connection.execute(aged.where(sessions.c.subject == viewer.subject))

    return Lounge(PostgresSessions(door, RULES), wait)


@pytest.fixture(params=["memory", "postgres"])
def lounge(request: pytest.FixtureRequest) -> Lounge:
    if request.param == "memory":
        return in_memory()
    return in_postgres(request.getfixturevalue("door_database"), request.getfixturevalue("owner_database"))


def somebody(**more: Any) -> Arrival:
    viewer = Principal("tenant-a", fresh("person"), frozenset({"viewer", "approver:refunds"}), name="Some Body")
    return Arrival(replace(viewer, **more), "ko-KR", "Asia/Seoul")


def new_fingerprint() -> str:
    return fingerprint_of(secrets.token_urlsafe(32))


async def begun(lounge: Lounge, arrival: Arrival) -> tuple[KeptSession, str]:
    fingerprint = new_fingerprint()
    return await lounge.store.begin(arrival, fingerprint), fingerprint


async def test_a_session_is_found_by_its_secret_alone_with_all_that_the_issuer_said(lounge: Lounge) -> None:
    arrival = somebody()
    session, fingerprint = await begun(lounge, arrival)
    found = await lounge.store.find(fingerprint)
    assert found is not None
    assert (found.session_id, found.arrival, found.ends_at) == (session.session_id, arrival, session.ends_at)
    assert not found.renewal_due
    assert await lounge.store.find(new_fingerprint()) is None
    assert await lounge.store.find(session.session_id) is None
    assert await lounge.store.find("") is None


async def test_a_session_that_rests_too_long_has_ended(lounge: Lounge) -> None:
    arrival = somebody()
    _, fingerprint = await begun(lounge, arrival)
    await lounge.wait(arrival.viewer, RULES.idle - SHORT)
    assert await lounge.store.find(fingerprint)
    await lounge.wait(arrival.viewer, RULES.idle - SHORT)
    assert await lounge.store.find(fingerprint)
    await lounge.wait(arrival.viewer, RULES.idle)
    assert await lounge.store.find(fingerprint) is None


async def test_however_it_is_used_and_renewed_it_ends_eight_hours_after_the_sign_in(lounge: Lounge) -> None:
    arrival = somebody()
    session, fingerprint = await begun(lounge, arrival)
    for _ in range(16):
        fingerprint = new_fingerprint()
        assert await lounge.store.renew(session.session_id, arrival, fingerprint)
        await lounge.wait_in_use(arrival.viewer, LIFETIME / 16 - SHORT, fingerprint)
    assert await lounge.store.find(fingerprint)
    await lounge.wait(arrival.viewer, 16 * SHORT)
    assert await lounge.store.find(fingerprint) is None
    assert await lounge.store.renew(session.session_id, arrival, new_fingerprint()) is None


async def test_what_the_issuer_said_is_asked_again_and_at_last_not_believed(lounge: Lounge) -> None:
    arrival = somebody()
    _, fingerprint = await begun(lounge, arrival)
    await lounge.wait_in_use(arrival.viewer, RENEWED_AFTER, fingerprint)
    found = await lounge.store.find(fingerprint)
    assert found is not None
    assert found.renewal_due
    await lounge.wait_in_use(arrival.viewer, BELIEVED_FOR - RENEWED_AFTER, fingerprint)
    assert await lounge.store.find(fingerprint) is None


async def test_a_renewal_changes_the_secret_and_the_roles_and_not_the_session(lounge: Lounge) -> None:
    arrival = somebody()
    session, first = await begun(lounge, arrival)
    await lounge.wait_in_use(arrival.viewer, RENEWED_AFTER, first)
    less = replace(arrival, viewer=replace(arrival.viewer, roles=frozenset({"viewer"})), locale="en")
    renewed = await lounge.store.renew(session.session_id, less, second := new_fingerprint())
    assert renewed is not None
    assert (renewed.session_id, renewed.arrival, renewed.renewal_due) == (session.session_id, less, False)
    for fingerprint in (first, second):
        found = await lounge.store.find(fingerprint)
        assert found is not None
        assert found.arrival == less


async def test_the_secret_before_counts_for_a_moment_and_the_one_before_that_not_at_all(lounge: Lounge) -> None:
    arrival = somebody()
    session, first = await begun(lounge, arrival)
    await lounge.store.renew(session.session_id, arrival, second := new_fingerprint())
    await lounge.wait(arrival.viewer, GRACE - SHORT)
    assert await lounge.store.find(first)
    await lounge.store.renew(session.session_id, arrival, third := new_fingerprint())
    assert await lounge.store.find(first) is None
    assert await lounge.store.find(second)
    await lounge.wait(arrival.viewer, GRACE)
    assert await lounge.store.find(second) is None
    assert await lounge.store.find(third)


@pytest.mark.parametrize("other", [{"subject": "somebody-else"}, {"tenant": "tenant-b"}], ids=str)
async def test_a_session_is_never_renewed_for_anybody_else(lounge: Lounge, other: dict[str, Any]) -> None:
    arrival = somebody()
    session, fingerprint = await begun(lounge, arrival)
    assert await lounge.store.renew(session.session_id, somebody(**other), stranger := new_fingerprint()) is None
    assert await lounge.store.find(stranger) is None
    found = await lounge.store.find(fingerprint)
    assert found is not None
    assert found.arrival == arrival


async def test_what_was_signed_out_is_worth_nothing_and_does_not_come_back(lounge: Lounge) -> None:
    arrival = somebody()
    session, fingerprint = await begun(lounge, arrival)
    other, others = await begun(lounge, arrival)
    await lounge.store.end(session.session_id)
    assert await lounge.store.find(fingerprint) is None
    assert await lounge.store.renew(session.session_id, arrival, fingerprint) is None
    assert await lounge.store.find(fingerprint) is None
    found = await lounge.store.find(others)
    assert found is not None
    assert found.session_id == other.session_id


async def test_signing_out_everywhere_ends_all_of_one_persons_and_nobody_elses(lounge: Lounge) -> None:
    arrival, neighbour = somebody(), somebody()
    namesake = replace(arrival, viewer=replace(arrival.viewer, tenant="tenant-b"))
    mine = [(await begun(lounge, arrival))[1] for _ in range(2)]
    theirs = [(await begun(lounge, other))[1] for other in (neighbour, namesake)]
    assert await lounge.store.end_all(arrival.viewer) == 2
    assert [await lounge.store.find(each) for each in mine] == [None, None]
    assert all([await lounge.store.find(each) for each in theirs])


async def test_a_person_has_no_more_sessions_than_the_rules_allow_and_the_oldest_go(lounge: Lounge) -> None:
    arrival = somebody()
    fingerprints = [(await begun(lounge, arrival))[1] for _ in range(RULES.most + 2)]
    found = [await lounge.store.find(each) for each in fingerprints]
    assert [each is not None for each in found] == [False, False, True, True, True]


async def test_sign_ins_at_once_leave_no_more_sessions_either(lounge: Lounge) -> None:
    arrival = somebody()
    fingerprints = [new_fingerprint() for _ in range(12)]
    await asyncio.gather(*(lounge.store.begin(arrival, each) for each in fingerprints))
    assert sum([await lounge.store.find(each) is not None for each in fingerprints]) == RULES.most


async def test_what_has_long_ended_is_taken_off_the_record_at_the_next_sign_in(
    door_database: Database, owner_database: Database
) -> None:
    lounge, gone, kept = in_postgres(door_database, owner_database), somebody(), somebody()
    for arrival in (gone, kept):
        await begun(lounge, arrival)
    await lounge.wait(gone.viewer, LIFETIME + KEPT_FOR)
    await lounge.wait(kept.viewer, LIFETIME)
    await begun(lounge, somebody())
    subjects = [gone.viewer.subject, kept.viewer.subject]
    async with owner_database.transaction() as connection:
        left = await connection.execute(select(sessions.c.subject).where(sessions.c.subject.in_(subjects)))
        assert left.scalars().all() == [kept.viewer.subject]


async def test_no_secret_is_in_the_database(door_database: Database, owner_database: Database) -> None:
    lounge, secret = in_postgres(door_database, owner_database), secrets.token_urlsafe(32)
    session = await lounge.store.begin(somebody(), fingerprint_of(secret))
    async with owner_database.transaction() as connection:
        statement = text("SELECT sessions::text FROM sessions WHERE session_id = :name")
        row = (await connection.execute(statement, {"name": session.session_id})).scalar_one()
    assert secret not in row
    assert fingerprint_of(secret) in row
