"""The lists of the back office, with 1,000 questions waiting among 100,000 operations of one tenant."""

import re
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from html import unescape
from pathlib import Path
from typing import Final

import httpx2

from adapters.http.limits import Limiter, Limits
from adapters.postgres.back_office import PostgresBackOffice
from adapters.postgres.engine import Database
from tests.bench.measuring import Contest, Contestant, Group, Plan, Timings, Verdict, fast_enough
from tests.bench.servers import Loop, running
from tests.support.benches import nobody_is_woken
from tests.support.crowd import OPERATIONS, PENDING, crowd
from tests.unit.back_office_house import HERE, INBOX, ISSUER, Browser, application
from tests.unit.memory_back_office import StandingClock
from worker.dev.issuer import DevelopmentIssuer, IssuerSettings

TENANT: Final = "tenant-a"
"""That of the development issuer's people."""

FIRST: Final = "inbox · first page"
WHOLE: Final = "inbox · the whole list"
SEARCH: Final = "/back-office/operations"

TARGET_MS: Final = 200.0
"""Milliseconds that 95 of 100 looks at the inbox must stay under, and each page of the whole list."""

PLAN: Final = Plan(warm_up=3, repeats=5, rounds=2, batch=5)

UNLIMITED: Final = Limits(*(Limiter(10**9) for _ in range(3)))
"""Nobody is asked to wait: what is measured is the page."""


@contextmanager
def contest() -> Iterator[Contest]:
    """With a PostgreSQL of its own; the pages run in this process, so what is timed is the server's own time."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), {"postgres", "migrate"}) as (stack, loop):
        owner, door = (Database(stack.dsn(f"onceward_{role}"), application_name="bench") for role in ("owner", "door"))
        prepared = _prepared(owner, door, Path(folder))
        reader = _Reader(loop, loop.wait(prepared.__aenter__()))
        try:
            yield Contest("office", [Group("The back office", _contestants(reader), FIRST, WHOLE)], _judge, PLAN)
        finally:
            loop.wait(prepared.__aexit__(None, None, None))


@asynccontextmanager
async def _prepared(owner: Database, door: Database, folder: Path) -> AsyncIterator[Browser]:
    """Somebody who has signed in where very much waits."""
    settings = IssuerSettings(dev_issuer_state_dir=folder, issuer=ISSUER)
    issuer = httpx2.ASGITransport(DevelopmentIssuer(settings).app())
    store = PostgresBackOffice(door, nobody_is_woken)
    app = application(store, StandingClock(), issuer, limits=UNLIMITED)
    browser = Browser({HERE: httpx2.ASGITransport(app), ISSUER: issuer})
    async with crowd(owner, TENANT):
        await browser.sign_in("approver-1")
        yield browser
    for database in (owner, door):
        await database.close()


class _Reader:
    """Opens pages, one after the other."""

    def __init__(self, loop: Loop, browser: Browser) -> None:
        self._loop, self._browser = loop, browser

    def page(self, address: str) -> str:
        """One page."""
        answer = self._loop.wait(self._browser.get(address))
        if answer.status_code != 200:
            raise RuntimeError(f"a page was answered with {answer.status_code}")
        return answer.text

    def pages(self, address: str) -> int:
        """A list from its first page to its last; returns how many there are."""
        following, number = address, 0
        while following:
            found = re.search(r'href="([^"]*after=[^"]*)"', self.page(following))
            following, number = unescape(found[1]) if found else "", number + 1
        return number


def _contestants(reader: _Reader) -> Sequence[Contestant]:
    deep = f"{SEARCH}?after={TENANT}-op-90000"
    looks = (
        ("inbox · mine to decide", "only what this person may decide on", f"{INBOX}?mine=1"),
        ("inbox · by amount", "from 10,000 won", f"{INBOX}?currency=KRW&at_least=10000"),
        ("operations · newest", "the first page", SEARCH),
        ("operations · deep", "50 after the first 90,000", deep),
        ("operations · one state", "20 in manual review among all", f"{SEARCH}?state=manual_review"),
        ("operations · one object", "by the order's id", f"{SEARCH}?resource=O-777"),
        ("operations · one call", "by the call's id", f"{SEARCH}?id=call-{TENANT}-op-777"),
        ("stuck work", "every group with its numbers and sums", "/back-office/stuck"),
    )
    return [
        Contestant(FIRST, f"the baseline: 50 of {PENDING:,} among {OPERATIONS:,} operations", _look(reader, INBOX)),
        Contestant(WHOLE, f"{PENDING // 50} pages one after the other", lambda: reader.pages(INBOX)),
        *(Contestant(name, about, _look(reader, address)) for name, about, address in looks),
    ]


def _look(reader: _Reader, address: str) -> Callable[[], str]:
    return lambda: reader.page(address)


def _judge(timings: Timings) -> Sequence[Verdict]:
    each_ms, slow_ms = timings[WHOLE].p50 / 1e6 / (PENDING / 50), timings[FIRST].told.p95 / 1e6
    return [
        _within("a page of the whole list", "p50", each_ms),
        _within("the inbox", "p95", slow_ms),
        fast_enough("office", "the inbox", timings[FIRST], TARGET_MS),
    ]


def _within(what: str, share: str, found_ms: float) -> Verdict:
    words = f"office: {share} {found_ms:.1f} ms for {what}, target {TARGET_MS:.0f} ms"
    return Verdict(words, found_ms < TARGET_MS)
