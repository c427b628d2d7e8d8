"""One running provider: its books, its switches, and the work that it does after having hung up."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncEngine
from starlette.responses import Response

from examples.payments_provider.connection import Cut
from examples.payments_provider.faults import Fault, On, Switches, use_first
from examples.payments_provider.refusals import Refusal
from examples.payments_provider.settings import Settings

Act = Callable[[], Awaitable[Response]]


class Provider:
    """The state that requests share. Switches live in memory: a restart finds none set."""

    def __init__(self, settings: Settings, engine: AsyncEngine) -> None:
        self.settings: Final = settings
        self.engine: Final = engine
        self.switches = Switches.from_settings(settings)
        self.late = LateWork()
        self.cleared = asyncio.Event()

    def clear_switches(self) -> None:
        """Behaves as the settings say, and lets replies go that were held back."""
        self.switches = Switches.from_settings(self.settings)
        self.cleared.set()
        self.cleared = asyncio.Event()

    def run_into(
        self, on: On, *, reading: bool, client_reference: str | None = None, order_id: str | None = None
    ) -> Fault | None:
        """The switch that this request runs into, if any; it is counted down."""
        fault, left = use_first(
            self.switches.faults, on, reading=reading, client_reference=client_reference, order_id=order_id
        )
        self.switches = self.switches.model_copy(update={"faults": left})
        return fault


class LateWork:
    """Work that goes on after the connection is gone; the keys it holds count as in flight until it begins."""

    def __init__(self) -> None:
        self._keys: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def holds(self, key: str) -> bool:
        """Whether work under this key has yet to begin."""
        return key in self._keys

    def start(self, key: str, seconds: float, act: Act) -> None:
        """Begins `act` in `seconds`, with or without a caller."""
        self._keys.append(key)
        task = asyncio.create_task(self._run(key, seconds, act))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cancel(self) -> None:
        """Drops what has not been done yet."""
        for task in self._tasks:
            task.cancel()

    async def _run(self, key: str, seconds: float, act: Act) -> None:
        try:
            await asyncio.sleep(seconds)
        finally:
            self._keys.remove(key)
        await _nobody_listens(act)


async def under(fault: Fault | None, act: Act, provider: Provider) -> Response:
    """Does the work the way the switch has it.

    A late commit is not arranged here, it has to outlive the request; one that got here is refused like any repeat.
    """
    if fault is None or fault.do == "commit-late":
        return await act()
    if fault.do == "slow-read":
        await asyncio.sleep(fault.wait)
        return await act()
    if fault.do == "commit-then-hang":
        return await _held_back(act, fault.wait, provider.cleared)
    if fault.do == "commit-then-drop":
        await _nobody_listens(act)
        return Cut()
    return stopped_by(fault)


def stopped_by(fault: Fault) -> Response:
    """For the switches under which nothing is done."""
    return Cut() if fault.do == "drop-before-commit" else fault.refusal().response()


async def _held_back(act: Act, seconds: float, let_go: asyncio.Event) -> Response:
    try:
        return await act()
    finally:
        with suppress(TimeoutError):
            await asyncio.wait_for(let_go.wait(), seconds)


async def _nobody_listens(act: Act) -> None:
    """A refusal that nobody will hear is still a refusal: it has been written to the ledger."""
    try:
        await act()
    except Refusal:
        return


def clock() -> datetime:
    """Now, in UTC; the one place where the provider asks."""
    return datetime.now(UTC)
