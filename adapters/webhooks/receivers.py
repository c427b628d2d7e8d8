"""Who is told, and the keys that prove that we tell it: both are the operator's configuration and nobody else's."""

import base64
import binascii
import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import SplitResult, urlsplit

from adapters.addresses import is_of_this_machine

NAMED: Final = re.compile(r"(?:(?P<name>[a-z0-9][a-z0-9-]{0,31})=)?(?P<url>https?://[^\s,]+)")

KEY_PREFIX: Final = "whsec_"

KEY_BYTES: Final = range(24, 65)
"""How long a key may be, as the standard has it."""

MOST_KEYS: Final = 2
"""The new one and the old one, while receivers change over."""


@dataclass(frozen=True)
class Receiver:
    """One address under a name that notices are kept for: the address may change, what waits goes to the new one.

    The address is never shown, because its path may hold a secret.
    """

    name: str
    url: str = field(repr=False)


def receivers_from(value: str) -> tuple[Receiver, ...]:
    """Receivers of `https://…` or `name=https://…`, separated by commas; without a name it goes by its host.

    Raises:
        ValueError: an address is none, says more than an address does, is unprotected, or two go by one name.
    """
    receivers = tuple(_receiver(part.strip()) for part in value.split(",") if part.strip())
    if len({receiver.name for receiver in receivers}) < len(receivers):
        raise ValueError("two receivers of one name")
    return receivers


def _receiver(value: str) -> Receiver:
    found = NAMED.fullmatch(value)
    if found is None:
        raise ValueError("no address")
    parts = urlsplit(found["url"])
    if not parts.hostname or parts.fragment or parts.username is not None or not _has_a_port(parts):
        raise ValueError("no plain address")
    if parts.scheme != "https" and not is_of_this_machine(found["url"]):
        raise ValueError("an unprotected address")
    return Receiver(found["name"] or parts.hostname, found["url"])


def _has_a_port(parts: SplitResult) -> bool:
    """Whether the port, given or not, is one; raises `ValueError` when it is not."""
    return parts.port != 0


def keys_from(value: str) -> tuple[str, ...]:
    """One key or two, each `whsec_` and base64, separated by a comma; the first is the newer one.

    Raises:
        ValueError: there is none or more than two, or one is no such key.
    """
    keys = tuple(part.strip() for part in value.split(",") if part.strip())
    if not 1 <= len(keys) <= MOST_KEYS or not all(map(_is_key, keys)):
        raise ValueError("no keys")
    return keys


def _is_key(value: str) -> bool:
    if not value.startswith(KEY_PREFIX):
        return False
    try:
        return len(base64.b64decode(value.removeprefix(KEY_PREFIX), validate=True)) in KEY_BYTES
    except binascii.Error:
        return False
