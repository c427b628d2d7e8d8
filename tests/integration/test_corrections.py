"""Corrections are bounded: after three that failed the model is told to ask, and a right call still passes."""

from typing import Any

from adapters.intake.ports import Receipt, Registered
from adapters.postgres.engine import Database
from adapters.postgres.inbox import PostgresInbox
from tests.support.proposals import fresh, refund, turn_of


class Conversation:
    """One model's tries in one conversation."""

    def __init__(self, door: Database) -> None:
        self._inbox = PostgresInbox(door)
        self._lineage = fresh("lineage")

    async def tries(self, **changes: Any) -> Registered:
        proposal = refund(**{"order_id": fresh("O"), **changes})
        turn = turn_of(proposal, request_id=fresh("request"), lineage=self._lineage)
        (registered,) = await self._inbox.register(turn)
        return registered


async def test_the_fourth_failure_in_a_row_tells_the_model_to_ask(door_database: Database) -> None:
    conversation = Conversation(door_database)
    codes = [(await conversation.tries(amount="12000")).code for _ in range(5)]
    assert codes == ["invalid_arguments"] * 3 + ["correction_budget_spent"] * 2


async def test_a_right_call_passes_however_many_failed_before_it(door_database: Database) -> None:
    conversation = Conversation(door_database)
    for _ in range(5):
        await conversation.tries(amount="12000")
    assert (await conversation.tries()).receipt is Receipt.REGISTERED
    assert (await conversation.tries(amount="12000")).code == "invalid_arguments"


async def test_another_conversation_has_a_budget_of_its_own(door_database: Database) -> None:
    spent, other = Conversation(door_database), Conversation(door_database)
    for _ in range(5):
        await spent.tries(amount="12000")
    assert (await other.tries(amount="12000")).code == "invalid_arguments"


async def test_the_same_delivery_is_no_further_failure(door_database: Database) -> None:
    inbox, lineage = PostgresInbox(door_database), fresh("lineage")
    turn = turn_of(refund(amount="12000"), request_id=fresh("request"), lineage=lineage)
    codes = [(await inbox.register(turn))[0].code for _ in range(6)]
    assert codes == ["invalid_arguments"] * 6
