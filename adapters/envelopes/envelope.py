"""What every surface does, whatever its fields are called."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from adapters.envelopes.strict import Inexpressible, StrictForm
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
    where the surface names none; `arguments` are as the surface has them, JSON text or an object. `failed`: the
    provider says so; None where it does not say. `approved_under` is the
    id of the approval request that let it run, and `asks` says that the provider has to make one first.
    """

    item_id: str
    kind: str
    server: str = ""
    tool: str = ""
    failed: bool | None = None
    approved_under: str | None = None
    asks: bool = False
    arguments: Any = None


@dataclass(frozen=True)
class Spent:
    """Tokens that the response took, thinking included, and the most that it was allowed where it repeats that."""

    tokens: int | None = None
    allowed: int | None = None


@dataclass(frozen=True)
class ReadTurn:
    """One response of a model, read.

    `request_id` is the response's own id. `echo` is what the conversation must hold before the answers: the
    assistant's message with every block as it came, signatures and unknown keys included. `hosted` is what the
    provider did itself, `found` the names of the tools that its own tool search has brought up. `paused`: the
    provider has stopped in the middle of its own work and goes on once it has the echo; nothing is run. `spent` is what
    it took: a response that took all that it was allowed may have been cut, whatever its stop signal says.
    """

    surface: str
    request_id: str | None
    proposals: tuple[Proposal, ...]
    echo: tuple[dict[str, Any], ...]
    hosted: tuple[HostedCall, ...] = ()
    found: frozenset[str] = frozenset()
    paused: bool = False
    spent: Spent = Spent()


@dataclass(frozen=True)
class HostedTools:
    """Tools that the provider calls by itself on one MCP server, by their names there.

    Those that may change something are listed only where the provider asks us first.
    """

    label: str
    url: str
    reads: tuple[str, ...]
    writes: tuple[str, ...] = ()


class Search(StrEnum):
    """Who finds the tools that are deferred."""

    OURS = "ours"
    """The model calls our search, which knows who may use what."""
    PROVIDERS = "provider"
    """The provider's own, over all definitions that it was given."""


@dataclass(frozen=True)
class Offer:
    """All that a request may list. `search` is the definition of our search, None when nothing is deferred."""

    tools: tuple[ToolDefinition, ...]
    search: ToolDefinition | None = None
    by: Search = Search.OURS
    hosted: tuple[HostedTools, ...] = ()


@dataclass(frozen=True)
class Listing:
    """The offer as a request states it: the entries of `tools`, and what else the request must have, by member."""

    tools: list[dict[str, Any]]
    request: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Findings:
    """What a search has found: `data` is told to the model as its result, `add` belongs into the next request's tools.

    Where a surface takes the definitions, or references to them, from the result itself, nothing is to be added.
    """

    data: Any
    add: list[dict[str, Any]] = field(default_factory=list)


class Envelope(Protocol):
    """One surface: pure functions over plain JSON. A module with these names is one."""

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

    def takes(self, schema: Mapping[str, Any]) -> bool:
        """Return whether the provider takes a tool of this schema, strict or not; else it refuses the whole request."""

    def offer(self, offer: Offer) -> Listing:
        """Return all that a request lists.

        Raises:
            InvalidConfiguration: the surface has no search of its own, and it was asked for.
        """

    def found(self, definitions: Sequence[ToolDefinition]) -> Findings:
        """Return what a search of ours has found as this surface takes it."""

    def forms(self, schemas: Sequence[Mapping[str, Any]]) -> Sequence[StrictForm | Inexpressible]:
        """Return each of a catalog's schemas in the surface's strict subset, or why there is none.

        Providers limit the strict tools of one request together, so the order counts: the first ones come first.
        """


def takes_any(schema: Mapping[str, Any]) -> bool:  # noqa: ARG001
    """`Envelope.takes` of a surface that refuses no schema."""
    return True
