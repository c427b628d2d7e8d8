"""What a host asks for in a `tools/call`, and the identity of that request.

A model never fills an operation id or a key: those are the host's or ours. A host that names its request gets the same
operation for the same name, whatever happens to its connection; without a name each call is a new one.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types.jsonrpc import INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from adapters.mcp.server.words import CAPABILITIES, REQUEST_ID, TASKS
from workflows.domain.intent import digest
from workflows.domain.principal import Principal

LONGEST_KEY: Final = 200
"""Characters of a host's name for a request."""


@dataclass(frozen=True)
class Asked:
    """One call. `key` is the host's name for the request, None where it gives none; `takes_tasks`: it can poll."""

    name: str
    arguments: Any
    key: str | None
    takes_tasks: bool

    def response(self, principal: Principal) -> dict[str, Any]:
        """The call as the surface reads it, under ids that nobody else's call can have.

        A key is told apart by whose it is, so that nobody finds out, or gets in the way of, what another one names;
        these ids stand in a namespace of their own, which no response handed in elsewhere can reach.
        """
        if self.key is None:
            ids = {"request_id": f"mcp-{secrets.token_hex(16)}", "call_id": "mcp"}
        else:
            whose = digest([principal.subject, principal.agent])
            ids = {"request_id": self.key, "call_id": f"mcp-{whose[:32]}"}
        return {**ids, "name": self.name, "arguments": self.arguments}


def asked(params: Mapping[str, Any], version: str) -> Asked:
    """Read the parameters of a call; the package has looked at their shape.

    Raises:
        MCPError: the host's name for its request is none.
    """
    arguments = params.get("arguments")
    return Asked(params["name"], {} if arguments is None else arguments, _key(params), takes_tasks(params, version))


def takes_tasks(params: Mapping[str, Any], version: str) -> bool:
    """Whether this very request says that its host knows the tasks extension; an earlier word does not count."""
    capabilities = _member(_member(params, "_meta"), CAPABILITIES)
    return version in MODERN_PROTOCOL_VERSIONS and isinstance(
        _member(_member(capabilities, "extensions"), TASKS), Mapping
    )


def _key(params: Mapping[str, Any]) -> str | None:
    key = _member(_member(params, "_meta"), REQUEST_ID)
    if key is None:
        return None
    if not isinstance(key, str) or not 0 < len(key) <= LONGEST_KEY or not key.isprintable():
        raise MCPError(INVALID_PARAMS, f"_meta[{REQUEST_ID}] must be 1 to {LONGEST_KEY} printable characters.")
    return key


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None
