"""The socket of a door."""

import socket
from types import SimpleNamespace
from typing import Any

from worker.api import listening


def test_no_answer_waits_until_its_first_half_was_acknowledged() -> None:
    settings: Any = SimpleNamespace(api_host="127.0.0.1", api_port=0)
    with listening(settings) as door, socket.create_connection(door.getsockname()):
        caller, _ = door.accept()
        with caller:
            assert caller.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
