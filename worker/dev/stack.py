"""The embedded stack as an object: everything started on entry, everything ended on exit.

::

    async with Stack(state=folder) as stack:
        call(stack.links.door)
        await stack.kill("worker")
        await stack.start("worker")
"""

import asyncio
import signal
from collections.abc import Collection, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from worker.dev import credentials, ports
from worker.dev.binaries import Binaries
from worker.dev.child import Child
from worker.dev.children import TABLE
from worker.dev.environment import Environment
from worker.dev.errors import BrokenData, ChildFailed, UnknownChild
from worker.dev.folder import StateFolder
from worker.dev.layout import Layout, Links
from worker.dev.processes import end_leftovers, signal_tree
from worker.dev.progress import Progress, Silence
from worker.dev.supervisor import Supervisor


class Stack:
    """Real servers and our own processes on one machine, with all their state in one folder.

    ``only`` names the children to start (all of ``table`` when left out). With ``restart=False`` a child that dies
    stays dead and the stack goes on, which is what a test of faults wants. Ports are found unless given.
    """

    def __init__(
        self,
        state: Path,
        *,
        only: Collection[str] | None = None,
        table: Sequence[Child] = TABLE,
        port: int | None = None,
        console_port: int | None = None,
        restart: bool = True,
        progress: Progress | None = None,
        binaries: Binaries | None = None,
    ) -> None:
        self._folder = StateFolder(state)
        self._table = {child.name: child for child in table}
        self._only = tuple(self._table) if only is None else tuple(name for name in self._table if name in only)
        asked = {"api": port, "console": console_port}
        self._asked = {name: number for name, number in asked.items() if number is not None}
        self._restart = restart
        self._progress = progress or Silence()
        self._binaries = binaries
        # Where each name that was ever started stands; copies have ports of their own.
        self._layouts: dict[str, tuple[Child, Layout]] = {}

    async def __aenter__(self) -> Self:
        self._folder.make()
        self._folder.lock()
        try:
            await self._open()
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    # -- what stands where ---------------------------------------------------------------------------------------------

    @property
    def links(self) -> Links:
        """Where things are found."""
        return Links.of(self._layout)

    def environment(self, name: str) -> Environment:
        """What that child gets: for code that takes its place in a test, and to reach what it reaches."""
        child, layout = self._place(name)
        return child.environment(layout)

    def dsn(self, role: str, database: str = "onceward") -> str:
        """A connection string for a role; ``postgres`` is the superuser."""
        return self._layout.dsn(role, database)

    def url(self, name: str) -> str:
        """Where a child that serves HTTP is reached, for copies too."""
        child, layout = self._place(name)
        return layout.url(child.port or name)

    def log(self, name: str) -> Path:
        """What a child writes."""
        return self._folder.log(name)

    def pid(self, name: str) -> int:
        """Of a running child."""
        return self._supervisor[name].pid

    def running(self) -> list[str]:
        """Names in the order of their start."""
        return self._supervisor.names()

    # -- what can be done to it ----------------------------------------------------------------------------------------

    async def start(self, name: str) -> None:
        """Start a child that does not run, and return when it can be used."""
        child, layout = self._place(name)
        if name not in self._supervisor:
            await self._start(child, name, layout)

    async def stop(self, name: str) -> None:
        """End it as Ctrl-C would."""
        await self._supervisor.end(name)

    async def kill(self, name: str) -> None:
        """SIGKILL, for it and all that it started. It is not started again by itself."""
        await self._supervisor.kill(name)

    async def restart(self, name: str) -> None:
        """End it in good order and start it again on the same port."""
        await self.stop(name)
        await self.start(name)

    def pause(self, name: str) -> None:
        """SIGSTOP: it holds its connections and answers nobody."""
        signal_tree(self._supervisor[name].pid, signal.SIGSTOP)

    def resume(self, name: str) -> None:
        """SIGCONT: it goes on, late."""
        signal_tree(self._supervisor[name].pid, signal.SIGCONT)

    async def spawn(self, child: str, *, name: str) -> None:
        """A further copy of a child under its own name, with a port of its own where it has one."""
        original, layout = self._place(child)
        if original.port:
            layout = layout.with_port(original.port, ports.find(layout.ports.values()))
        await self._start(original, name, layout)

    async def wait(self) -> None:
        """Return never; raise ``ChildFailed`` when the stack cannot go on."""
        raise await asyncio.shield(self._supervisor.failure)

    # -- how it is done ------------------------------------------------------------------------------------------------

    async def _open(self) -> None:
        self._supervisor = Supervisor(self._folder, self._progress, self._restart)
        self._folder.set_large_logs_aside()
        await self._end_leftovers()
        self._layout = self._settle()
        for name in self._only:
            await self._start_first_time(self._table[name])

    async def _end_leftovers(self) -> None:
        ended = await asyncio.to_thread(end_leftovers, self._folder.recall("processes"))
        if ended:
            self._progress.note(f"Ended what the last run had left behind: {', '.join(ended)}.")

    def _settle(self) -> Layout:
        settled = ports.settle(self._folder.recall("ports"), self._asked)
        self._folder.remember("ports", settled)
        return Layout(self._folder, settled, credentials.keep(self._folder), self._binaries or Binaries.installed())

    async def _start_first_time(self, child: Child) -> None:
        try:
            await self._start(child, child.name, self._layout)
        except ChildFailed as failure:
            if child.data is None or (child.port and not ports.is_free(self._layout.ports[child.port])):
                raise
            reason = failure.last_lines[-1].strip() if failure.last_lines else "it does not start"
            raise BrokenData(child.title, child.data(self._layout), reason, self._folder.log(child.name)) from failure

    async def _start(self, child: Child, name: str, layout: Layout) -> None:
        self._layouts[name] = (child, layout)
        await self._supervisor.start(child, name, layout)

    def _place(self, name: str) -> tuple[Child, Layout]:
        if name in self._layouts:
            return self._layouts[name]
        if name in self._table:
            return self._table[name], self._layout
        raise UnknownChild(name, list(self._table))

    async def _close(self) -> None:
        try:
            if hasattr(self, "_supervisor"):
                await self._supervisor.end_all()
        finally:
            self._folder.unlock()
