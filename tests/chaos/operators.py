"""The operator: finds in the provider's own books what nobody could look up, and says so in the back office."""

import asyncio
import time
from collections.abc import Callable

import httpx2

from tests.chaos.acts import Act, Turn
from tests.chaos.auditor import Auditor
from tests.chaos.evidence import Resolved
from tests.chaos.people import Person
from tests.chaos.plan import Plan
from tests.chaos.provider import Provider

OPERATOR = "operator-1"
EVIDENCE = "The provider's own books, under the key that is shown here."

PATIENCE_SECONDS = 120.0
"""How long it may take until a person is asked about the next one that cannot be looked up; a late write of a response
is sent long after the first."""
LOOK_SECONDS = 1.0


class Operators:
    """`said` is every word that was given. Comes after the load: only the clock is helped along."""

    def __init__(
        self, plan: Plan, back_office: str, auditor: Auditor, provider: Provider, tell: Callable[[str], None]
    ) -> None:
        self.said: list[Resolved] = []
        self._plan, self._back_office, self._auditor, self._tell = plan, back_office, auditor, tell
        self._provider = provider
        self._aged: set[str] = set()

    async def resolve(self) -> None:
        """Return when each of them has been brought before a person, and those that are to be resolved are."""
        left = [(turn, act) for turn in self._plan.turns for act in turn.acts if act.review]
        deadline = time.monotonic() + PATIENCE_SECONDS
        self._tell(f"{len(left)} refunds that cannot be looked up, for the operator")
        async with Person(self._back_office) as person:
            await person.sign_in(OPERATOR)
            while left and time.monotonic() < deadline:
                before, left = len(left), [each for each in left if not await self._is_done(person, *each)]
                if len(left) < before:
                    deadline = time.monotonic() + PATIENCE_SECONDS
                await asyncio.sleep(LOOK_SECONDS)

    async def _is_done(self, person: Person, turn: Turn, act: Act) -> bool:
        operation = await self._auditor.operation_of(turn.request_id, act.call_id)
        if operation is None or operation["ended"]:
            return operation is not None
        if operation["state"] != "manual_review":
            await self._let_time_pass(operation["operation_id"])
            return False
        return act.review == "left" or await self._says(person, operation["operation_id"], act)

    async def _let_time_pass(self, operation_id: str) -> None:
        """Until the executor has looked for longer than its contract says; then it looks once more."""
        if operation_id not in self._aged and await self._auditor.has_aged(operation_id):
            self._aged.add(operation_id)
        await self._auditor.have_looked_again([operation_id])

    async def _says(self, person: Person, operation_id: str, act: Act) -> bool:
        finding, reference = await self._truth(operation_id)
        if act.review == "abandoned":
            finding, reference = "abandoned", ""
        words = {"finding": finding, "evidence": EVIDENCE, "reference": reference}
        status = await person.say(f"/operations/{operation_id}", "/resolution", words)
        self.said.append(Resolved(operation_id, OPERATOR, finding, reference, status))
        if finding == "did_not_happen":
            # Nobody's word stands for a look, so this one has waited for the provider to be asked again.
            await self._provider.find(operation_id)
            await self._auditor.have_looked_again([operation_id])
        return status == httpx2.codes.OK

    async def _truth(self, operation_id: str) -> tuple[str, str]:
        receipts = await self._auditor.receipts_of(operation_id)
        return ("happened", receipts[0]) if receipts else ("did_not_happen", "")
