"""A run's load and faults, made from the seed alone before anything is started: the same seed, the same plan."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tests.chaos.acts import DELIVERIES, Act, Delivery, Turn
from tests.chaos.load import acts_of, dealt
from tests.chaos.steps import Step, steps_of

SMALLEST = 36
"""Acts; with fewer there is no room for every kind of act and fault."""

PEOPLE_OF = {"tenant-a": ("user-17", "user-18"), "tenant-b": ("user-21",)}
SURFACES = ("anthropic-messages", "openai-chat")


@dataclass(frozen=True)
class Plan:
    """All that a run will do."""

    seed: int
    turns: tuple[Turn, ...]
    steps: tuple[Step, ...]

    @property
    def acts(self) -> tuple[Act, ...]:
        """In the order of their turns."""
        return tuple(act for turn in self.turns for act in turn.acts)


def plan_of(seed: int, operations: int) -> Plan:
    """The plan of that seed for so many acts."""
    if operations < SMALLEST:
        raise ValueError(f"a run has at least {SMALLEST} operations")
    chance = random.Random(f"{seed}/{operations}")
    turns = _turns(chance, seed, acts_of(chance, seed, operations))
    acts = [act for turn in turns for act in turn.acts]
    batches = [place for place, act in enumerate(acts) if act.items and act.allowed and act.word == "approve"]
    return Plan(seed, turns, steps_of(chance, operations, batches))


def _turns(chance: random.Random, seed: int, acts: Sequence[Act]) -> tuple[Turn, ...]:
    groups = list(_grouped(chance, acts))
    deliveries = dealt(chance, len(groups), dict.fromkeys(DELIVERIES, 1) | {"once": 5, "later": 2})
    return tuple(
        _turn(chance, seed, number, group, delivery)
        for number, (group, delivery) in enumerate(zip(groups, deliveries, strict=True))
    )


def _grouped(chance: random.Random, acts: Sequence[Act]) -> Iterator[tuple[Act, ...]]:
    """Some reads stand in one response with what was drawn before them."""
    group: list[Act] = []
    for act in acts:
        if group and (act.writes or len(group) == 3 or chance.random() < 0.5):
            yield tuple(group)
            group = []
        group.append(act)
    yield tuple(group)


def _turn(chance: random.Random, seed: int, number: int, acts: tuple[Act, ...], delivery: Delivery) -> Turn:
    tenant = chance.choices(("tenant-a", "tenant-b"), (7, 3))[0]
    if any(_only_in_a(act, delivery) for act in acts):
        tenant = "tenant-a"
    # Accounts that are shared are shared within a tenant.
    acts = tuple(replace(act, target=f"{act.target}-{tenant[-1]}") if "shared" in act.target else act for act in acts)
    return Turn(
        request_id=f"response-{seed}-{number}",
        tenant=tenant,
        subject=chance.choice(PEOPLE_OF[tenant]),
        surface=chance.choice(SURFACES),
        acts=acts,
        delivery=delivery,
        door=chance.randrange(2),
        lag=chance.randint(5, 40),
    )


CREDITS = ("credit_account", "credit_accounts")


def _only_in_a(act: Act, delivery: Delivery) -> bool:
    """Only tenant-a has a second approver of refunds, an approver of credits and of repeated ones, and an operator."""
    asked = act.word != "nobody" or delivery in ("again", "again later")
    return act.word in ("contested", "both") or act.review is not None or (act.tool in CREDITS and asked)
