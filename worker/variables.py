"""How the environment's variables are named, and how lists are written in them."""

from typing import Any

from pydantic_settings import SettingsConfigDict

PREFIX = "ONCEWARD_"

NAMED_BY_PREFIX = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", frozen=True)
"""What every class of settings is configured with."""


def words(value: Any) -> Any:
    """The words of a variable, separated by commas; what is no text is left for the field to judge."""
    return tuple(word.strip() for word in value.split(",") if word.strip()) if isinstance(value, str) else value
