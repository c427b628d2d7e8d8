"""Keeps the started processes: notices a death, starts again what may be, ends all in the reverse order."""

import asyncio
import time
from collections import defaultdict

from worker.dev.backoff import pause_before_restart
from worker.dev.child import Child
from worker.dev.errors import ChildFailed, StackError, UnknownChild
from worker.dev.folder import StateFolder
from worker.dev.layout import Layout
from worker.dev.progress import Progress, timed
from worker.dev.running import Running


class Supervisor:
    """``failure`` is done as soon as the stack cannot go on; whoever waits for the stack waits for it."""

    def __init__(self, folder: StateFolder, progress: Progress, restart: bool) -> None:
        self._folder = folder
        self._progress = progress
        self._restart = restart
        # In the order of their start, which is the reverse of the order in which they are ended.
        self._running: dict[str, Running] = {}
        self._deaths: dict[str, list[float]] = defaultdict(list)
        self._watches: set[asyncio.Task[None]] = set()
        self.failure: asyncio.Future[ChildFailed] = asyncio.get_running_loop().create_future()

    def __getitem__(self, name: str) -> Running:
        try:
            return self._running[name]
        except KeyError:
            raise UnknownChild(name, list(self._running)) from None

    def __contains__(self, name: str) -> bool:
        return name in self._running

    def names(self) -> list[str]:
        """In the order of their start."""
        return list(self._running)

    async def start(self, child: Child, name: str, layout: Layout) -> None:
        """Start one child and return when it can be used. What did not become ready is ended again."""
        with timed(self._progress, child.title):
            await child.prepare(layout)
            running = await Running.spawn(child, name, layout)
            self._running[name] = running
            self._write_down()
            try:
                await running.until_ready()
                await child.furnish(layout)
            except BaseException:
                await self.end(name)
                raise
        if child.once:
            self._forget(name)
        else:
            self._watch(running)

    async def end(self, name: str) -> None:
        """In good order."""
        await self[name].end()
        self._forget(name)

    async def kill(self, name: str) -> None:
        """Without warning."""
        await self[name].kill()
        self._forget(name)

    async def end_all(self) -> None:
        """Whoever uses another one ends before it."""
        watches = list(self._watches)
        for watch in watches:
            watch.cancel()
        await asyncio.gather(*watches, return_exceptions=True)
        for name in reversed(self.names()):
            await self.end(name)

    def _watch(self, running: Running) -> None:
        watch = asyncio.create_task(self._until_death(running))
        self._watches.add(watch)
        watch.add_done_callback(self._watch_ended)

    def _watch_ended(self, watch: asyncio.Task[None]) -> None:
        self._watches.discard(watch)
        # An error of the supervisor itself must not leave a stack that looks complete and is not.
        if not watch.cancelled() and (error := watch.exception()) and not self.failure.done():
            self.failure.set_exception(error)

    async def _until_death(self, running: Running) -> None:
        await running.process.wait()
        if running.expected:
            return
        self._forget(running.name)
        self._deaths[running.name].append(time.monotonic())
        death = running.failed(f"{running.how_it_ended()} unexpectedly")
        self._progress.note(str(death))
        if self._restart:
            await self._after(death, running)

    async def _after(self, death: ChildFailed, running: Running) -> None:
        pause = pause_before_restart(self._deaths[running.name], time.monotonic())
        if not running.child.restarted or pause is None:
            self._give_up(death)
            return
        await asyncio.sleep(pause)
        await self._again(running)

    async def _again(self, dead: Running) -> None:
        try:
            await self.start(dead.child, dead.name, dead.layout)
        except ChildFailed as failure:
            # Dying while it starts counts like any other death, or a broken child would be started for ever.
            self._deaths[dead.name].append(time.monotonic())
            self._progress.note(str(failure))
            await self._after(failure, dead)
        except StackError as refusal:
            self._give_up(ChildFailed(dead.title, f"cannot be started again: {refusal}", dead.log))

    def _give_up(self, failure: ChildFailed) -> None:
        if not self.failure.done():
            self.failure.set_result(failure)

    def _forget(self, name: str) -> None:
        self._running.pop(name, None)
        self._write_down()

    def _write_down(self) -> None:
        self._folder.remember("processes", {name: running.identity for name, running in self._running.items()})
