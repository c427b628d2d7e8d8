"""An MCP server with a character, as a process: it says what its stage says, and writes down what it carries out.

    python mcp_fake.py FOLDER            over stdio
    python mcp_fake.py FOLDER PORT       over Streamable HTTP

It stands on nothing but the standard library, so that what it puts on the wire is what the test wants there.
`FOLDER/stage.json` is read again for each message; `FOLDER/calls.jsonl` gets a line for each call that took effect.
"""

import json
import os
import sys
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import repeat
from pathlib import Path
from typing import Any

Json = dict[str, Any]

MODERN, LEGACY = "2026-07-28", "2025-11-25"
FOLDER = Path(sys.argv[1])


class Cut(Exception):
    """The connection ends here, without an answer."""


def stage() -> Json:
    staged: Json = json.loads((FOLDER / "stage.json").read_text("utf-8"))
    return staged


def write_down(name: str, line: Any) -> None:
    with (FOLDER / name).open("a", encoding="utf-8") as book:
        book.write(json.dumps(line) + "\n")


def answer(message: Json) -> Json | None:
    """The reply to one message; None where there is none."""
    write_down("heard.jsonl", message)
    if "id" not in message or "method" not in message:
        return None
    try:
        result = result_of(message["method"], message.get("params", {}))
        return {"jsonrpc": "2.0", "id": answered_id(message), "result": result}
    except LookupError:
        error = {"code": -32601, "message": "no such method"}
        return {"jsonrpc": "2.0", "id": message["id"], "error": error}
    except WireError as wire:
        return {"jsonrpc": "2.0", "id": message["id"], "error": wire.args[0]}


def answered_id(message: Json) -> Any:
    """The id under which it is answered: its own, unless the stage wants another."""
    name = message.get("params", {}).get("name", "")
    return stage().get("then", {}).get(name, {}).get("answers_as", message["id"])


class WireError(Exception):
    """A JSON-RPC error."""


def result_of(method: str, params: Json) -> Json:
    staged = stage()
    modern = staged.get("revision", MODERN) == MODERN
    whole: Json = {"resultType": "complete"} if modern else {}
    if method == "server/discover" and modern:
        return {**whole, "supportedVersions": [MODERN], "capabilities": {"tools": {}}, "ttlMs": 0,
                "cacheScope": "private", "_meta": {"io.modelcontextprotocol/serverInfo": identity(staged)}}  # fmt: skip
    if method == "initialize" and not modern:
        return {"protocolVersion": LEGACY, "capabilities": {"tools": {}}, "serverInfo": identity(staged)}
    if method == "tools/list":
        return {**whole, "tools": staged["tools"], **({"ttlMs": 0, "cacheScope": "private"} if modern else {})}
    if method == "tools/call":
        return called(params, staged, whole)
    if method in ("tasks/get", "tasks/cancel"):
        write_down("tasks.jsonl", [method, params.get("taskId")])
        if "task_refused" in staged:
            raise WireError(staged["task_refused"])
        return {**whole, **staged["task"].pop(0)} if method == "tasks/get" else whole
    raise LookupError(method)


def identity(staged: Json) -> Json:
    return {"name": staged.get("identity", "fake"), "version": staged.get("version", "1")}


def called(params: Json, staged: Json, whole: Json) -> Json:
    name = params["name"]
    then = staged.get("then", {}).get(name, {})
    if then.get("refused"):
        raise WireError(then["refused"])
    write_down("calls.jsonl", {"name": name, "arguments": params.get("arguments", {})})
    if then.get("dies"):
        os._exit(9)
    if then.get("cuts"):
        raise Cut
    if then.get("error"):
        raise WireError(then["error"])
    time.sleep(then.get("sleeps", 0))
    if then.get("prints"):
        for text, times in then["prints"]:
            sys.stdout.buffer.write(text.encode("latin-1") * times)
        sys.stdout.buffer.flush()
    if "echo" in then:
        told = {**params["arguments"], **then["echo"]}
        return {**whole, "content": [{"type": "text", "text": json.dumps(told)}], "structuredContent": told}
    return {**whole, **then.get("result", {"content": [{"type": "text", "text": "ok"}]})}


def over_stdio() -> None:
    for line in sys.stdin.buffer:
        try:
            reply = answer(json.loads(line))
        except Cut:
            return
        if reply is not None:
            sys.stdout.buffer.write(json.dumps(reply).encode() + b"\n")
            sys.stdout.buffer.flush()


class Handler(BaseHTTPRequestHandler):
    """One POST, one message."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        write_down("headers.jsonl", dict(self.headers.items()))
        staged = stage()
        if staged.get("token") and self.headers.get("Authorization") != f"Bearer {staged['token']}":
            return self._say(401, b"{}")
        if staged.get("elsewhere") and body.get("method") == "tools/call":
            write_down("redirected.jsonl", body)
            return self._say(307, b"", Location=staged["elsewhere"])
        try:
            reply = answer(body)
        except Cut:
            self.close_connection = True
            return None
        raw = staged.get("then", {}).get(body.get("params", {}).get("name", ""), {}).get("raw")
        if raw is not None and body.get("method") == "tools/call":
            return self._say_raw(raw, str(body["id"]))
        return self._say(202, b"") if reply is None else self._say(200, json.dumps(reply).encode())

    def do_GET(self) -> None:
        write_down("got.jsonl", dict(self.headers.items()))
        resumed = stage().get("resumed")
        if resumed is None:
            return self._say(405, b"")
        return self._say_raw(resumed, "")

    def do_DELETE(self) -> None:
        self._say(405, b"")

    def _say_raw(self, raw: Json, message_id: str) -> None:
        """An answer of no stated length: its pieces, the last of them `times` times, each after `every` seconds."""
        self.close_connection = True
        self.send_response(raw.get("status", 200))
        for name, value in {"Content-Type": "application/json", **raw.get("headers", {})}.items():
            self.send_header(name, value)
        self.end_headers()
        *first, last = [each.replace("{id}", message_id).encode("latin-1") for each in raw.get("pieces", [""])]
        with suppress(OSError):
            for piece in [*first, *repeat(last, raw.get("times", 1))]:
                self.wfile.write(piece)
                time.sleep(raw.get("every", 0))
            return
        write_down("hung_up.jsonl", message_id)

    def _say(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing: what it hears is in its book."""


if __name__ == "__main__":
    write_down("environment.jsonl", dict(os.environ))
    if len(sys.argv) > 2:
        ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
    else:
        over_stdio()
