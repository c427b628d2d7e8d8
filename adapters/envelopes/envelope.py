"""What every surface does, whatever its fields are called."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from workflows.domain.errors import InvalidConfiguration
from workflows.domain.proposal import CallResult, Proposal

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""Names that every surface takes; one bad name fails the whole request there."""


@dataclass(frozen=True)
class ToolDefinition:
    """One tool as a model is told of it. `parameters` is a JSON Schema whose root is an object.

    Raises:
        InvalidConfiguration: no surface would take this name or this schema.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not TOOL_NAME.fullmatch(self.name):
            raise InvalidConfiguration(f"a tool name must match {TOOL_NAME.pattern}")
        if self.parameters.get("type") != "object":
            raise InvalidConfiguration(f"the parameters of {self.name} must be a schema of type object")


@dataclass(frozen=True)
class ReadTurn:
    """One response of a model, read.

    `request_id` is the response's own id. `echo` is what the conversation must hold before the answers: the
    assistant's message with every block as it came, signatures and unknown keys included.
    """

    surface: str
    request_id: str | None
    proposals: tuple[Proposal, ...]
    echo: tuple[dict[str, Any], ...]


class Envelope(Protocol):
    """One surface: pure functions over plain JSON. A module with these four names is one."""

    @property
    def SURFACE(self) -> str:
        """The surface's name, as callers give it."""

    def read(self, response: Any) -> ReadTurn:
        """Read one whole response, given as `strict_json.parse` returns it; `response` is not changed.

        No calls give no proposals. A call that alone is unfit has a `fault`; its siblings keep their chance.

        Raises:
            ResponseRefused: the response as a whole is unfit, and none of its calls may be run.
        """

    def write(self, turn: ReadTurn, results: Iterable[CallResult]) -> list[dict[str, Any]]:
        """Return the messages to append to the conversation: the echo, then one answer to each call, in call order.

        Raises:
            CorrelationBroken: the results are not one for each proposal.
            StrictJsonError: a result has no JSON form.
        """

    def render(self, definition: ToolDefinition) -> dict[str, Any]:
        """Return `definition` as this surface's requests list it, the schema unchanged."""
