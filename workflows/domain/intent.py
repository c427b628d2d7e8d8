"""The intent hash: one fingerprint for one meaning.

The hash covers what changes the meaning of the act and nothing else: no secret, no time, no attempt number, no
provider's call id. Canonical form is RFC 8785, which knows only IEEE doubles; integers beyond 2^53 and decimals are
therefore written as tagged strings, so that every digit counts.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import rfc8785

LARGEST_EXACT_INTEGER = 2**53 - 1
"""Beyond it a double no longer holds every integer (RFC 8785 section 3.2.2.3)."""


@dataclass(frozen=True)
class Intent:
    """What an operation means.

    `arguments` are the validated ones, in the shape of the tool's argument model; `act` those of them that make it the
    same act as another one.
    """

    tenant: str
    subject: str
    agent: str
    scopes: tuple[str, ...]
    tool: str
    tool_version: str
    contract_hash: str
    resource: str
    arguments: Mapping[str, Any]
    act: Mapping[str, Any]

    def act_hash(self) -> str:
        """Equal for two operations that are the same act of the same user, however they were proposed."""
        return digest([self.tenant, self.subject, self.tool, self.resource, self.act])

    def hash(self) -> str:
        """SHA-256 over the canonical form, in hex."""
        return digest(
            {
                "tenant": self.tenant,
                "subject": self.subject,
                "agent": self.agent,
                "scopes": sorted(self.scopes),
                "tool": self.tool,
                "tool_version": self.tool_version,
                "contract": self.contract_hash,
                "resource": self.resource,
                "arguments": self.arguments,
            }
        )


def digest(value: Any) -> str:
    """SHA-256 in hex over the canonical bytes of a JSON value."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()


def canonical_bytes(value: Any) -> bytes:
    """RFC 8785 bytes of a JSON value whose integers may be of any size and whose fractions are `Decimal`."""
    return rfc8785.dumps(_exact(value))


def idempotency_key(tenant: str, tool: str, operation_id: str, item: str = "") -> str:
    """The key that every downstream gets for this operation (and batch item), the same for ever."""
    return digest([tenant, tool, operation_id, item])


def _exact(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_plain_key(key): _exact(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_exact(item) for item in value]
    if isinstance(value, Decimal):
        return _exact_decimal(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > LARGEST_EXACT_INTEGER:
        return {"$integer": str(value)}
    if isinstance(value, float):
        raise TypeError("a float has no exact canonical form here; use Decimal or an integer of minor units")
    return value


def _exact_decimal(value: Decimal) -> Any:
    # 15.0, 1.5e1 and 15 are one number, so they have one form.
    if value == value.to_integral_value():
        return _exact(int(value))
    # Not `normalize`, which rounds to the context's digits.
    return {"$decimal": format(value, "f").rstrip("0")}


def _plain_key(key: Any) -> str:
    # A key that looks like our tags could make two meanings look like one.
    if not isinstance(key, str) or key.startswith("$"):
        raise TypeError("keys are strings that do not begin with '$'")
    return key
