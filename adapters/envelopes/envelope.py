"""What every surface does, whatever its fields are called."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from workflows.domain.errors import InvalidConfiguration
from workflows.domain.proposal import CallResult, Proposal

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""Names that every surface takes; one bad name fails the whole request there."""


@dataclass(frozen=True)
class ToolDefinition:
    """One tool as a model is told of it. `parameters` is a JSON Schema whose root is an object.

    `strict`: the parameters are in the surface's strict subset, and the provider shall hold the model to them.
    `deferred`: the model learns of the tool only when a search finds it. `examples` are arguments that are valid.

    Raises:
        InvalidConfiguration: no surface would take this name or this schema.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    strict: bool = False
    deferred: bool = False
    examples: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if not TOOL_NAME.fullmatch(self.name):
            raise InvalidConfiguration(f"a tool name must match {TOOL_NAME.pattern}")
        if self.parameters.get("type") != "object":
            raise InvalidConfiguration(f"the parameters of {self.name} must be a schema of type object")


@dataclass(frozen=True)
class HostedCall:
    """One call that the provider has run itself: recorded, never run here and never answered.

    `kind` is the surface's own word for it, such as `mcp_call` or `web_search_call`. `server` and `tool` are empty
    where the surface names none. `failed`: the provider says so; None where it does not say. `approved_under` is the
    id of the approval request that let it run.
    """

    item_id: str
    kind: str
    server: str = ""
    tool: str = ""
    failed: bool | None = None
    approved_under: str | None = None


@dataclass(frozen=True)
class ReadTurn:
    """One response of a model, read.

    `request_id` is the response's own id. `echo` is what the conversation must hold before the answers: the
    assistant's message with every block as it came, signatures and unknown keys included. `hosted` is what the
    provider did itself, `found` the names of the tools that its own tool search has brought up. `paused`: the
    provider has stopped in the middle of its own work and goes on once it has the echo; nothing is run.
    """

    surface: str
    request_id: str | None
    proposals: tuple[Proposal, ...]
    echo: tuple[dict[str, Any], ...]
    hosted: tuple[HostedCall, ...] = ()
    found: frozenset[str] = frozenset()
    paused: bool = False


class Envelope(Protocol):
    """One surface: pure functions over plain JSON. A module with these five names is one."""

    @property
    def SURFACE(self) -> str:
        """The surface's name, as callers give it."""

    def read(self, response: Any) -> ReadTurn:
        """Read one whole response, given as `strict_json.parse` returns it; `response` is not changed.

        No calls give no proposals. A call that alone is unfit has a `fault`; its siblings keep their chance.

        Raises:
            ResponseRefused: the response as a whole is unfit, and none of its calls may be run.
        """

    def read_stream(self, events: Sequence[Any]) -> ReadTurn:
        """Read one response from all events of its stream, in the order in which they came, each as parsed JSON.

        The result is that of `read` on the same response sent whole. A stream without its last event was cut.

        Raises:
            ResponseRefused: as `read`; `incomplete_response` when the stream was cut or the provider broke it off.
        """

    def write(self, turn: ReadTurn, results: Iterable[CallResult]) -> list[dict[str, Any]]:
        """Return the messages to append to the conversation: the echo, then one answer to each call, in call order.

        Raises:
            CorrelationBroken: the results are not one for each proposal.
            StrictJsonError: a result has no JSON form.
        """

    def render(self, definition: ToolDefinition) -> dict[str, Any]:
        """Return `definition` as this surface's requests list it, the schema unchanged."""
