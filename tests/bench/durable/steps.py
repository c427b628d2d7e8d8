"""The five steps of a write as others are given them: our own activities and repositories, one call each.

What goes into a step and comes out of it is JSON, so that any orchestrator can keep it. `validate` and `settle` are
whole activities of ours; between them stand the three parts of a third one, `apply`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

from pydantic import TypeAdapter
from temporalio.testing import ActivityEnvironment

from activities.apply import LEASE_SECONDS
from activities.loading import load_as_meant
from activities.settle import Settle
from activities.validate import Validate
from adapters.postgres.approvals import PostgresApprovals
from adapters.postgres.claims import PostgresClaims
from adapters.postgres.engine import Database
from adapters.postgres.journal import PostgresJournal
from adapters.postgres.operations import PostgresOperations
from adapters.postgres.spendings import PostgresSpendings
from adapters.tools.toolbox import Toolbox
from tests.bench.durable.registering import MODULE
from worker import wiring
from worker.settings import ToolNames
from workflows.domain.arguments import validated
from workflows.domain.claim import Claim
from workflows.domain.effect import Effect
from workflows.domain.policy import Policy
from workflows.messages import OperationRef, SettleOrder, Step

Json = dict[str, Any]

CLAIM: Final = TypeAdapter(Claim)
EFFECT: Final = TypeAdapter(Effect)

NAMES: Final = ToolNames(tools=(MODULE,), policy_file=None)


class Steps:
    """One write, step by step. Each raises where an operation would have to take another way: here all goes well."""

    def __init__(self, database: Database, tools: Toolbox) -> None:
        operations, claims = PostgresOperations(database), PostgresClaims(database)
        approvals, spendings = PostgresApprovals(database), PostgresSpendings(database)
        authorizer, policy = wiring.authorizer(NAMES), Policy(version="bench")
        self._operations, self._claims, self._tools = operations, claims, tools
        self._journal = PostgresJournal(database)
        self._validate = Validate(operations, approvals, claims, spendings, tools, authorizer, policy)
        self._settle = Settle(operations, claims, tools)

    @classmethod
    @asynccontextmanager
    async def connected(cls, dsn: str) -> AsyncIterator["Steps"]:
        """With a pool of its own, as large as that of our worker."""
        database = Database(dsn, application_name="bench-steps")
        try:
            async with wiring.toolbox(NAMES) as tools:
                yield cls(database, tools)
        finally:
            await database.close()

    def functions(self) -> "list[Callable[..., Any]]":
        """The five in their order, as functions: some orchestrators mark what they call, and a method takes no mark."""
        return [_function(each) for each in (self.validate, self.acquire, self.send, self.conclude, self.settle)]

    async def validate(self, operation_id: str, intent_hash: str) -> str:
        """Look, judge and clear."""
        judgement = await ActivityEnvironment().run(self._validate.validate, OperationRef(operation_id, intent_hash))
        if judgement.step is not Step.GO:
            raise RuntimeError(f"the gate said {judgement.step.value}")
        return judgement.step.value

    async def acquire(self, operation_id: str) -> Json:
        """Take the right to the effect."""
        claim = await self._claims.acquire(operation_id, wiring.new_owner(), LEASE_SECONDS)
        return dict(CLAIM.dump_python(claim, mode="json"))

    async def send(self, operation_id: str, intent_hash: str, held: Json) -> Json:
        """Make the effect under the claim."""
        claim = CLAIM.validate_python(held)
        operation = await load_as_meant(self._operations, OperationRef(operation_id, intent_hash))
        tool = self._tools.writer(operation.tool)
        entry = await self._journal.began(operation, claim.generation)
        await self._claims.begin_send(claim, tool.contract.limits.attempt_seconds)
        async with asyncio.timeout(tool.contract.limits.attempt_seconds):
            effect = await tool.apply(validated(tool.contract, operation.arguments), claim.dispatch)
        await self._journal.ended(entry, effect.outcome.value)
        return dict(EFFECT.dump_python(effect, mode="json"))

    async def conclude(self, held: Json, effect: Json) -> None:
        """Record what the send came to."""
        await self._claims.conclude(CLAIM.validate_python(held), EFFECT.validate_python(effect))

    async def settle(self, operation_id: str, intent_hash: str) -> str:
        """Write the end; returns the state."""
        order = SettleOrder(OperationRef(operation_id, intent_hash))
        return (await ActivityEnvironment().run(self._settle.settle, order)).state


def _function(step: Callable[..., Any]) -> Callable[..., Any]:
    async def run(*given: Any) -> Any:
        return await step(*given)

    run.__name__ = run.__qualname__ = step.__name__
    return run
