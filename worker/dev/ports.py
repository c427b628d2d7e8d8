"""Which port each server listens on: asked for, the one from last time, or a found one."""

import secrets
import socket
from collections.abc import Callable, Collection, Mapping

from worker.dev.errors import LAST_PORT, NoSuchPort, PortForbidden, PortTaken, Unusable

HOST = "127.0.0.1"

NAMES = ("postgres", "temporal", "console", "temporal_http", "temporal_metrics", "provider", "issuer", "api")

# The option that asks for a port, to name it in the refusal.
OPTIONS = {"api": "--port", "console": "--console-port"}

# Below the range from which Linux takes source ports of outgoing connections (32768 and up): a server that is
# restarted would otherwise now and then find its port in use by some client.
RANGE = range(20_000, 32_000)


def is_free(port: int) -> bool:
    """Whether a server could listen there now. As for a server, a connection in TIME_WAIT does not count."""
    try:
        _bind(port)
    except OSError:
        return False
    return True


def is_permitted(port: int) -> bool:
    """Whether the system lets this user have the port at all."""
    try:
        _bind(port)
    except OSError as refusal:
        return not isinstance(refusal, PermissionError)
    return True


def _bind(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((HOST, port))


def find(taken: Collection[int], free: Callable[[int], bool] = is_free) -> int:
    """A free port, at random so that two stacks that start together do not meet."""
    for port in secrets.SystemRandom().sample(RANGE, len(RANGE)):
        if port not in taken and free(port):
            return port
    raise PortTaken(RANGE.start, "--port")


def settle(
    remembered: Mapping[str, int],
    asked: Mapping[str, int],
    free: Callable[[int], bool] = is_free,
    permitted: Callable[[int], bool] = is_permitted,
) -> dict[str, int]:
    """A port for every name. Raises an ``Unusable`` when one that was asked for cannot be had."""
    settled: dict[str, int] = {}
    for name, port in asked.items():
        refusal = _refusal(port, settled, free, permitted)
        if refusal is not None:
            raise refusal(port, OPTIONS.get(name, name))
        settled[name] = port
    for name in NAMES:
        if name not in settled:
            settled[name] = _from_last_time(remembered.get(name), settled, free) or find(settled.values(), free)
    return settled


def _refusal(
    port: int, settled: Mapping[str, int], free: Callable[[int], bool], permitted: Callable[[int], bool]
) -> Callable[[int, str], Unusable] | None:
    if not 0 < port <= LAST_PORT:
        return NoSuchPort
    if not permitted(port):
        return PortForbidden
    return PortTaken if port in settled.values() or not free(port) else None


def _from_last_time(port: int | None, settled: Mapping[str, int], free: Callable[[int], bool]) -> int | None:
    return port if port and port not in settled.values() and free(port) else None
