"""The environment of each child: little is inherited, and each gets only the secrets that it needs itself."""

import os
from base64 import b64encode
from collections.abc import Iterable, Sequence
from pathlib import Path

from adapters.mcp.client.configuration import read_servers
from adapters.webhooks.receivers import KEY_PREFIX
from worker.dev.layout import AUDIENCE, BACK_OFFICE_AUDIENCE, NAMESPACE, ROOT, TASK_QUEUE, Layout
from worker.dev.ports import HOST
from workflows.domain.errors import InvalidConfiguration

# All that a child sees of the caller's environment. Tokens and keys of the person who typed `make dev` stay with them.
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ")

TOOLS = "adapters.tools.payments,adapters.tools.ledger,examples.tools.feeds,examples.tools.wiki"
"""The shipped families and those to try things on; `ONCEWARD_TOOLS` in the caller's environment names others."""

RATE_LIMITS = (
    "ONCEWARD_SIGN_INS_PER_MINUTE",
    "ONCEWARD_WORDS_PER_MINUTE",
    "ONCEWARD_PAGES_PER_MINUTE",
    "ONCEWARD_FAILED_TOKENS_PER_MINUTE",
)

DOOR = (
    "ONCEWARD_CALLS_PER_CONVERSATION",
    "ONCEWARD_MCP_SERVERS",
    "ONCEWARD_METRICS_TOKEN",
    "ONCEWARD_PARALLEL",
    "ONCEWARD_POLICY_FILE",
    "ONCEWARD_SAME_ANSWERS",
    "ONCEWARD_SESSIONS_PER_PERSON",
    "ONCEWARD_SESSION_IDLE_MINUTES",
    "ONCEWARD_STRICT_TOOLS",
    "ONCEWARD_TURNS_AT_ONCE",
)
"""What of the caller's settings is the door's too; none of them opens anything."""

WEBHOOKS = "ONCEWARD_WEBHOOK_"
"""How the settings begin of who is told what happens, which are the relay's alone."""

Environment = dict[str, str]


def bare(_layout: Layout) -> Environment:
    """For servers that take everything on their command line."""
    return _given(INHERITED)


def ours(layout: Layout) -> Environment:
    """For a Python process that is run from this checkout."""
    return {**bare(layout), "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}


def _common(layout: Layout, role: str) -> Environment:
    return {
        **ours(layout),
        "ONCEWARD_POSTGRES_DSN": layout.dsn(role),
        "ONCEWARD_TEMPORAL_ADDRESS": layout.address("temporal"),
        "ONCEWARD_TEMPORAL_NAMESPACE": NAMESPACE,
        "ONCEWARD_TEMPORAL_TASK_QUEUE": TASK_QUEUE,
        "ONCEWARD_CONSOLE_URL": layout.url("console"),
        "ONCEWARD_PUBLIC_URL": layout.url("api"),
        "ONCEWARD_PAYMENTS_URL": layout.url("provider"),
        "ONCEWARD_TOOLS": os.environ.get("ONCEWARD_TOOLS") or TOOLS,
        **_trust(layout),
    }


def _trust(layout: Layout) -> Environment:
    """Whose tokens are believed."""
    return {
        "ONCEWARD_ISSUER": layout.url("issuer"),
        "ONCEWARD_ISSUER_JWKS_URL": f"{layout.url('issuer')}/.well-known/jwks.json",
        "ONCEWARD_AUDIENCE": AUDIENCE,
    }


def migrate(layout: Layout) -> Environment:
    """The owner of the tables changes them; nobody else may."""
    return _common(layout, "onceward_owner")


def relay(layout: Layout) -> Environment:
    """Reads the outbox, starts or signals workflows, and tells whom the caller wants to be told."""
    wanted = [name for name in os.environ if name.startswith(WEBHOOKS)]
    key = (
        {"ONCEWARD_WEBHOOK_SECRET": webhook_secret(layout.credentials["webhook_key"])}
        if "ONCEWARD_WEBHOOK_URLS" in wanted
        else {}
    )
    return {**key, **_given((*wanted, "ONCEWARD_DRAINS")), **_common(layout, "onceward_relay")}


def webhook_secret(key: str) -> str:
    """What a receiver verifies with, made of the stack's own key, unless the caller has set another one."""
    return KEY_PREFIX + b64encode(key.encode()).decode()


def worker(layout: Layout) -> Environment:
    """Runs workflows and activities."""
    # The only process that may act on the outside: the door never holds a downstream credential. What the caller has
    # set for it, such as the settings of their own tools or of the policy, holds where the stack sets nothing itself.
    return {
        **_given(name for name in os.environ if name.startswith("ONCEWARD_") and not name.startswith(WEBHOOKS)),
        **_given(named_for_mcp_servers()),
        **_common(layout, "onceward_worker"),
        "ONCEWARD_PAYMENTS_API_KEY": layout.credentials["payments_api_key"],
        "ONCEWARD_LEDGER_DSN": layout.dsn("onceward_worker"),
    }


def named_for_mcp_servers() -> Sequence[str]:
    """The variables that the caller's MCP servers need; of an unfit configuration the worker itself speaks."""
    path = os.environ.get("ONCEWARD_MCP_SERVERS")
    try:
        entries = read_servers(Path(path)).servers.values() if path else ()
    except InvalidConfiguration:
        return ()
    return [name for entry in entries for name in entry.variables]


def api(layout: Layout) -> Environment:
    """The door and the back office."""
    return {
        **_common(layout, "onceward_door"),
        "ONCEWARD_API_HOST": HOST,
        "ONCEWARD_API_PORT": str(layout.ports["api"]),
        "ONCEWARD_DEVELOPMENT": "true",
        # All people and all agents of this stack are at one address, and programs play them.
        **dict.fromkeys(RATE_LIMITS, "100000"),
        "ONCEWARD_BACK_OFFICE_AUDIENCE": BACK_OFFICE_AUDIENCE,
        "ONCEWARD_SESSION_SECRET": layout.credentials["session_secret"],
        **_given(DOOR),
    }


def _given(names: Iterable[str]) -> Environment:
    """Those of the variables that the caller has set."""
    return {name: os.environ[name] for name in names if name in os.environ}


def provider(layout: Layout) -> Environment:
    """The sample payments provider, an outside party with a database of its own."""
    return {
        **ours(layout),
        "PAYMENTS_PROVIDER_DSN": layout.dsn("payments_provider", "payments"),
        "PAYMENTS_PROVIDER_PORT": str(layout.ports["provider"]),
        "PAYMENTS_PROVIDER_API_KEY": layout.credentials["payments_api_key"],
        "PAYMENTS_PROVIDER_ADMIN_KEY": layout.credentials["payments_admin_key"],
    }


def issuer(layout: Layout) -> Environment:
    """Signs tokens in place of an identity provider."""
    return {
        **ours(layout),
        **_trust(layout),
        "ONCEWARD_DEV_ISSUER_PORT": str(layout.ports["issuer"]),
        "ONCEWARD_DEV_ISSUER_STATE_DIR": str(layout.folder.issuer),
    }
