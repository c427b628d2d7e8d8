"""How often somebody may come to a door, as the environment says."""

from ipaddress import ip_network
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_settings import BaseSettings, NoDecode

from adapters.http.limits import Limiter, Limits
from worker.variables import NAMED_BY_PREFIX, words

MOST = 1_000_000
"""A minute; a limit above that is none."""


def _networks(named: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(form for each in named for form in _forms(each))


def _forms(named: str) -> tuple[str, ...]:
    """A network as our proxies may write it: one that listens for both kinds writes IPv4 addresses inside of IPv6."""
    network = ip_network(named)
    if network.prefixlen == 0:
        # Then everybody could say who is behind them, and be somebody else with each request.
        raise ValueError("everybody")
    mapped = (f"::ffff:{network.network_address}/{96 + network.prefixlen}",) if network.version == 4 else ()
    return (named, *mapped)


Networks = Annotated[tuple[str, ...], NoDecode, BeforeValidator(words), AfterValidator(_networks)]


class RateLimitSettings(BaseSettings):
    """The limits of one process; several doors allow as many times as much."""

    model_config = NAMED_BY_PREFIX

    sign_ins_per_minute: int = Field(
        60, ge=1, le=MOST, description="steps of signing in of one address, two for each sign-in"
    )
    words_per_minute: int = Field(60, ge=1, le=MOST, description="decisions, resolutions and other forms of one person")
    pages_per_minute: int = Field(300, ge=1, le=MOST, description="pages of one session")
    failed_tokens_per_minute: int = Field(
        120, ge=1, le=MOST, description="bearer tokens of one address that fail; good ones always pass"
    )
    turns_at_once: int = Field(
        16,
        ge=1,
        le=MOST,
        description="turns that a door has at once whose work has not begun; of more, the tenant with the fewest comes "
        "next, and who waits over two seconds is told 503",
    )
    trusted_proxies: Networks = Field(
        (),
        description="addresses or networks, separated by commas, whose X-Forwarded-For is believed, never everybody's; "
        "otherwise nobody's",
    )

    def limits(self) -> Limits:
        """Those that people meet."""
        return Limits(Limiter(self.sign_ins_per_minute), Limiter(self.words_per_minute), Limiter(self.pages_per_minute))
