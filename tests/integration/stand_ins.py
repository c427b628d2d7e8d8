"""Small programs in the places of the project's own processes, so that the embedded stack is tested by itself.

``python -m tests.integration.stand_ins dev --state …`` is ``python -m worker.dev`` with them.
"""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from worker.dev.__main__ import main
from worker.dev.child import Child
from worker.dev.children import TABLE
from worker.dev.layout import Layout

REAL = ("postgres", "temporal")


class Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/healthz" else 404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - the name is theirs


def serve(port: int) -> None:
    ThreadingHTTPServer(("127.0.0.1", port), Healthy).serve_forever()


def stay() -> None:
    Path(os.environ["ONCEWARD_READY_FILE"]).touch()
    signal.pause()


def stubborn() -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    stay()


def fail() -> None:
    print("the reason stands here")
    raise SystemExit(3)


def program(*words: str) -> Callable[[Layout], Sequence[str]]:
    return lambda _: [sys.executable, "-m", "tests.integration.stand_ins", *words]


def server(port: str) -> Callable[[Layout], Sequence[str]]:
    return lambda layout: [sys.executable, "-m", "tests.integration.stand_ins", "serve", str(layout.ports[port])]


def stand_in(child: Child) -> Child:
    if child.name in REAL:
        return child
    if child.once:
        return replace(child, command=program("pass"))
    return replace(child, command=server(child.port) if child.port else program("stay"))


STAND_INS = tuple(stand_in(child) for child in TABLE)


def named(name: str, **changes: object) -> Child:
    child = next(child for child in STAND_INS if child.name == name)
    return replace(child, **changes)  # type: ignore[arg-type]


def table_with(child: Child) -> tuple[Child, ...]:
    return tuple(child if other.name == child.name else other for other in STAND_INS)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["dev", *rest]:
            raise SystemExit(main(rest, table=STAND_INS))
        case ["serve", port]:
            serve(int(port))
        case ["stay"]:
            stay()
        case ["stubborn"]:
            stubborn()
        case ["fail"]:
            fail()
