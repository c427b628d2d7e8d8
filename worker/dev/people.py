"""The people whom the development issuer knows."""

from dataclasses import dataclass

AGENT_ROLES = ("support", "viewer", "analyst", "librarian")
"""The roles of agents that the policies of the development stack know."""


@dataclass(frozen=True)
class Person:
    """Somebody to sign in as. `locale` and `zone` say how to speak to them; where they are empty no claim is made."""

    subject: str
    name: str
    tenant: str
    roles: tuple[str, ...]
    locale: str = ""
    zone: str = ""


PEOPLE = (
    Person("approver-1", "Refund approver", "tenant-a", ("approver:refunds",)),
    Person("approver-2", "Second refund approver", "tenant-a", ("approver:refunds",)),
    Person("approver-3", "Credit approver", "tenant-a", ("approver:credits",)),
    Person("approver-4", "Page approver", "tenant-a", ("approver:pages",)),
    Person("approver-5", "환불 승인자", "tenant-a", ("approver:refunds",), "ko-KR", "Asia/Seoul"),
    Person("operator-1", "Operator", "tenant-a", ("operator",)),
    Person("auditor-1", "Auditor", "tenant-a", ("auditor",)),
    Person("viewer-1", "Viewer", "tenant-a", ("viewer",)),
    Person("approver-b", "Refund approver of another tenant", "tenant-b", ("approver:refunds",)),
)
