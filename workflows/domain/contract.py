"""All that is declared about a tool, in one place.

A contract is data: the catalog, the schema for every surface, the gate, the approval page and the recovery after a
fault are derived from it, never chosen by hand elsewhere.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from operator import itemgetter
from typing import Any

from pydantic import BaseModel, ConfigDict

from workflows.domain.errors import ErrorEntry
from workflows.domain.intent import digest


class Arguments(BaseModel):
    """Base of every argument model: unknown fields are refused, nothing is coerced."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def one_form(self) -> dict[str, Any]:
        """What was given, each value in the one form that all its spellings have: what tells two acts apart.

        A model of something that can be written in several ways says here which one counts.
        """
        return {
            name: _one_form(getattr(self, name)) for name in type(self).model_fields if name in self.model_fields_set
        }

    def value_of(self, name: str) -> Any:
        """One of the arguments by its name."""
        return getattr(self, name)


def _one_form(value: Any) -> Any:
    if isinstance(value, Arguments):
        return value.one_form()
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_unset=True)
    if isinstance(value, Mapping):
        return {name: _one_form(each) for name, each in value.items()}
    return [_one_form(each) for each in value] if isinstance(value, list | tuple) else value


class ToolResult(BaseModel):
    """Base of every result model: only its fields leave."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class EffectKind(StrEnum):
    """A tool reads or writes, never both."""

    READ = "read"
    WRITE = "write"


class Risk(StrEnum):
    """How bad a wrong call is."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Idempotency(StrEnum):
    """What the downstream offers against a repeat; decides recovery after an uncertain send."""

    READ = "read"
    """Nothing changes: repeat with backoff."""
    KEYED = "keyed"
    """The same key gives the same effect, within the key's lifetime."""
    FENCED = "fenced"
    """The downstream compares generations and refuses a smaller one."""
    LOOKUP_ONLY = "lookup_only"
    """No key, but the effect can be found: look first."""
    NONE = "none"
    """Neither: never sent a second time, a person decides."""


@dataclass(frozen=True)
class Recovery:
    """Times that recovery depends on, in seconds.

    `settle_seconds`: after the last send, how long a late commit is still possible. `key_lifetime_seconds`: how long
    the downstream remembers a key, counted from the first send. `give_up_seconds`: how long to look before a person
    is asked.
    """

    settle_seconds: float = 30.0
    key_lifetime_seconds: float | None = None
    give_up_seconds: float = 900.0


SWIFT_SECONDS = 10.0
"""What lasts no longer holds up a worker's other workflow tasks for no longer."""


@dataclass(frozen=True)
class Limits:
    """`attempt_seconds`: one call of the handler. `sends`: how often a refused-for-now write may be sent in all."""

    attempt_seconds: float = 10.0
    sends: int = 5


class Trust(StrEnum):
    """Where a tool's data come from."""

    OWN = "own"
    """Our own records."""
    EXTERNAL = "external"
    """Written by others: data, never instructions."""


@dataclass(frozen=True)
class Repetition:
    """When two acts are the same one.

    `arguments` names those that make an act what it is (all of them when empty: a quote's id, for one, does not).
    While such an act is open a second one is answered with the first; for `seconds` after it succeeded a second one
    needs a person's word.
    """

    arguments: tuple[str, ...] = ()
    seconds: float = 600.0


@dataclass(frozen=True)
class Batch:
    """One operation on many objects, each with an effect, a key and an outcome of its own.

    `items` names the argument that lists them, `item_id` the field of each that identifies it; no id comes twice.
    `at_once` is how many are sent side by side.
    """

    items: str
    item_id: str
    at_once: int = 8

    def ids(self, arguments: Arguments) -> tuple[str, ...]:
        """The ids of the items, in the order in which they were given."""
        return tuple(str(getattr(item, self.item_id)) for item in getattr(arguments, self.items))

    def by_id(self, arguments: Arguments) -> dict[str, Any]:
        """The items by their ids, in the order in which they were given."""
        return dict(zip(self.ids(arguments), getattr(arguments, self.items), strict=True))

    def only(self, arguments: Arguments, wanted: Container[str]) -> Arguments:
        """The arguments with no other items than those."""
        kept = [item for item in getattr(arguments, self.items) if str(getattr(item, self.item_id)) in wanted]
        return arguments.model_copy(update={self.items: kept})


@dataclass(frozen=True)
class ApprovalRule:
    """Which people may approve and for how long the question stands."""

    approver_role: str
    expires_seconds: float = 3 * 24 * 3600.0
    quorum: int = 1


@dataclass(frozen=True)
class HostedServer:
    """An MCP server that a provider calls by itself, and asks us first where it can. No credential stands here."""

    label: str
    url: str


@dataclass(frozen=True)
class Contract:
    """One tool as declared.

    `resource` names the kind of object that it acts on and the argument that identifies it, such as
    `("order", "order_id")`. Who is offered it stands in the authorization policy.

    `approval`: who may approve; without it nobody can, and what would need a person's word is refused. `rules`: the
    tool's own refusals by code. `presentation`: arguments that only talk about the act: no part of the intent,
    and handed to nobody. `fresh_seconds`: older data are told as stale. `largest_result`: bytes of JSON that a model
    is told at most. `batch`: the act is done item by item, for each of the objects that an argument lists.

    `tags`: what people call it, in every language that they ask in, for whoever searches. `deferred`: a model is told
    of it only when a search has found it. `examples`: whole calls that are valid. `hosted`: the provider carries it out
    on that server, and what is done here is to allow it; its name is then `label.tool`. `pinned`: the digest of the
    definition that people have reviewed, of a tool that an MCP server declares; its name is then `server.tool`, and the
    second half of `resource` is empty where no argument identifies its object.
    """

    name: str
    title: str
    description: str
    version: str
    effect: EffectKind
    idempotency: Idempotency
    risk: Risk
    resource: tuple[str, str]
    arguments: type[Arguments]
    result: type[ToolResult]
    approval: ApprovalRule | None = None
    reversible: bool = True
    recovery: Recovery = field(default_factory=Recovery)
    limits: Limits = field(default_factory=Limits)
    rules: Mapping[str, ErrorEntry] = field(default_factory=dict)
    repetition: Repetition = field(default_factory=Repetition)
    presentation: frozenset[str] = frozenset()
    trust: Trust = Trust.EXTERNAL
    fresh_seconds: float | None = None
    largest_result: int = 64 * 1024
    batch: Batch | None = None
    tags: frozenset[str] = frozenset()
    deferred: bool = False
    examples: tuple[Mapping[str, Any], ...] = ()
    hosted: HostedServer | None = None
    pinned: str = ""

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments, as models are shown it."""
        return self.arguments.model_json_schema()

    @cached_property
    def hash(self) -> str:
        """Fingerprint of what the model was offered and what a call of it means."""
        return digest(
            {
                "name": self.name,
                "version": self.version,
                "description": self.description,
                "effect": self.effect.value,
                "schema": _exact_schema(self.schema),
                **({"pinned": self.pinned} if self.pinned else {}),
            }
        )

    def resource_of(self, arguments: Arguments) -> str:
        """The canonical name of the object that these arguments point at, such as `order:O-17`."""
        kind, field_name = self.resource
        if self.hosted is not None or not field_name:
            return f"{kind}:{self.name}"
        if self.batch is not None:
            # Which objects, in whatever order; a name of thousands of ids would be none.
            return f"{kind}:{digest(sorted(self.batch.ids(arguments)))[:16]}"
        return f"{kind}:{arguments.value_of(field_name)}"

    def meant(self, arguments: Arguments) -> dict[str, Any]:
        """The arguments that are part of the intent. What was left out stays out: omitted and null are two meanings."""
        return arguments.model_dump(exclude_unset=True, exclude=set(self.presentation))

    def act(self, arguments: Arguments) -> dict[str, Any]:
        """The arguments that make this act the same as another one, however they are written."""
        meant = {name: value for name, value in arguments.one_form().items() if name not in self.presentation}
        if self.batch is not None:
            # The same objects in another order are the same act.
            meant[self.batch.items] = sorted(meant[self.batch.items], key=itemgetter(self.batch.item_id))
        return {name: meant[name] for name in self.repetition.arguments if name in meant} or meant

    @property
    def writes(self) -> bool:
        """Whether a call can change anything."""
        return self.effect is EffectKind.WRITE

    @property
    def swift(self) -> bool:
        """Whether its effect may be made within the workflow task: it is one, soon over, and a repeat can be told."""
        tells_a_repeat = self.idempotency is not Idempotency.NONE
        return self.batch is None and tells_a_repeat and self.limits.attempt_seconds <= SWIFT_SECONDS


def _exact_schema(schema: Any) -> Any:
    # JSON Schema has keys such as "$ref", which the canonical form keeps for its own tags.
    if isinstance(schema, dict):
        return {f"/{key}": _exact_schema(value) for key, value in schema.items()}
    if isinstance(schema, list):
        return [_exact_schema(value) for value in schema]
    return repr(schema) if isinstance(schema, float) else schema
