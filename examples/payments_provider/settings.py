"""The only reader of the environment. Every setting is named PAYMENTS_PROVIDER_ and the field's name in capitals."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

PREFIX = "PAYMENTS_PROVIDER_"

DEFAULT_PORT = 8090
WEEK_SECONDS = 7 * 24 * 3600
"""How long a quote stands: long enough for a person to approve it after the weekend."""
DAY_SECONDS = 24 * 3600
"""How long an idempotency key is remembered: what payment services commonly promise."""


def _not_empty(secret: SecretStr) -> SecretStr:
    if not secret.get_secret_value():
        raise ValueError("must not be empty")
    return secret


Secret = Annotated[SecretStr, AfterValidator(_not_empty)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class InvalidSetting(Exception):
    """The environment does not describe a provider that can start."""


class Settings(BaseSettings):
    """Where the provider listens, where it keeps its books, and whom it trusts."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="ignore")

    dsn: str
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535)] = DEFAULT_PORT
    api_key: Secret
    admin_key: Secret
    quote_seconds: Seconds = WEEK_SECONDS
    key_lifetime_seconds: Seconds = DAY_SECONDS
    completion_seconds: Seconds = 0
    quote_single_use: bool = True

    @field_validator("dsn")
    @classmethod
    def _names_a_database(cls, dsn: str) -> str:
        try:
            url = make_url(dsn)
        except (ArgumentError, ValueError):
            raise ValueError("should look like postgresql://user:password@host:port/payments") from None
        if url.get_backend_name() != "postgresql" or not url.database:
            raise ValueError("should look like postgresql://user:password@host:port/payments")
        return dsn

    @property
    def database_url(self) -> URL:
        """The DSN with the driver that this service uses."""
        return make_url(self.dsn).set(drivername="postgresql+psycopg")

    @classmethod
    def from_environment(cls) -> Self:
        """The settings, or InvalidSetting with one sentence that names the first wrong one."""
        try:
            return cls()
        except ValidationError as invalid:
            raise InvalidSetting(_sentence(invalid)) from None


def _sentence(invalid: ValidationError) -> str:
    """Names the setting and the complaint, never the value: it may be a secret."""
    first = invalid.errors(include_input=False, include_url=False)[0]
    setting = PREFIX + str(first["loc"][0]).upper()
    if first["type"] == "missing":
        return f"{setting} is not set."
    complaint = first["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{setting} {complaint}."
