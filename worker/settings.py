"""The settings of each process, read from the environment and nowhere else.

Each process reads only what it needs, so that none has to hold another's secret.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import BaseSettings, NoDecode

from adapters.addresses import plain
from adapters.postgres_dsn import PostgresDsn
from worker.identity_settings import IdentitySettings
from worker.rate_limits import RateLimitSettings
from worker.variables import NAMED_BY_PREFIX, PREFIX, words
from worker.webhook_settings import WebhookSettings
from workflows.domain.errors import InvalidConfiguration

Port = Annotated[int, Field(ge=0, le=65535)]


def _from_json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _in_a_folder(path: Path) -> Path:
    if not path.parent.is_dir():
        raise ValueError("no such folder")
    return path


NewFile = Annotated[Path, AfterValidator(_in_a_folder)]

Limits = Annotated[dict[str, int], NoDecode, BeforeValidator(_from_json)]


def _limits(meaning: str) -> Any:
    return Field(default_factory=dict, description=f'JSON: minor units per currency {meaning}, such as {{"KRW": 1000}}')


class Settings(BaseSettings):
    """What every process needs."""

    model_config = NAMED_BY_PREFIX

    postgres_dsn: PostgresDsn = Field(
        description="postgresql://user:password@host:port/database of this process's role"
    )
    ready_file: NewFile | None = Field(
        None, description="a file to create once this process serves, in a folder that exists"
    )
    log_format: str = Field("console", pattern="^(console|json)$", description="console or json")


class TemporalSettings(Settings):
    """For processes that talk to Temporal."""

    temporal_address: str = Field(description="host:port of the Temporal frontend")
    temporal_namespace: str = Field("onceward", description="a namespace")
    temporal_task_queue: str = Field("onceward", description="a task queue")


Modules = Annotated[tuple[str, ...], NoDecode, BeforeValidator(words)]


class ToolNames(BaseSettings):
    """For whoever knows the tools."""

    model_config = NAMED_BY_PREFIX

    tools: Modules = Field(
        ("adapters.tools.payments",), min_length=1, description="modules that declare tools, separated by commas"
    )
    policy_file: Path | None = Field(None, description="a Cedar policy file; the shipped one when not given")


class ToolSettings(ToolNames, TemporalSettings):
    """For processes that talk to Temporal and know the tools."""

    connections: int = Field(
        10, ge=1, le=500, description="how many connections to the database this process opens at most"
    )
    parallel: bool = Field(
        True, description="false: no two calls of a turn and no two items of a batch run side by side"
    )


class WorkerSettings(ToolSettings):
    """For the Temporal worker: it alone reads the settings of the tools' families, credentials among them."""

    policy_version: str = Field("2026-11", description="the name of the risk policy in force")
    policy_unasked_up_to: Limits = _limits("that one act may move unasked")
    policy_daily_unasked_up_to: Limits = _limits("that one user may move unasked within 24 hours")
    policy_tenant_daily_unasked_up_to: Limits = _limits("that one tenant may move unasked within 24 hours")
    policy_two_approvers_above: Limits = _limits("above which two people must approve")
    policy_unasked_count: int = Field(1, ge=0, description="how many objects one act may change unasked")
    policy_ask_after_outside_words: bool = Field(
        False, description="true: a person is asked about every write of a conversation that has read what others wrote"
    )
    worker_deployment: str = Field(
        "", pattern="^[A-Za-z0-9-]*$", description="the Temporal worker deployment's name; without it no versioning"
    )
    worker_build: str = Field(
        "",
        pattern="^[A-Za-z0-9.-]*$",
        validate_default=True,
        description="this release's build id, exactly when WORKER_DEPLOYMENT is given too",
    )

    @field_validator("worker_build")
    @classmethod
    def _with_the_deployment(cls, build: str, read: ValidationInfo) -> str:
        # An unfit name has been refused already.
        if bool(build) is not bool(read.data.get("worker_deployment", build)):
            raise ValueError("one without the other")
        return build


def _none_when_empty(value: Any) -> Any:
    return value or None


MetricsToken = Annotated[
    Annotated[SecretStr, Field(min_length=16)] | None,
    BeforeValidator(_none_when_empty),
]


class ApiSettings(ToolSettings, IdentitySettings, RateLimitSettings):
    """For the doors and the back office."""

    api_host: str = Field("127.0.0.1", description="the address to listen on")
    api_port: Port = Field(8080, description="the port to listen on")
    console_url: str = Field("", description="the Temporal console's base URL, http:// or https://, for links")
    strict_tools: bool = Field(
        True, description="false: no provider is asked to hold a model to a tool's schema; it is held to it here anyway"
    )
    calls_per_conversation: int = Field(
        200, ge=1, description="how many calls one conversation may make, where the caller names it"
    )
    same_answers: int = Field(
        4, ge=2, description="how often in a row the same call may give the same answer in a conversation with a name"
    )
    metrics_token: MetricsToken = Field(
        None, description="at least 16 characters that a scraper sends as bearer token; without it there is no /metrics"
    )

    @field_validator("console_url")
    @classmethod
    def _that_can_be_linked(cls, address: str) -> str:
        if address:
            plain(address)
        return address


class RelaySettings(WebhookSettings, TemporalSettings):
    """For the relay, which also tells others what has happened."""

    drains: int = Field(
        4,
        ge=1,
        le=32,
        description="how many drains of the outbox work side by side, each on a connection to the database of its own",
    )


class MigrateSettings(Settings):
    """For the migrations, run by the owner of the tables."""


Some = TypeVar("Some", bound=BaseSettings)
OfTools = TypeVar("OfTools", bound=BaseModel)


def read(kind: type[Some]) -> Some:
    """Read a process's settings.

    Raises:
        InvalidConfiguration: names each setting at fault and what was expected, never its value.
    """
    try:
        return kind()
    except ValidationError as error:
        raise InvalidConfiguration(_sentence(kind, error, PREFIX)) from None


def family_prefix(name: str) -> str:
    """How the settings of a family of tools begin."""
    return f"{PREFIX}{name.upper()}_"


def read_for_tools(name: str, kind: type[OfTools]) -> OfTools:
    """Read the settings of a family of tools from `ONCEWARD_<NAME>_…`; raises as `read` does."""
    prefix = family_prefix(name)
    given = {key.removeprefix(prefix).lower(): value for key, value in os.environ.items() if key.startswith(prefix)}
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise InvalidConfiguration(_sentence(kind, error, prefix)) from None


def read_named(names: Iterable[str]) -> dict[str, str]:
    """Read variables that a family's own configuration names; raises as `read` does."""
    values = {name: os.environ.get(name, "") for name in names}
    missing = [name for name, value in values.items() if not value]
    if missing:
        raise InvalidConfiguration(f"These variables are named in a configuration and not set: {', '.join(missing)}.")
    return values


def _sentence(kind: type[BaseModel], error: ValidationError, prefix: str) -> str:
    found = error.errors(include_url=False, include_input=False)
    faults = list(dict.fromkeys(_fault(kind, fault, prefix) for fault in found))
    if len(faults) == 1:
        return f"This setting is missing or unfit: {faults[0]}."
    return "\n  ".join(["These settings are missing or unfit:", *faults])


def _fault(kind: type[BaseModel], fault: Any, prefix: str) -> str:
    name = str(fault["loc"][0]).lower()
    field = kind.model_fields.get(name)
    expected = field.description if field is not None and field.description else "a fitting value"
    return f"{prefix}{name.upper()} (expected {expected})"
