"""What belongs together: the turns of one conversation."""

from workflows.domain.intent import digest
from workflows.domain.principal import Principal


def lineage_of(principal: Principal, conversation: str) -> str:
    """Names a conversation of one user's agent; without a name, all that it asks is one."""
    return digest([principal.tenant, principal.subject, principal.agent, conversation])
