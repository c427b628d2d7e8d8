"""Passwords and keys of one stack: made once, at random, and kept in its state folder."""

import secrets

from worker.dev.folder import StateFolder

# One login per process and a secret for each thing that signs or is called: no process holds another one's.
NAMES = (
    "postgres",
    "onceward_owner",
    "onceward_door",
    "onceward_worker",
    "onceward_relay",
    "payments_provider",
    "session_secret",
    "payments_api_key",
    "payments_admin_key",
    "webhook_key",
)


def keep(folder: StateFolder) -> dict[str, str]:
    """The secrets in the folder; those that are not there yet are made."""
    kept = {name: value for name, value in folder.recall("credentials").items() if isinstance(value, str)}
    # Letters, digits, - and _ only, so that they stand in a URL as they are.
    complete = {name: kept.get(name) or secrets.token_urlsafe(32) for name in NAMES}
    if complete != kept:
        folder.remember("credentials", complete)
    return complete
