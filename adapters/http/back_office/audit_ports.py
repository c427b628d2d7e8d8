"""What the audit page needs from the store. Viewers find the lines of their own tenant only."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from workflows.domain.audit import AuditLine, Checked
from workflows.domain.principal import Principal

PAGE = 50
"""Lines on one page."""

RECENT = 1000
"""Lines at the end of the chain that the page checks each time it is opened; the whole is for the command."""

READERS = frozenset({"auditor", "operator"})
"""Who sees the audit log: it tells what everybody has tried."""


def may_read(viewer: Principal) -> bool:
    """Whether the audit log is for this person."""
    return not viewer.agent and bool(viewer.roles & READERS)


@dataclass(frozen=True)
class AuditQuery:
    """Which lines are meant; what is left empty lets everything pass.

    `what` is an event such as "decision.refused", or the first word of some, such as "decision". `about` is a tool, or
    a resource with its kind or without: "refund_payment", "order:O-17" or "O-17". The period has its beginning and not
    its end. `before` is the cursor that the page before has given.
    """

    actor: str = ""
    operation_id: str = ""
    what: str = ""
    about: str = ""
    since: datetime | None = None
    until: datetime | None = None
    before: int = 0


@dataclass(frozen=True)
class AuditList:
    """Some lines, the newest first, and the cursor of what comes after them (0: nothing does)."""

    lines: tuple[AuditLine, ...]
    following: int = 0


@dataclass(frozen=True)
class AuditStanding:
    """How the tenant's log stands: its newest lines as they were found, and how many are not sealed yet."""

    recent: Checked
    unsealed: int


class AuditLog(Protocol):
    """Each method is one short transaction, or a few; raises `StoreUnavailable`."""

    async def search(self, viewer: Principal, query: AuditQuery, most: int = PAGE) -> AuditList:
        """Lines of the viewer's tenant, the newest first."""
        ...

    async def standing(self, viewer: Principal) -> AuditStanding:
        """The newest `RECENT` lines of the chain, checked."""
        ...

    async def tell(self, who: Principal, what: str, **detail: str) -> None:
        """Write a line that belongs to no operation, such as a sign-in; `detail` has codes and ids only."""
        ...
