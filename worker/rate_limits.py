"""How often somebody may come to a door, as the environment says."""

from ipaddress import ip_network
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_settings import BaseSettings, NoDecode

from adapters.http.limits import Limiter, Limits
from worker.variables import NAMED_BY_PREFIX, words


def _networks(named: tuple[str, ...]) -> tuple[str, ...]:
    for each in named:
        ip_network(each)
    return named


Networks = Annotated[tuple[str, ...], NoDecode, BeforeValidator(words), AfterValidator(_networks)]


class RateLimitSettings(BaseSettings):
    """The limits of one process; several doors allow as many times as much."""

    model_config = NAMED_BY_PREFIX

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
