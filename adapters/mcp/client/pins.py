"""The reviewed definitions of tools, in a lock file beside the configuration.

A definition is all that a server says of a tool, with who says so and where: name, title, description, both schemas,
annotations. Its digest is what people have reviewed; a tool whose digest is another one is another tool.
"""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import mcp_types
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from adapters.mcp.client.configuration import ServerEntry
from workflows.domain.errors import InvalidConfiguration

Json = dict[str, Any]

FIELDS: Final = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
"""What of a tool's definition is pinned. Icons and metadata are shown to nobody."""


class Definition(BaseModel):
    """One pinned tool; the digest covers all the rest and the server's identity."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    title: str | None = None
    description: str | None = None
    inputSchema: dict[str, JsonValue]
    outputSchema: dict[str, JsonValue] | None = None
    annotations: dict[str, JsonValue] | None = None
    digest: str


class PinnedServer(BaseModel):
    """One server as it was reviewed: the name that it gives itself, and a digest of where it is reached."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    identity: str
    reached: str
    tools: Mapping[str, Definition]


NOTHING_PINNED: Final = PinnedServer(identity="", reached="", tools={})


class Lock(BaseModel):
    """The whole lock file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    servers: Mapping[str, PinnedServer]


@dataclass(frozen=True)
class Difference:
    """What a tool of the live list is against its pin: `added`, `removed` or `changed` in these fields."""

    tool: str
    kind: str
    fields: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.tool}: {self.kind}" + (f" ({', '.join(self.fields)})" if self.fields else "")


def lock_beside(path: Path) -> Path:
    """Where the lock of a configuration is kept: `mcp.lock.json` beside `mcp.toml`."""
    return path.with_suffix(".lock.json")


def reached(entry: ServerEntry) -> str:
    """Fingerprint of the way to a server; another address or another command is another server."""
    return _digest({"command": list(entry.command), "url": entry.url})


def pinned(entry: ServerEntry, identity: str, tools: Iterable[mcp_types.Tool]) -> PinnedServer:
    """What would be written down of a server as it is now."""
    where = reached(entry)
    definitions = (_definition(identity, where, tool) for tool in tools)
    return PinnedServer(identity=identity, reached=where, tools={each.name: each for each in definitions})


def differences(known: PinnedServer | None, live: PinnedServer) -> list[Difference]:
    """How a live server differs from what was reviewed, by tool."""
    before: Mapping[str, Definition] = known.tools if known is not None else {}
    found = (_difference(name, before.get(name), live.tools.get(name)) for name in sorted({*before, *live.tools}))
    return [each for each in found if each is not None]


def _difference(name: str, before: Definition | None, now: Definition | None) -> Difference | None:
    if before is None:
        return Difference(name, "added")
    if now is None:
        return Difference(name, "removed")
    if before.digest == now.digest:
        return None
    told = [field for field in FIELDS if getattr(before, field) != getattr(now, field)]
    return Difference(name, "changed", tuple(told) or ("the server's identity",))


def read_lock(path: Path) -> Lock:
    """Read a lock file.

    Raises:
        InvalidConfiguration: it is not there, unfit, or a definition in it is not the one of its digest.
    """
    try:
        lock = Lock.model_validate_json(path.read_bytes())
    except OSError:
        raise InvalidConfiguration(f"There is no {path}; python -m worker mcp pin writes it.") from None
    except ValidationError:
        raise InvalidConfiguration(f"The file {path} is no lock; python -m worker mcp pin writes it.") from None
    for name, server in lock.servers.items():
        for tool, definition in server.tools.items():
            if tool != definition.name or definition.digest != _digest_of(server.identity, server.reached, definition):
                raise InvalidConfiguration(f"{path}: {name}.{tool} is not what was pinned; pin and review it again.")
    return lock


def write_lock(path: Path, lock: Lock) -> None:
    """Write a lock file, sorted so that a review shows what has changed, and with nothing in it that nobody can see."""
    content = lock.model_dump(mode="json", exclude_none=True)
    text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False)
    path.write_text("".join(map(_visible, text)) + "\n", "utf-8")


def _visible(character: str) -> str:
    """A character that a reader would not see, as its escape: models read those too."""
    hidden = character not in "\n " and unicodedata.category(character)[0] in "CZM"
    return json.dumps(character)[1:-1] if hidden else character


def _definition(identity: str, where: str, tool: mcp_types.Tool) -> Definition:
    said = tool.model_dump(mode="json", by_alias=True, exclude_none=True, include=set(_PYTHON_NAMES))
    unsigned = Definition(**said, digest="")
    return unsigned.model_copy(update={"digest": _digest_of(identity, where, unsigned)})


_PYTHON_NAMES: Final = ("name", "title", "description", "input_schema", "output_schema", "annotations")


def _digest_of(identity: str, where: str, definition: Definition) -> str:
    said = definition.model_dump(mode="json", exclude={"digest"}, exclude_none=True)
    return _digest({"identity": identity, "reached": where, "definition": said})


def _digest(value: Json) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
