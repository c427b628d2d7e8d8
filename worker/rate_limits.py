"""How often somebody may come to a door, as the environment says."""

from ipaddress import ip_network
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from adapters.http.limits import Limiter, Limits


def _words(value: Any) -> Any:
    return tuple(word.strip() for word in value.split(",") if word.strip()) if isinstance(value, str) else value


def _networks(words: tuple[str, ...]) -> tuple[str, ...]:
    for word in words:
        ip_network(word)
    return words


Networks = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_words), AfterValidator(_networks)]


class RateLimitSettings(BaseSettings):
    """The limits of one process; several doors allow as many times as much."""

    model_config = SettingsConfigDict(env_prefix="ONCEWARD_", extra="ignore", frozen=True)

    sign_ins_per_minute: int = Field(60, ge=1, description="steps of signing in of one address, two for each sign-in")
    words_per_minute: int = Field(60, ge=1, description="decisions, resolutions and other forms of one person")
    pages_per_minute: int = Field(300, ge=1, description="pages of one session")
    failed_tokens_per_minute: int = Field(
        120, ge=1, description="bearer tokens of one address that fail; good ones always pass"
    )
    trusted_proxies: Networks = Field(
        (),
        description="addresses or networks, separated by commas, whose X-Forwarded-For is believed; otherwise nobody's",
    )

    def limits(self) -> Limits:
        """Those that people meet."""
        return Limits(Limiter(self.sign_ins_per_minute), Limiter(self.words_per_minute), Limiter(self.pages_per_minute))
