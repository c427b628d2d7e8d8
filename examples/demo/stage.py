"""Everything that the demonstration plays on: the stack, the model, the people and the evidence."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
from anthropic import AsyncAnthropic

from adapters.client import Onceward
from adapters.postgres.engine import Database
from adapters.postgres.invariants import PostgresInvariants
from examples.demo.browser import Person
from examples.demo.conversation import Conversation
from examples.demo.evidence import Evidence
from examples.demo.provider import Provider
from examples.demo.telling import Telling
from examples.scripted_model.server import scripted_model
from worker.dev.folder import StateFolder
from worker.dev.issuer import mint
from worker.dev.layout import AUDIENCE
from worker.dev.stack import Stack

APPROVER = "approver-1"


@dataclass(frozen=True)
class Stage:
    """What each act uses. Everything is on this machine, so no client asks the proxy that the caller may have set."""

    telling: Telling
    stack: Stack
    provider: Provider
    evidence: Evidence
    invariants: PostgresInvariants
    state: Path
    model: AsyncAnthropic

    @asynccontextmanager
    async def conversation(
        self, script: str, subject: str = "user-17", tenant: str = "tenant-a"
    ) -> AsyncIterator[Conversation]:
        """An agent of one user, with the model that follows that script."""
        token = mint(
            StateFolder(self.state).issuer,
            issuer=self.stack.links.issuer,
            audience=AUDIENCE,
            subject=subject,
            tenant=tenant,
            roles=["support"],
            agent="support-agent",
        )
        async with Onceward(self.stack.links.door, token, transport=httpx2.AsyncHTTPTransport()) as door:
            yield Conversation(self.model, door, script, self.telling)

    async def approve(self, operation_id: str) -> None:
        """Another person signs in to the back office and approves."""
        async with Person(self.stack.links.back_office) as person:
            await person.sign_in(APPROVER)
            await person.approve(operation_id)
        self.telling.line(f"{APPROVER} has signed in to the back office and approved")


@asynccontextmanager
async def stage(state: Path, telling: Telling) -> AsyncIterator[Stage]:
    """Start everything, and end everything afterwards."""
    async with AsyncExitStack() as exits:
        stack = await exits.enter_async_context(Stack(state, restart=False, progress=telling))
        model_url = await exits.enter_async_context(scripted_model())
        direct = httpx2.AsyncClient(trust_env=False)
        model = AsyncAnthropic(base_url=model_url, api_key="scripted", http_client=direct)
        await exits.enter_async_context(model)
        admin_key = stack.environment("provider")["PAYMENTS_PROVIDER_ADMIN_KEY"]
        provider = await exits.enter_async_context(Provider(stack.links.payments, admin_key))
        # The owner sees all tables; no process of the stack works with this login.
        database = Database(stack.dsn("onceward_owner"), application_name="onceward-demo", pool_size=2)
        exits.push_async_callback(database.close)
        evidence, invariants = Evidence(database, provider), PostgresInvariants(database)
        yield Stage(telling, stack, provider, evidence, invariants, state, model)
