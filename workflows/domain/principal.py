"""Who acts: taken from the verified credential only, never from a model's arguments."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Principal:
    """The caller as the credential names it.

    `subject` is the end user; `agent` is the software acting for them (RFC 8693 `act`), empty when they act themselves.
    `agents_before` are those that `agent` acts on behalf of, the nearest first: for the record, never for a right.
    """

    tenant: str
    subject: str
    roles: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    agent: str = ""
    name: str = ""
    agents_before: tuple[str, ...] = ()
