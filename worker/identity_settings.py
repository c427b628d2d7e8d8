"""Whom the doors believe: the issuer, what its tokens are for, and how long a sign-in lasts."""

from typing import Final

from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings

from adapters.addresses import is_of_this_machine, origin_of, plain
from worker.variables import NAMED_BY_PREFIX

A_WORD: Final = r"^\S+$"
"""A line's end that a file of secrets has brought along would make every token one for somebody else."""


class IdentitySettings(BaseSettings):
    """For the doors and the back office. What is for one of them is worth nothing at the other."""

    model_config = NAMED_BY_PREFIX

    development: bool = Field(
        False, description="true: the issuer may be on this machine, as the development issuer is. Never in production"
    )
    public_url: str = Field(
        description="how browsers reach us: https://host, without a path, or http on this machine only"
    )
    issuer: str = Field(description="the OIDC issuer's address: https, and on this machine only if DEVELOPMENT is true")
    audience: str = Field("onceward", pattern=A_WORD, description="the audience that tokens must name, without spaces")
    back_office_client_id: str = Field(
        "onceward-back-office",
        pattern=A_WORD,
        validate_default=True,
        description="our client id at the issuer, without spaces, another word than AUDIENCE",
    )
    back_office_audience: str = Field(
        "onceward-back-office-api",
        pattern=A_WORD,
        validate_default=True,
        description="the audience of people's tokens for the back office's API; not AUDIENCE or BACK_OFFICE_CLIENT_ID",
    )
    session_secret: SecretStr = Field(
        min_length=32, description="at least 32 characters; protects sign-ins under way and forms"
    )
    session_idle_minutes: int = Field(
        45, ge=5, le=60, description="how long nobody may use a session before it ends, 5 to 60 minutes"
    )
    sessions_per_person: int = Field(
        10, ge=1, le=1000, description="how many sessions one person may have at once, up to 1000; the oldest ends"
    )

    @field_validator("public_url")
    @classmethod
    def _out_of_reach_of_listeners(cls, address: str) -> str:
        # The session cookie travels to it. Whatever else stood in it would be left out, and people led elsewhere.
        address = origin_of(address)
        if not address.startswith("https://") and not is_of_this_machine(address):
            raise ValueError("in the clear")
        return address

    @field_validator("issuer")
    @classmethod
    def _worth_believing(cls, address: str, read: ValidationInfo) -> str:
        # Whoever answers in its place can be anybody; at the development issuer anybody can be anybody.
        plain(address)
        development = bool(read.data.get("development")) and is_of_this_machine(read.data.get("public_url", address))
        fits = development if is_of_this_machine(address) else address.startswith("https://")
        if not fits:
            raise ValueError("not to be trusted")
        return address

    @field_validator("back_office_client_id")
    @classmethod
    def _another_word(cls, client: str, read: ValidationInfo) -> str:
        # Else an agents' token would be as good as the proof of a sign-in, and the other way round.
        if client == read.data.get("audience"):
            raise ValueError("the same")
        return client

    @field_validator("back_office_audience")
    @classmethod
    def _one_of_its_own(cls, audience: str, read: ValidationInfo) -> str:
        # Otherwise what an agent holds, or what only says that somebody signed in, would open the routes that decide.
        if audience in (read.data.get("audience"), read.data.get("back_office_client_id")):
            raise ValueError("another door's")
        return audience
