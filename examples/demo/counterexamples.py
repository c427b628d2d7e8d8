"""Four ways to make a wrong refund, and what came of each."""

import asyncio
from collections.abc import Sequence

from adapters.client import Turn
from examples.agent_loops.anthropic_messages import SURFACE
from examples.demo.conversation import call_of
from examples.demo.evidence import Tally
from examples.demo.stage import Stage

TALLY = "handler calls / posts / effects / approvals opened"


async def tell(stage: Stage) -> None:
    """One after the other."""
    quote_id = await amount_as_text(stage)
    await foreign_order(stage, quote_id)
    await payment_replaced(stage)
    await reply_dropped(stage)


async def amount_as_text(stage: Stage) -> str:
    """The model writes the amount as a string; gives the quote that stays unused."""
    stage.telling.heading('2. Counter-example: the amount is "12000" instead of 12000')
    async with stage.conversation("amount-as-text") as agent:
        response = await agent.ask("Refund the last payment of order O-22, 12,000 won.")
        before = await stage.evidence.tally()
        turn = await agent.hand_in(response)
        await _check_refusal(stage, turn, "invalid_arguments", before, Tally(0, 0, 0, 0))
        await agent.last_words(turn)
        return str(call_of(response).input["quote_id"])


async def foreign_order(stage: Stage, quote_id: str) -> None:
    """Everything fits, the quote is open, and the order belongs to somebody else."""
    stage.telling.heading("3. Counter-example: a user of tenant-b names an order of tenant-a")
    async with stage.conversation("straight-refund", "user-21", "tenant-b") as agent:
        response = await agent.ask(f"Refund order O-22 as in quote {quote_id}, 12,000 won.")
        before = await stage.evidence.tally()
        turn = await agent.hand_in(response)
        await _check_refusal(stage, turn, "not_found", before, Tally(0, 0, 0, 0))
        await agent.last_words(turn)


async def payment_replaced(stage: Stage) -> None:
    """Between approval and dispatch the order gets another payment."""
    stage.telling.heading("4. Counter-example: the payment is replaced after the approval")
    async with stage.conversation("refunds") as agent:
        response = await agent.ask("Refund the last payment of order O-18, 5,000 won.")
        before = await stage.evidence.tally()
        turn = await agent.door.turn(SURFACE, response)
        stage.stack.pause("worker")
        stage.telling.line("the worker is stopped (SIGSTOP), so that nothing runs between the two")
        await stage.approve(str(turn.results[0].operation_id))
        stage.telling.line(f"the order is now paid by {await stage.provider.replace_payment('O-18')}")
        stage.stack.resume("worker")
        turn = await agent.hand_in(response)
        await _check_refusal(stage, turn, "approval_stale", before, Tally(0, 0, 0, 1))
        await agent.last_words(turn)


async def reply_dropped(stage: Stage) -> None:
    """The provider commits and cuts the line; meanwhile the same response arrives twice more."""
    stage.telling.heading("5. Counter-example: the reply is lost after the commit")
    async with stage.conversation("refunds") as agent:
        response = await agent.ask("Refund the last payment of order O-20.")
        before = await stage.evidence.tally()
        turn = await agent.door.turn(SURFACE, response)
        operation_id = str(turn.results[0].operation_id)
        await stage.provider.break_next_refund("commit-then-drop", "O-20")
        stage.telling.line("the provider will commit the next refund and cut the connection")
        await stage.approve(operation_id)
        stage.telling.line("the same response is delivered twice more, both at once")
        deliveries = await asyncio.gather(agent.hand_in(response), agent.hand_in(response))
        await _check_one_effect(stage, operation_id, deliveries)
        stage.telling.check(TALLY, await stage.evidence.since(before), Tally(1, 1, 1, 1))
        await agent.last_words(deliveries[0])


async def _check_one_effect(stage: Stage, operation_id: str, deliveries: Sequence[Turn]) -> None:
    ledger = await stage.provider.ledger(operation_id)
    receipts = tuple((each.results[0].data or {}).get("refund_id") for each in deliveries)
    stage.telling.check("receipts that the two deliveries got", receipts, (ledger.refunds[0]["refund_id"],) * 2)
    stage.telling.check("what befell the only post to the provider", ledger.faults, ("commit-then-drop",))


async def _check_refusal(stage: Stage, turn: Turn, code: str, before: Tally, expected: Tally) -> None:
    stage.telling.check("refused with", turn.results[0].code, code)
    stage.telling.check(TALLY, await stage.evidence.since(before), expected)
