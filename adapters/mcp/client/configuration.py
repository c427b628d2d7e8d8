"""What a deployment says of its MCP servers, in one TOML file. No secret stands there, only names of variables."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from workflows.domain.contract import EffectKind, Idempotency, Risk
from workflows.domain.errors import InvalidConfiguration

Name = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,40}$")]
Role = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,100}$")]
Variable = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,99}$")]
Seconds = Annotated[float, Field(gt=0, le=10**7)]

PRIVATE = re.compile(r"https://|http://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(/|$)")
"""Where a token may be sent to."""

OURS = "ONCEWARD_"
"""How our own variables begin; none of them is handed to a server."""


class Closed(BaseModel):
    """A table of the file: a key that is not known is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Lookup(Closed):
    """How an effect is found again: a tool of the same server that only reads.

    `by` is its argument that gets the reference which the write carried. `found` names a field of its structured result
    that says whether there is one; without it the receipt's field does, by being there and not null.
    """

    tool: str
    by: str
    found: str = ""


class ToolEntry(Closed):
    """What we say of one tool. The defaults are those of a tool of which nothing is known.

    `reference` and `key` name arguments that get our operation's id and our idempotency key; models see neither.
    `object` names the argument that identifies what is acted on. `receipt` names the field of the structured result
    that is the server's own reference. `same` names fields of the result that must equal the arguments of that name.
    `proof` is what makes a write a success: a structured result, the look-up, or any text that claims no error.
    `errors`: "definite" where `isError` proves that nothing happened. `retry`: words in the text of an error after
    which the same call may be made again later.
    """

    effect: EffectKind = EffectKind.WRITE
    risk: Risk = Risk.HIGH
    approval: bool = True
    idempotency: Idempotency | None = None
    reference: str = ""
    key: str = ""
    key_lifetime_seconds: Seconds | None = None
    lookup: Lookup | None = None
    object: str = ""
    receipt: str = ""
    same: tuple[str, ...] = ()
    proof: Literal["structured", "lookup", "text"] = "structured"
    errors: Literal["unknown", "definite"] = "unknown"
    retry: tuple[Annotated[str, Field(min_length=3)], ...] = ()
    roles: tuple[Role, ...] | None = None
    approver: Role | None = None
    settle_seconds: Seconds = 30.0
    give_up_seconds: Seconds | None = None
    tags: frozenset[str] = frozenset()
    deferred: bool = False
    free_form: bool = False

    @property
    def reads(self) -> bool:
        """Whether we say of it that it changes nothing."""
        return self.effect is EffectKind.READ

    @property
    def kind(self) -> Idempotency:
        """The class of idempotency; none, where nothing is said."""
        return self.idempotency or (Idempotency.READ if self.reads else Idempotency.NONE)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        found = next((expected for broken, expected in _contradictions(self) if broken), None)
        if found is not None:
            raise ValueError(found)
        return self


def _contradictions(tool: ToolEntry) -> Iterable[tuple[bool, str]]:
    kind = tool.kind
    yield (kind is Idempotency.READ) is not tool.reads, 'idempotency = "read" exactly where effect = "read"'
    yield kind is Idempotency.FENCED, "an idempotency other than fenced, which no MCP server can promise"
    yield (kind is Idempotency.KEYED) is not bool(tool.key), 'key exactly where idempotency = "keyed"'
    yield kind is Idempotency.KEYED and tool.key_lifetime_seconds is None, "key_lifetime_seconds beside key"
    yield kind is Idempotency.LOOKUP_ONLY and tool.lookup is None, 'lookup where idempotency = "lookup_only"'
    yield (
        tool.lookup is not None and kind not in (Idempotency.LOOKUP_ONLY, Idempotency.KEYED),
        'idempotency = "lookup_only" or "keyed" beside lookup',
    )
    yield tool.lookup is not None and not tool.reference, "reference beside lookup: what the effect is found by"
    yield bool(tool.key) and tool.key == tool.reference, "key and reference of different names"
    yield tool.lookup is not None and not (tool.receipt or tool.lookup.found), "receipt or found beside lookup"
    yield tool.proof == "lookup" and tool.lookup is None, 'lookup where proof = "lookup"'
    yield (
        bool(tool.retry) and not tool.reads and tool.errors == "unknown",
        'errors = "definite" where a write has retry',
    )
    yield not tool.approval and tool.risk is Risk.HIGH and not tool.reads, "risk low or medium where approval = false"


class ServerEntry(Closed):
    """One server: a `command` that is started here, or a `url` that is called.

    `environment` names the variables that this server alone receives, beside PATH; `authorization` the one that holds
    the bearer token of a `url`. `deadline_seconds` is for one call with all that belongs to it. `roles` are offered its
    tools, `approver` is the role that approves them. `tenants`: whose principals may use them, everybody's when empty.
    `only`: the tools that are taken, all when empty.
    """

    command: tuple[str, ...] = ()
    url: str = Field("", pattern=r"^(https?://[^\s@]+)?$")
    environment: tuple[Variable, ...] = ()
    authorization: Variable | None = None
    deadline_seconds: float = Field(10.0, ge=1, le=25)
    roles: tuple[Role, ...] = ()
    approver: Role | None = None
    tenants: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()
    tools: Mapping[str, ToolEntry] = Field(default_factory=dict)

    @field_validator("environment", "authorization")
    @classmethod
    def _none_of_ours(cls, names: Any) -> Any:
        if any(name.startswith(OURS) for name in ([names] if isinstance(names, str) else names or ())):
            raise ValueError(f"names that do not begin with {OURS}")
        return names

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.command) is bool(self.url):
            raise ValueError("either command or url")
        if self.command and self.authorization:
            raise ValueError("authorization beside url only; name the variable in environment")
        if self.url and self.environment:
            raise ValueError("environment beside command only")
        if self.authorization and not PRIVATE.match(self.url):
            raise ValueError("https, or an address of this machine, for a url with authorization")
        return self

    @property
    def variables(self) -> tuple[str, ...]:
        """Every variable whose value it needs."""
        return (*self.environment, *([self.authorization] if self.authorization else []))

    def of(self, tool: str) -> ToolEntry:
        """What is said of this tool; the defaults where nothing is."""
        return self.tools.get(tool, ToolEntry())


class Servers(Closed):
    """The whole file."""

    servers: Mapping[Name, ServerEntry]


def read_servers(path: Path) -> Servers:
    """Read the file.

    Raises:
        InvalidConfiguration: says where in the file and what was expected, never a value.
    """
    try:
        return Servers.model_validate(tomllib.loads(path.read_text("utf-8")))
    except OSError:
        raise InvalidConfiguration(f"ONCEWARD_MCP_SERVERS names {path}, which cannot be read.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise InvalidConfiguration(f"ONCEWARD_MCP_SERVERS names {path}, which is no TOML.") from None
    except ValidationError as error:
        faults = "; ".join(dict.fromkeys(map(_fault, error.errors(include_url=False, include_input=False))))
        raise InvalidConfiguration(f"ONCEWARD_MCP_SERVERS names {path}, which is unfit: {faults}.") from None


LIMITS = {
    "expected": "{}",
    "pattern": "text that matches {}",
    "ge": "at least {}",
    "le": "at most {}",
    "gt": "more than {}",
}
"""Our words for the library's limits."""


def _fault(fault: Any) -> str:
    place = ".".join(str(step) for step in fault["loc"] if step != "[key]")
    return f"{place} (expected {_expected(fault)})"


def _expected(fault: Any) -> str:
    if fault["type"] == "value_error":
        return str(fault["ctx"]["error"])
    if fault["type"] == "extra_forbidden":
        return "no such key"
    limits = fault.get("ctx", {})
    told = (words.format(limits[name]) for name, words in LIMITS.items() if name in limits)
    return next(told, "a value of another type")
