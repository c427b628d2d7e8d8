"""One process of the stack, from its start to its end."""

import asyncio
import signal
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

from worker.dev.child import Child
from worker.dev.errors import ChildFailed
from worker.dev.launch import launched
from worker.dev.layout import ROOT, Layout
from worker.dev.processes import Identity, identify, signal_tree

# Between two questions whether a child is ready (seconds).
POLL = 0.05

# How many lines of a log are shown when its process died.
LAST_LINES = 8


class Running:
    """A started child. ``expected`` says that its end was asked for, so that nobody is alarmed by it."""

    def __init__(self, child: Child, name: str, layout: Layout, process: asyncio.subprocess.Process, log: Path) -> None:
        self.child = child
        self.name = name
        self.layout = layout
        self.process = process
        self.log = log
        self.log_began = log.stat().st_size
        self.expected = False
        self.identity: Identity = identify(process.pid)

    @classmethod
    async def spawn(cls, child: Child, name: str, layout: Layout) -> "Running":
        """Start the process in a session of its own, so that Ctrl-C reaches the supervisor alone."""
        log, ready_file = layout.folder.log(name), layout.folder.ready_file(name)
        ready_file.unlink(missing_ok=True)
        command = launched(child.command(layout), child.orphaned)
        with log.open("ab") as output:
            output.write(f"--- {time.strftime('%Y-%m-%d %H:%M:%S')} {name} starts\n".encode())
            output.flush()
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**child.environment(layout), "ONCEWARD_READY_FILE": str(ready_file)},
                cwd=ROOT,
                start_new_session=True,
            )
        return cls(child, name, layout, process, log)

    @property
    def title(self) -> str:
        """What people are told."""
        return self.child.title if self.name == self.child.name else f"{self.child.title} ({self.name})"

    @property
    def pid(self) -> int:
        """The launcher becomes the program, so this is the program's own pid."""
        return self.process.pid

    async def until_ready(self) -> None:
        """Raises ``ChildFailed`` when the process ends first, or takes longer than it may."""
        try:
            async with asyncio.timeout(self.child.patience):
                await (self._until_done() if self.child.once else self._until_answering())
        except TimeoutError:
            raise self.failed(f"was not ready after {self.child.patience:.0f} s") from None

    async def _until_done(self) -> None:
        if await self.process.wait() != 0:
            raise self.failed(self.how_it_ended())

    async def _until_answering(self) -> None:
        while self.child.ready and not await self.child.ready(self.layout, self.name):
            if self.process.returncode is not None:
                raise self.failed(f"{self.how_it_ended()} before it was ready")
            await asyncio.sleep(POLL)

    async def end(self) -> None:
        """Ask, wait, kill. A stopped process is woken first: it could not hear the question."""
        self.expected = True
        with suppress(ProcessLookupError):
            signal_tree(self.pid, signal.SIGCONT)
            self.process.send_signal(self.child.stop)
        try:
            await asyncio.wait_for(self.process.wait(), self.child.grace)
        except TimeoutError:
            await self.kill()

    async def kill(self) -> None:
        """SIGKILL to the process and all that it started, as when the power of its machine fails."""
        self.expected = True
        signal_tree(self.pid, signal.SIGKILL)
        await self.process.wait()

    def failed(self, happened: str) -> ChildFailed:
        """The failure with the place and the end of the log."""
        return ChildFailed(self.title, happened, self.log, last_lines(self.log, self.log_began))

    def how_it_ended(self) -> str:
        """For a sentence."""
        code = self.process.returncode
        if code is not None and code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"


def last_lines(log: Path, began: int) -> list[str]:
    """The end of what one run of a child wrote."""
    with suppress(OSError), log.open("rb") as file:
        file.seek(began)
        return list(deque((line.decode(errors="replace").rstrip() for line in file), maxlen=LAST_LINES))
    return []
