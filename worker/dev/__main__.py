"""``python -m worker.dev``: start everything, show where it is, stay until Ctrl-C."""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from worker.dev.child import Child
from worker.dev.children import TABLE
from worker.dev.errors import NothingStarted, StackError
from worker.dev.folder import StateFolder
from worker.dev.layout import AUDIENCE, BACK_OFFICE_AUDIENCE
from worker.dev.people import AGENT_ROLES
from worker.dev.ports import HOST
from worker.dev.progress import Terminal, welcome
from worker.dev.stack import Stack

DEFAULT_STATE = Path(".onceward")

# Ctrl-C, an orderly end from outside, and a terminal that was closed.
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(arguments: Sequence[str] | None = None, table: Sequence[Child] = TABLE) -> int:
    """Exit code 0 after Ctrl-C or SIGTERM, 1 when a process did not hold, 2 when it cannot be done here."""
    asked = _parser().parse_args(arguments)
    if asked.webhook:
        # As if it had been set by hand: the relay refuses an address that is none.
        os.environ["ONCEWARD_WEBHOOK_URLS"] = asked.webhook
    try:
        return _token(asked) if asked.action == "token" else asyncio.run(_until_told(asked, table))
    except StackError as refusal:
        sys.stdout.flush()
        print(f"\n{refusal}", file=sys.stderr)
        return refusal.exit_code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m worker.dev", description="Onceward on one machine.")
    parser.add_argument("--state", type=Path, default=DEFAULT_STATE, help="folder for all data (default: %(default)s)")
    parser.add_argument("--port", type=int, help="of the door and the back office (default: found, then kept)")
    parser.add_argument("--console-port", type=int, help="of the Temporal console (default: found, then kept)")
    parser.add_argument("--webhook", metavar="URL", help="to be told what happens, such as http://127.0.0.1:9100/")
    token = parser.add_subparsers(dest="action").add_parser("token", help="print a bearer token")
    roles = f"{' or '.join(AGENT_ROLES)}; may be given several times"
    token.add_argument("--role", action="append", required=True, help=roles)
    token.add_argument("--subject", required=True, help="whom the token speaks for")
    token.add_argument("--tenant", required=True, help="the tenant that it belongs to, such as tenant-a")
    office = "a person's token for the API of the back office, with a role such as approver:refunds or operator"
    token.add_argument("--back-office", action="store_true", help=office)
    return parser


async def _until_told(asked: argparse.Namespace, table: Sequence[Child]) -> int:
    running = asyncio.create_task(_run(asked, table))
    loop = asyncio.get_running_loop()

    def told() -> None:
        # Once only: a second Ctrl-C must not interrupt the orderly end that the first one asked for.
        for number in ENDINGS:
            loop.add_signal_handler(number, lambda: None)
        running.cancel()

    for number in ENDINGS:
        loop.add_signal_handler(number, told)
    try:
        await running
    except asyncio.CancelledError:
        print("Stopped.", flush=True)
    return 0


async def _run(asked: argparse.Namespace, table: Sequence[Child]) -> None:
    progress = Terminal()
    progress.note("Starting Onceward:")
    chosen = {"port": asked.port, "console_port": asked.console_port}
    async with Stack(asked.state, table=table, progress=progress, **chosen) as stack:
        progress.note(welcome(stack.links, _token_command(asked.state), _approval_command(asked.state)))
        try:
            await stack.wait()
        finally:
            progress.note("Stopping ...")


def _token_command(state: Path) -> str:
    return f"{_module('worker.dev', state)} token --role support --subject user-17 --tenant tenant-a"


def _approval_command(state: Path) -> str:
    return _module("examples.propose_refund", state)


def _module(name: str, state: Path) -> str:
    """As it can be copied into the same shell, whichever Python is the first on its path."""
    here = Path(sys.executable)
    python = here.relative_to(Path.cwd()) if here.is_relative_to(Path.cwd()) else here
    elsewhere = "" if state == DEFAULT_STATE else f" --state {state}"
    return f"{python} -m {name}{elsewhere}"


def _token(asked: argparse.Namespace) -> int:
    # Only here: the supervisor itself has no business with keys that sign tokens.
    from worker.dev.issuer import mint

    folder = StateFolder(asked.state)
    port = folder.recall("ports").get("issuer")
    if port is None:
        raise NothingStarted(folder.root)
    for role in [] if asked.back_office else sorted(set(asked.role) - set(AGENT_ROLES)):
        print(f"No shipped policy knows the role {role}; it knows {', '.join(AGENT_ROLES)}.", file=sys.stderr)
    whom = {"subject": asked.subject, "tenant": asked.tenant}
    audience = BACK_OFFICE_AUDIENCE if asked.back_office else AUDIENCE
    print(mint(folder.issuer, issuer=f"http://{HOST}:{port}", audience=audience, roles=asked.role, **whom))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
