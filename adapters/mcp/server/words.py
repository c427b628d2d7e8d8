"""Names of the protocol and of ours in it."""

from typing import Final

REQUEST_ID: Final = "dev.onceward/request-id"
"""In `_meta` of a call: the host's own name for this one request. The same again is the same operation."""

TASKS: Final = "io.modelcontextprotocol/tasks"
"""The extension by which a host polls for what takes long."""

CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
"""In `_meta` of a request: what the host can do."""

GET_OPERATION: Final = "get_operation"
CANCEL_OPERATION: Final = "cancel_operation"
