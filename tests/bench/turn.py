"""Three reads of one turn, which take 120, 280 and 200 ms behind the feeds, through the real door and real servers."""

import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx2

from tests.bench.measuring import Contest, Contestant, Group, Plan, Timings, Verdict, not_dearer, ratio
from tests.bench.servers import running
from worker.dev.issuer import mint
from worker.dev.stack import Stack

Call = tuple[str, dict[str, Any]]

WEATHER: Final[Call] = ("get_weather", {"city": "Seoul"})
STOCK: Final[Call] = ("get_stock_price", {"ticker": "ACME"})
NEWS: Final[Call] = ("search_news", {"topic": "ACME"})

SLOWEST: Final = "the slowest read by itself"
TOGETHER: Final = "the three reads in one turn"
APART: Final = "the three reads, a turn each"

TARGET: Final = 1.25
"""What a turn may take, as a multiple of its slowest read."""

PLAN: Final = Plan(warm_up=3, repeats=5, rounds=2, batch=3)


@contextmanager
def contest() -> Iterator[Contest]:
    """With the whole stack running beside it."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as (stack, _), _Door(stack) as door:
        contestants = [
            Contestant(SLOWEST, "the baseline: 280 ms behind the feed", lambda: door.turn(STOCK)),
            Contestant(TOGETHER, "120, 280 and 200 ms, side by side", lambda: door.turn(WEATHER, STOCK, NEWS)),
            Contestant(APART, "the same, one after another", lambda: door.turns(WEATHER, STOCK, NEWS)),
        ]
        yield Contest("turn", [Group("Reads through the door", contestants, SLOWEST, APART)], _judge, PLAN)


def _judge(timings: Timings) -> Sequence[Verdict]:
    dearer = ratio(timings[TOGETHER], timings[SLOWEST])
    return [not_dearer("turn", "three reads against the slowest one alone", dearer, TARGET)]


class _Door:
    """An agent's loop at the door."""

    def __init__(self, stack: Stack) -> None:
        trust = stack.environment("issuer")
        token = mint(
            stack.links.logs.parent / "issuer",
            issuer=trust["ONCEWARD_ISSUER"],
            audience=trust["ONCEWARD_AUDIENCE"],
            subject="user-17",
            tenant="tenant-a",
            roles=["analyst"],
            agent="bench",
        )
        headers = {"Authorization": f"Bearer {token}"}
        self._http = httpx2.Client(base_url=stack.links.door, headers=headers, timeout=60)

    def __enter__(self) -> "_Door":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def turn(self, *calls: Call) -> None:
        """Hand in a response with these calls, and get every answer."""
        blocks = [
            {"type": "tool_use", "id": f"call-{place}", "name": tool, "input": given}
            for place, (tool, given) in enumerate(calls)
        ]
        response = {"id": secrets.token_hex(12), "role": "assistant", "content": blocks, "stop_reason": "tool_use"}
        body = {"surface": "anthropic-messages", "response": response, "wait_seconds": 30}
        answer = self._http.post("/v1/turns", json=body).raise_for_status().json()
        if not all(result["status"] == "succeeded" for result in answer["results"]):
            raise RuntimeError("a read did not succeed")

    def turns(self, *calls: Call) -> None:
        """The same calls, each in a response of its own."""
        for call in calls:
            self.turn(call)
