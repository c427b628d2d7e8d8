"""A whole run: prepare, load under faults, let everything come to its end, ask once more, collect."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path

from adapters.postgres.engine import Database
from tests.chaos.acts import Act, Turn
from tests.chaos.agents import AGAIN, Agents
from tests.chaos.auditor import Auditor
from tests.chaos.audits import audited
from tests.chaos.cancels import Cancels
from tests.chaos.console import Console
from tests.chaos.delivered import Delivered
from tests.chaos.evidence import Asked, Audit, Evidence
from tests.chaos.faults import Faults
from tests.chaos.operators import Operators
from tests.chaos.people import People, approvers_needed
from tests.chaos.plan import Plan
from tests.chaos.preparation import Preparation
from tests.chaos.processes import Processes
from tests.chaos.provider import Provider
from tests.chaos.setbacks import Setbacks
from tests.chaos.settling import Settling
from tests.chaos.steps import DOORS, Step
from tests.support.onceward import Onceward

IN_FLIGHT = 16
"""Turns that are delivered for the first time at once."""

AHEAD = 0.1
LEAST_AHEAD, MOST_AHEAD = 12, 40
"""How far, as a part of the load and in acts, it may run ahead of the faults that belong to it."""

SAY_SECONDS = 3.0

Say = Callable[[str], None]


class Run:
    """Everything of one run, connected."""

    def __init__(
        self,
        plan: Plan,
        processes: Processes,
        provider: Provider,
        onceward: Onceward,
        books: Database,
        setbacks: Setbacks,
        say: Say,
    ) -> None:
        self._plan, self._processes, self._provider, self._say = plan, processes, provider, say
        self._began = time.monotonic()
        self._onceward = onceward
        self.delivered = Delivered(len(plan.acts))
        self.auditor = Auditor(onceward.owner, books, onceward.temporal)
        self.faults = Faults(processes, provider, self.auditor, Console(onceward.temporal), self.delivered)
        back_offices = [f"{processes.stack.url(door)}/back-office" for door in DOORS]
        self.setbacks = setbacks
        self.people = People(plan, back_offices, self.auditor, self.delivered, setbacks)
        self.operators = Operators(plan, back_offices[0], self.auditor, provider, self._tell)
        self.audits: list[Audit] = []
        self._finished = [asyncio.Event() for _ in plan.steps]
        self._slots = asyncio.Semaphore(IN_FLIGHT)

    @classmethod
    @asynccontextmanager
    async def connected(cls, plan: Plan, state: Path, say: Say) -> AsyncIterator["Run"]:
        """With all processes started."""
        async with AsyncExitStack() as entered:
            processes = await entered.enter_async_context(Processes.started(state))
            onceward = await entered.enter_async_context(Onceward.connected(processes.stack))
            secrets = processes.stack.environment("provider")
            provider = Provider(
                processes.stack.url("provider"),
                secrets["PAYMENTS_PROVIDER_API_KEY"],
                secrets["PAYMENTS_PROVIDER_ADMIN_KEY"],
            )
            entered.push_async_callback(provider.close)
            books = Database(processes.stack.dsn("postgres", "payments"), application_name="auditor", pool_size=2)
            entered.push_async_callback(books.close)
            owner = Database(processes.stack.dsn("onceward_owner"), application_name="ledger's owner")
            entered.push_async_callback(owner.close)
            setbacks = Setbacks(provider, owner)
            entered.push_async_callback(setbacks.close)
            run = cls(plan, processes, provider, onceward, books, setbacks, say)
            entered.push_async_callback(run.people.close)
            yield run

    async def through(self, *, impatient: bool = False) -> Evidence:
        """Do it all; what was collected is for the checker to judge. `impatient`: see `Settling`."""
        preparation = await Preparation.made(self._plan, self._provider, self._onceward.owner)
        self._tell("prepared")
        agents = Agents(self._onceward, DOORS, preparation)
        cancels = Cancels(self._onceward, DOORS, agents, self.auditor)
        deciding, telling = asyncio.create_task(self.people.decide()), asyncio.create_task(self._keep_telling())
        try:
            await self._load(agents, cancels)
            self._tell("delivered; faults off, waiting for every operation to end")
            await self._calm()
            await self._audit("when everything was delivered")
            await self.operators.resolve()
            settling = Settling(self._plan, self.auditor, agents, self._tell, impatient=impatient)
            await settling.until_all_ended()
            await settling.ask_everything_once_more()
            await self._audit("at the end")
            return await self._collected(agents, cancels)
        finally:
            for task in (deciding, telling):
                task.cancel()
            await asyncio.gather(deciding, telling, return_exceptions=True)
            await agents.close()
            await cancels.close()

    async def _load(self, agents: Agents, cancels: Cancels) -> None:
        places = [0, *accumulate(len(turn.acts) for turn in self._plan.turns)]
        async with asyncio.TaskGroup() as tasks:
            for step, finished in zip(self._plan.steps, self._finished, strict=True):
                tasks.create_task(self._carry_out(step, finished))
            for turn, place in zip(self._plan.turns, places, strict=False):
                await self._faults_before(place)
                await self._slots.acquire()
                tasks.create_task(cancels.follow(turn))
                tasks.create_task(self._deliver(agents, turn, place))

    async def _deliver(self, agents: Agents, turn: Turn, place: int) -> None:
        try:
            await agents.deliver(turn, self.delivered)
        finally:
            self._slots.release()
        await agents.follow(turn, place, self.delivered)

    async def _carry_out(self, step: Step, finished: asyncio.Event) -> None:
        await self.faults.carry_out(step)
        finished.set()

    async def _faults_before(self, place: int) -> None:
        """Wait for the faults that should be over by now, or they would hit a system that has nothing to do."""
        ahead = max(LEAST_AHEAD, min(MOST_AHEAD, round(AHEAD * self.delivered.of)))
        for step, finished in zip(self._plan.steps, self._finished, strict=True):
            # What hits no process ends with the load that it waits for.
            if step.targets and step.at + ahead <= place:
                await finished.wait()

    async def _calm(self) -> None:
        await self._provider.calm()
        await self._processes.all_running()
        self.people.wait_no_longer()

    async def _audit(self, moment: str) -> None:
        self.audits.append(await audited(self._onceward.stack, moment))
        self._tell(self.audits[-1].sentence)

    async def _keep_telling(self) -> None:
        while True:
            await asyncio.sleep(SAY_SECONDS)
            ended = await self.auditor.ended()
            faults = sum(self.faults.done.values())
            number = f"{self.delivered.number} of {self.delivered.of} delivered"
            self._tell(f"{number}, {ended} operations ended, {faults} faults, the last: {self.faults.last}")

    def _tell(self, words: str) -> None:
        self._say(f"{time.monotonic() - self._began:5.0f} s  {words}")

    async def _collected(self, agents: Agents, cancels: Cancels) -> Evidence:
        tables = await self.auditor.tables()
        posts = Counter(f"provider: refund {row['fault']}" for row in tables["posts"] if row["fault"])
        return Evidence(
            seed=self._plan.seed,
            acts=tuple(_asked(turn, act) for turn in self._plan.turns for act in turn.acts),
            answers=tuple(agents.answers),
            said=tuple(self.people.said),
            wishes=tuple(cancels.wishes),
            resolved=tuple(self.operators.said),
            audits=tuple(self.audits),
            tables=tables,
            workflows=await self.auditor.workflows(),
            faults=dict(self.faults.done + self.setbacks.done + self._provider.fired + posts),
            deaths=dict(self._processes.deaths),
            seconds=time.monotonic() - self._began,
            collected=datetime.now(UTC),
            in_turns=self._plan.in_turns,
        )


def _asked(turn: Turn, act: Act) -> Asked:
    again = (turn.request_id + AGAIN,) if turn.delivery in ("again", "again later") else ()
    return Asked(
        call_id=act.call_id,
        requests=(turn.request_id, *again),
        tenant=turn.tenant,
        tool=act.tool,
        grade=act.grade,
        target=act.target,
        amount=act.amount,
        approvers=approvers_needed(act),
        allowed=act.allowed,
        items=act.items,
        repeats=act.repeats,
    )
