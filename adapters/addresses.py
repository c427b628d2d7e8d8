"""Addresses that a process is told in its settings."""

import re
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

PLAIN: Final = re.compile(
    r"(?P<scheme>https?)://(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?(?P<path>/[^\s?#]*)?",
    re.ASCII | re.IGNORECASE,
)
"""An address that leads to a host and says nothing else: nobody's name, no query, nothing that cannot be seen."""

USUAL_PORTS: Final = {"http": 80, "https": 443}


def plain(address: str) -> re.Match[str]:
    """The parts of an http(s) address; raises `ValueError` when it is none, or says more than an address does."""
    found = PLAIN.fullmatch(address)
    if found is None or not 0 < int(found["port"] or 1) < 65536:
        raise ValueError("no plain address")
    if found["host"].startswith("["):
        ip_address(found["host"][1:-1])
    return found


def origin_of(address: str) -> str:
    """Scheme, host and port as browsers write them; raises `ValueError` when the address has more, such as a path."""
    found = plain(address)
    if found["path"] not in (None, "/"):
        raise ValueError("a path")
    scheme, port = found["scheme"].lower(), int(found["port"] or 0)
    return f"{scheme}://{found['host'].lower()}" + (f":{port}" if port not in (0, USUAL_PORTS[scheme]) else "")


def is_of_this_machine(address: str) -> bool:
    """Whether an http(s) address leads nowhere but to the machine that asks."""
    host = urlsplit(address).hostname or ""
    return host == "localhost" or host.endswith(".localhost") or _is_loopback(host)


def _is_loopback(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback
