"""One logical act, as the executor keeps it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workflows.domain.errors import ERRORS, Detail
from workflows.domain.gate import Verdict
from workflows.domain.intent import Intent
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal


@dataclass(frozen=True)
class Operation:
    """The stored operation. `arguments` are the validated ones; `result` is what the caller is told at the end.

    `writes` as the tool's contract said when it was registered. `cancel_wanted`: the caller has asked for it to stop,
    which it does as long as nothing has happened. `after` names the operations of its turn that come before it.
    """

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
    cancel_wanted: bool = False
    writes: bool = True
    after: tuple[str, ...] = ()

    def meaning(self) -> str:
        """The intent hash of what is stored now; it differs from the registered one only if something was changed."""
        intent = Intent(
            tenant=self.principal.tenant,
            subject=self.principal.subject,
            agent=self.principal.agent,
            scopes=tuple(sorted(self.principal.scopes)),
            tool=self.tool,
            tool_version=self.tool_version,
            contract_hash=self.contract_hash,
            resource=self.resource,
            arguments=self.arguments,
            act={},
        )
        return intent.hash()


@dataclass(frozen=True)
class Settlement:
    """The terminal result as stored. `data` is in the shape of the tool's result model.

    `verdicts` are the gate's, where they were given in the same step as the result, as they are for a read. `closes`:
    it is a success that leaves parts of the operation undone, which nobody may do any more. `undone` is the code of
    such parts where it is not that of the whole.
    """

    state: State
    code: str | None = None
    details: tuple[Detail, ...] = ()
    data: Mapping[str, Any] | None = None
    reference: str | None = None
    verdicts: tuple[Verdict, ...] = field(default=(), compare=False)
    closes: bool = field(default=False, compare=False)
    undone: str | None = field(default=None, compare=False)

    @classmethod
    def failed_with(
        cls, code: str, details: tuple[Detail, ...] = (), verdicts: tuple[Verdict, ...] = ()
    ) -> "Settlement":
        """The end under a code; it may be tried anew only if the catalogue knows the code and says so."""
        entry = ERRORS.get(code)
        retryable = entry is not None and entry.retryable
        state = State.FAILED_RETRYABLE if retryable else State.FAILED_TERMINAL
        return cls(state, code, details, verdicts=verdicts)
