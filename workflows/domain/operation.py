"""One logical act, as the executor keeps it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workflows.domain.errors import ERRORS, Detail
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal


@dataclass(frozen=True)
class Operation:
    """The stored operation. `arguments` are the validated ones; `result` is what the caller is told at the end."""

    operation_id: str
    principal: Principal
    tool: str
    tool_version: str
    contract_hash: str
    intent_hash: str
    arguments: Mapping[str, Any]
    resource: str
    state: State
    code: str | None = None
    result: Mapping[str, Any] | None = None
    reference: str | None = None
    policy_version: str = ""


@dataclass(frozen=True)
class Settlement:
    """The terminal result as stored. `data` is in the shape of the tool's result model."""

    state: State
    code: str | None = None
    details: tuple[Detail, ...] = ()
    data: Mapping[str, Any] | None = None
    reference: str | None = None

    @classmethod
    def failed_with(cls, code: str, details: tuple[Detail, ...] = ()) -> "Settlement":
        """The end under a code; it may be tried anew only if the catalogue knows the code and says so."""
        entry = ERRORS.get(code)
        retryable = entry is not None and entry.retryable
        return cls(State.FAILED_RETRYABLE if retryable else State.FAILED_TERMINAL, code, details)
