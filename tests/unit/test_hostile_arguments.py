"""Twelve thousand hostile texts through the intake: one result each, and nothing begins that is not valid."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import pytest

from adapters import strict_json
from adapters.envelopes import SURFACES
from adapters.intake.offers import Offers
from adapters.intake.searches import Searches
from adapters.intake.turns import TurnAnswer, TurnOrder, Turns
from adapters.intake.watch import Watch
from adapters.outside_schema import OutsideSchema
from tests.fakes.inbox import MemoryInbox
from tests.fakes.operations import MemoryProgress
from tests.fakes.world import World
from tests.support.hostile import Generator, Hostile, text_fits, valid_arguments
from tests.support.proposals import CALLER, CATALOG
from workflows.domain.contract import Contract
from workflows.domain.proposal import CallResult, Status
from workflows.messages import TurnRef

Json = dict[str, Any]

SEED = 20_260_131
IN_ALL = 12_000
CONTRACTS = CATALOG.all()
EACH = IN_ALL // len(CONTRACTS)
REFUSALS = {"invalid_arguments_json", "invalid_arguments"}
MIXED = {"mutated"}
"""Families of texts of which some happen to be valid."""


@dataclass
class Starter:
    """Counts what it is told to start."""

    started: list[str] = field(default_factory=list)

    async def start_write(self, operation_id: str, intent_hash: str, tool: str, tenant: str) -> None:
        self.started.append(operation_id)

    async def start_read(self, operation_id: str, intent_hash: str, tool: str, tenant: str) -> None:
        self.started.append(operation_id)

    async def start_turn(self, turn_id: str, ref: TurnRef) -> bool:
        self.started.append(turn_id)
        return True


@dataclass
class Door:
    """The intake over one world that remembers everything."""

    world: World = field(default_factory=World)
    starter: Starter = field(default_factory=Starter)
    turns: int = 0

    def __post_init__(self) -> None:
        watch = Watch(MemoryProgress(self.world), lambda: 0.0)
        offers = Offers(SURFACES, CATALOG)
        inbox, searches = MemoryInbox(self.world), Searches(CATALOG, offers)
        self.intake = Turns(SURFACES, CATALOG, inbox, self.starter, watch, offers=offers, searches=searches)

    async def take(self, tool: str, text: str) -> CallResult:
        self.turns += 1
        name = f"response-{self.turns}"
        order = TurnOrder("openai-chat", completion(tool, text, name), wait_seconds=0.0, conversation=name)
        answer = await self.intake.take(CALLER, order)
        (result,) = answer.results
        assert_told(answer, result)
        return result


def completion(tool: str, text: str, response_id: str) -> Json:
    asked = {"id": "call-1", "type": "function", "function": {"name": tool, "arguments": text}}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [asked]}}
    return {"id": response_id, "choices": [choice]}


def hostile(contract: Contract) -> Iterator[Hostile]:
    return Generator(valid_arguments(contract.schema), SEED).texts(EACH)


def assert_told(answer: TurnAnswer, result: CallResult) -> None:
    """The model gets exactly one answer to its one call."""
    (told,) = (message for message in answer.append if message["role"] == "tool")
    assert (result.call_id, told["tool_call_id"]) == ("call-1", "call-1")
    assert strict_json.parse(told["content"])["status"] == result.status.value


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.name)
async def test_hostile_arguments_begin_nothing_and_get_one_refusal_each(contract: Contract) -> None:
    door, schema, seen = Door(), OutsideSchema(contract.schema), Counter[str]()
    begun: set[str] = set()
    for each in hostile(contract):
        before = len(door.world.operations)
        result = await door.take(contract.name, each.text)
        if result.operation_id is None:
            assert_refused(result, before, door.world)
            assert not text_fits(schema, each.text), (each.family, each.text[:200])
            seen[result.error.code if result.error else ""] += 1
        else:
            assert each.family in MIXED, (each.family, each.text[:200])
            assert text_fits(schema, each.text), each.text
            if result.operation_id not in begun:  # else it is the act of an earlier text, which is still open
                assert door.world.kept(result.operation_id).operation.arguments == strict_json.parse(each.text)
            seen["valid"] += 1
            begun.add(result.operation_id)
    assert seen.total() == door.turns == EACH
    assert seen.keys() == {*REFUSALS, "valid"}
    assert seen["valid"] < EACH / 20
    assert door.world.operations.keys() == set(door.starter.started) == begun
    assert (door.world.entries, door.world.claims, door.world.approvals) == ([], {}, {})


def test_the_same_seed_gives_the_same_texts() -> None:
    valid = valid_arguments(CONTRACTS[0].schema)
    first, again = (list(Generator(valid, SEED).texts(2_000)) for _ in range(2))
    assert first == again


def test_there_are_ten_thousand_of_many_families() -> None:
    families = Counter(each.family for each in chain.from_iterable(map(hostile, CONTRACTS)))
    assert families.total() >= 10_000
    assert len(families) >= 10
    assert min(families.values()) >= 40


def assert_refused(result: CallResult, before: int, world: World) -> None:
    assert result.error is not None
    assert result.error.code in REFUSALS
    assert result.error.details
    assert (result.status, result.final, result.data) == (Status.FAILED_TERMINAL, True, None)
    assert len(world.operations) == before
