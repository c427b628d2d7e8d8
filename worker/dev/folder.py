"""The one folder that holds all state: data, passwords, ports, logs, and which processes were started."""

import fcntl
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from worker.dev.errors import StateFolderInUse, StateFolderUnwritable

# A log is moved aside at the next start once it is larger than this, so that the folder stays small (bytes).
LARGE_LOG = 10_000_000


class StateFolder:
    """Where everything of one stack lies. Nothing outside this folder is written."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self._lock: int | None = None

    @property
    def postgres_data(self) -> Path:
        """PostgreSQL's own folder."""
        return self.root / "postgres"

    @property
    def temporal_file(self) -> Path:
        """Temporal's SQLite file."""
        return self.root / "temporal" / "temporal.db"

    @property
    def issuer(self) -> Path:
        """Where the token issuer keeps its key."""
        return self.root / "issuer"

    @property
    def logs(self) -> Path:
        """One file for each child."""
        return self.root / "logs"

    def log(self, name: str) -> Path:
        """What one child writes."""
        return self.logs / f"{name}.log"

    def ready_file(self, name: str) -> Path:
        """What one child touches when it can be used."""
        return self.root / "ready" / name

    def make(self) -> None:
        """Create the folder and its parts; only its owner may look inside."""
        try:
            for part in (self.root, self.logs, self.issuer, self.temporal_file.parent, self.ready_file("x").parent):
                part.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as refusal:
            raise StateFolderUnwritable(self.root, refusal.strerror or str(refusal)) from refusal

    def lock(self) -> None:
        """Take the folder for this process. The kernel gives it back when the process ends, however it ends."""
        try:
            lock = os.open(self.root / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as refusal:
            raise StateFolderUnwritable(self.root, refusal.strerror or str(refusal)) from refusal
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(lock, 20).decode().strip() or "unknown"
            os.close(lock)
            raise StateFolderInUse(self.root, holder) from None
        os.ftruncate(lock, 0)
        os.write(lock, f"{os.getpid()}\n".encode())
        self._lock = lock

    def unlock(self) -> None:
        """Give the folder back."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def set_large_logs_aside(self) -> None:
        """Keep one older log of each child at most."""
        for log in self.logs.glob("*.log"):
            if log.stat().st_size > LARGE_LOG:
                log.rename(log.with_suffix(".log.old"))

    def remember(self, name: str, what: Mapping[str, Any]) -> None:
        """Write ``name``.json in one step, for the owner only: a crash leaves the old or the new, never half of one."""
        target = self.root / f"{name}.json"
        draft = target.with_suffix(".json.new")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(what, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)

    def recall(self, name: str) -> dict[str, Any]:
        """What ``remember`` wrote, or nothing; a damaged file counts as nothing."""
        with suppress(OSError, ValueError):
            found = json.loads((self.root / f"{name}.json").read_text())
            if isinstance(found, dict):
                return found
        return {}
