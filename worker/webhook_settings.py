"""The settings of telling others: to whom, of what, and signed with which keys."""

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode

from adapters.addresses import origin_of
from adapters.webhooks.receivers import Receiver, keys_from, receivers_from
from worker.variables import words
from workflows.domain.notice import NoticeType


def _receivers(value: Any) -> Any:
    return receivers_from(value) if isinstance(value, str) else value


def _of_keys(secret: SecretStr) -> SecretStr:
    keys_from(secret.get_secret_value())
    return secret


Receivers = Annotated[tuple[Receiver, ...], NoDecode, BeforeValidator(_receivers)]

Keys = Annotated[Annotated[SecretStr, AfterValidator(_of_keys)] | None, BeforeValidator(lambda value: value or None)]

NoticeTypes = Annotated[tuple[NoticeType, ...], NoDecode, BeforeValidator(words)]


class WebhookSettings(BaseSettings):
    """For whoever tells others. Without receivers nobody is told, and the rest is not needed."""

    webhook_urls: Receivers = Field(
        (),
        description="who is told: https://host/path or name=https://host/path, separated by commas, each under a name "
        "of its own, the host's unless given; http on this machine only",
    )
    webhook_secret: Keys = Field(
        None,
        validate_default=True,
        description="when somebody is told: one key, or the new and the old one separated by a comma, each whsec_ and "
        "the base64 of 24 to 64 bytes",
    )
    webhook_events: NoticeTypes = Field(
        tuple(NoticeType), min_length=1, description="what is told, separated by commas, among those of the default"
    )
    webhook_timeout_seconds: float = Field(
        10.0, gt=0, le=60, description="how long a receiver may take to answer, up to 60"
    )
    public_url: str = Field(
        "",
        validate_default=True,
        description="when somebody is told: how browsers reach us, http:// or https://, without a path",
    )

    @field_validator("webhook_secret", "public_url")
    @classmethod
    def _when_somebody_is_told(cls, given: Any, read: ValidationInfo) -> Any:
        if read.data.get("webhook_urls") and not given:
            raise ValueError("needed when somebody is told")
        return given

    @field_validator("public_url")
    @classmethod
    def _as_the_doors_have_it(cls, address: str) -> str:
        return origin_of(address) if address else address

    @property
    def webhook_keys(self) -> tuple[str, ...]:
        """Those that sign, the newest first; none when nobody is told."""
        return keys_from(self.webhook_secret.get_secret_value()) if self.webhook_secret else ()
