"""One refund of 12,000 KRW, through an approval, a held-back reply and a killed worker."""

import asyncio

from adapters.client import Onceward, Operation, Turn
from examples.agent_loops.anthropic_messages import SURFACE
from examples.demo.conversation import Conversation, call_of
from examples.demo.stage import Stage
from examples.demo.telling import Telling
from workflows import contracts

QUESTION = "Refund the last payment of order O-17, 12,000 won."

HELD_BACK_SECONDS = 20.0
"""How long the provider keeps its reply: the worker is dead long before."""

LOOK_SECONDS = 0.05
"""Between two looks at the ledger or the operation: the worker should die right after the commit."""

SAY_SECONDS = 3.0
"""After this long without news, say that it goes on."""


async def tell(stage: Stage) -> None:
    """The whole story."""
    stage.telling.heading("1. One refund, although its worker is killed after the commit")
    async with stage.conversation("refunds") as agent:
        response = await agent.ask(QUESTION)
        operation_id = await _when_a_person_is_asked(stage, await agent.door.turn(SURFACE, response))
        await stage.provider.break_next_refund("commit-then-hang", "O-17", HELD_BACK_SECONDS)
        stage.telling.line("the provider will commit the next refund and hold its reply back")
        async with asyncio.TaskGroup() as meanwhile:
            # All that the agent does now is hand the same response in until there is a true end.
            waiting = meanwhile.create_task(agent.hand_in(response))
            await stage.approve(operation_id)
            await _kill_after_commit(stage, operation_id)
            await _watch(stage.telling, agent.door, operation_id)
        turn = await waiting
        await _check_once(stage, agent, turn)
        stage.telling.line(f"the same response ({call_of(response).id}) is handed in once more")
        await _check_again(stage, turn, await agent.hand_in(response))


async def _when_a_person_is_asked(stage: Stage, turn: Turn) -> str:
    """Gives the operation that waits."""
    result = turn.results[0]
    stage.telling.line(f"operation {result.operation_id} waits for a person")
    stage.telling.check("what the model is told meanwhile", result.code, "approval_required")
    return str(result.operation_id)


async def _kill_after_commit(stage: Stage, operation_id: str) -> None:
    async with asyncio.timeout(30):
        while not (await stage.provider.ledger(operation_id)).effects:  # noqa: ASYNC110 - another process
            await asyncio.sleep(LOOK_SECONDS)
    worker = stage.stack.pid("worker")
    await stage.stack.kill("worker")
    stage.telling.line(f"the ledger shows the refund: worker {worker} is killed (SIGKILL), its reply is lost")
    await stage.stack.start("worker")
    worker = stage.stack.pid("worker")
    silence = contracts.HEARTBEAT_TIMEOUT.total_seconds()
    stage.telling.line(f"worker {worker} takes over once the dead one has been silent for {silence:.0f} s")


async def _watch(telling: Telling, door: Onceward, operation_id: str) -> None:
    """Say each state that the operation comes to, until its end."""
    seen, said = "", asyncio.get_running_loop().time()
    while True:
        operation: Operation = await door.operation(operation_id)
        now = asyncio.get_running_loop().time()
        if operation.state != seen or now - said > SAY_SECONDS:
            telling.line(f"operation: {'still ' if operation.state == seen else ''}{operation.state}")
            seen, said = operation.state, now
        if operation.final:
            return
        await asyncio.sleep(LOOK_SECONDS)


async def _check_once(stage: Stage, agent: Conversation, turn: Turn) -> None:
    result = turn.results[0]
    operation_id = str(result.operation_id)
    ledger = await stage.provider.ledger(operation_id)
    said = await agent.last_words(turn)
    check = stage.telling.check
    check("receipt in the model's result", _receipt(turn), ledger.refunds[0]["refund_id"])
    check("the model's words name that receipt", str(_receipt(turn)) in said, True)
    check("side effects at the provider", ledger.effects, 1)
    check("posts to the provider", len(ledger.posts), 1)
    check("what befell that post", ledger.faults, ("commit-then-hang",))
    check("generation that recorded the outcome", await stage.evidence.generation(operation_id), 2)


async def _check_again(stage: Stage, first: Turn, again: Turn) -> None:
    ledger = await stage.provider.ledger(first.results[0].operation_id)
    measured = (_receipt(again), again.results[0].replayed)
    stage.telling.check("the same receipt / marked as replayed", measured, (_receipt(first), True))
    stage.telling.check("side effects and posts afterwards", (ledger.effects, len(ledger.posts)), (1, 1))


def _receipt(turn: Turn) -> str | None:
    data = turn.results[0].data
    return None if data is None else str(data["refund_id"])
