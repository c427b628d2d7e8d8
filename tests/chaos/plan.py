"""A run's load and faults, made from the seed alone before anything is started: the same seed, the same plan."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, count

from tests.chaos.acts import DELIVERIES, Act, Delivery, Turn
from tests.chaos.load import acts_of, dealt, named
from tests.chaos.steps import Step, steps_of
from tests.chaos.turns import FEWEST_ACTS, turns_of

SMALLEST = 45
"""Acts; with fewer there is no room for every kind of act and fault."""
OUTSIDE_TURNS = 36
"""The same of those that stand in no response with several writes."""

IN_TURNS = 0.2
"""Part of the acts that stand in responses with several writes, unless it is said otherwise."""

PEOPLE_OF = {"tenant-a": ("user-17", "user-18"), "tenant-b": ("user-21",)}
SURFACES = ("anthropic-messages", "openai-chat")


@dataclass(frozen=True)
class Plan:
    """All that a run will do."""

    seed: int
    turns: tuple[Turn, ...]
    steps: tuple[Step, ...]
    in_turns: float | None = None
    """Unless it is as always."""

    @property
    def acts(self) -> tuple[Act, ...]:
        """In the order of their turns."""
        return tuple(act for turn in self.turns for act in turn.acts)


def plan_of(seed: int, operations: int, in_turns: float = IN_TURNS) -> Plan:
    """The plan of that seed for so many acts, with that part of them in responses with several writes."""
    together = max(FEWEST_ACTS, round(operations * in_turns))
    if operations < SMALLEST or operations - together < OUTSIDE_TURNS:
        raise ValueError(f"a run has at least {SMALLEST} operations, {OUTSIDE_TURNS} of them outside of such responses")
    chance = random.Random(f"{seed}/{operations}/{in_turns}")
    turns = _turns(chance, seed, _groups(chance, operations - together, together))
    steps = steps_of(chance, operations, _batches(turns), _ordered(turns))
    return Plan(seed, turns, steps, None if in_turns == IN_TURNS else in_turns)


def _batches(turns: Sequence[Turn]) -> list[int]:
    """The places of those that will be carried out."""
    acts = [act for turn in turns for act in turn.acts]
    return [place for place, act in enumerate(acts) if act.items and act.allowed and act.word == "approve"]


def _ordered(turns: Sequence[Turn]) -> list[int]:
    """The places at which responses with several writes begin."""
    places = accumulate((len(turn.acts) for turn in turns), initial=0)
    return [place for turn, place in zip(turns, places, strict=False) if turn.ordered]


def _groups(chance: random.Random, alone: int, together: int) -> list[tuple[Act, ...]]:
    """Those of each response, in the order in which they are proposed."""
    groups = list(_grouped(chance, acts_of(chance, alone)))
    for group in turns_of(chance, together):
        groups.insert(chance.randint(1, len(groups)), group)
    return groups


def _turns(chance: random.Random, seed: int, drawn: Sequence[tuple[Act, ...]]) -> tuple[Turn, ...]:
    numbers = count()
    groups = [tuple(named(chance, act, seed, next(numbers)) for act in group) for group in drawn]
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
