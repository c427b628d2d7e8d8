"""What stands where in one running stack: folder, ports, secrets, servers. Commands and environments follow from it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from worker.dev.binaries import Binaries
from worker.dev.folder import StateFolder
from worker.dev.ports import HOST

# The checkout: children are started in it and import from it.
ROOT = Path(__file__).resolve().parents[2]

NAMESPACE = "onceward"
TASK_QUEUE = "onceward"
AUDIENCE = "onceward"
BACK_OFFICE_AUDIENCE = "onceward-back-office-api"


@dataclass(frozen=True)
class Layout:
    """All that the commands and environments of the children are made from."""

    folder: StateFolder
    ports: Mapping[str, int]
    credentials: Mapping[str, str]
    binaries: Binaries

    def url(self, name: str) -> str:
        """Of a child that serves HTTP."""
        return f"http://{self.address(name)}"

    def address(self, name: str) -> str:
        """Host and port, as gRPC and PostgreSQL want it."""
        return f"{HOST}:{self.ports[name]}"

    def dsn(self, role: str, database: str = "onceward") -> str:
        """For one role; each process connects as its own."""
        return f"postgresql://{role}:{self.credentials[role]}@{self.address('postgres')}/{database}"

    def with_port(self, name: str, port: int) -> "Layout":
        """The same place for a further copy of one child."""
        return replace(self, ports={**self.ports, name: port})


@dataclass(frozen=True)
class Links:
    """Where a person or an agent finds things."""

    door: str
    back_office: str
    console: str
    issuer: str
    payments: str
    logs: Path

    @classmethod
    def of(cls, layout: Layout) -> "Links":
        """All links of one stack."""
        return cls(
            door=layout.url("api"),
            back_office=f"{layout.url('api')}/back-office",
            console=f"{layout.url('console')}/namespaces/{NAMESPACE}/workflows",
            issuer=layout.url("issuer"),
            payments=layout.url("provider"),
            logs=layout.folder.logs,
        )
