"""Addresses that a process is told in its settings."""

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_of_this_machine(address: str) -> bool:
    """Whether an http(s) address leads nowhere but to the machine that asks."""
    host = urlsplit(address).hostname or ""
    return host == "localhost" or host.endswith(".localhost") or _is_loopback(host)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
