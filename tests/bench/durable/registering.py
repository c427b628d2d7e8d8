"""A caller's proposal as the store keeps it, without the HTTP around it."""

import secrets
from typing import Final

from adapters.intake.judging import judge
from adapters.intake.ports import Registered, Turn
from adapters.postgres.engine import Database
from adapters.postgres.inbox import PostgresInbox
from tests.bench.durable.family import ROLE
from worker import wiring
from worker.settings import ToolNames
from workflows.domain.principal import Principal
from workflows.domain.proposal import Proposal

MODULE: Final = "tests.bench.durable.family"
TENANT: Final = "tenant-a"
PACKER: Final = Principal(TENANT, "user-17", frozenset({ROLE}), agent="bench")
CATALOG: Final = wiring.catalog(ToolNames(tools=(MODULE,), policy_file=None))


class Register:
    """Registers calls of a tool, each on a parcel of its own and in a conversation of its own."""

    def __init__(self, door: Database) -> None:
        self._inbox = PostgresInbox(door)

    async def one(self, tool: str) -> Registered:
        """A response with one call."""
        (registered,) = await self.some(tool, 1)
        return registered

    async def some(self, tool: str, number: int) -> list[Registered]:
        """A response with so many calls; raises RuntimeError when one of them is refused."""
        response = secrets.token_hex(12)
        proposals = [Proposal(f"call-{place}", tool, {"parcel_id": f"P-{response}{place}"}) for place in range(number)]
        calls = [judge(proposal, place, PACKER, CATALOG) for place, proposal in enumerate(proposals)]
        registered = await self._inbox.register(Turn(PACKER, "anthropic-messages", response, calls, response))
        if not all(each.operation_id for each in registered):
            raise RuntimeError(f"a call was refused as {registered[0].code}")
        return registered
