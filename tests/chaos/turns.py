"""Responses with several writes, drawn: the writes are to be done in their order, and one of them may come to grief."""

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from tests.chaos.acts import MOMENTS, Act
from tests.chaos.load import (
    FAULTY,
    FOREIGN,
    READS,
    REFUND_FAULTS,
    REVIEW_FAULTS,
    cancelled,
    credit,
    dealt,
    foreign_act,
    read,
    refund,
    reviewed,
)

Fate = Literal["done", "denied", "cancelled", "refused", "given up"]
"""What becomes of one of the writes: as all others, a person's no, the caller's wish, the rules' or the service's no,
or an operator who gives up finding out."""

FATES: dict[Fate, int] = {"done": 5, "denied": 3, "cancelled": 3, "refused": 2, "given up": 1}

FEWEST_ACTS, MOST_ACTS = 3, 6
MOST_READS, MOST_WRITES = 3, 3

WRITES = {"refund": 5, "small credit": 3, "large credit": 2}
LATE, RESOLVED = 0.15, 0.12
"""Parts of the refunds that people are late with, and that cannot be looked up but by an operator, who finds out."""

STRUCK_BEFORE_THE_LAST = 0.75

REPEATED = 0.5
"""Part of the responses that ask for one of their acts twice; the first one always does."""

PASSING_FAULTS = tuple(fault for fault in REFUND_FAULTS if fault != "422")
"""After which a refund still succeeds."""


def turns_of(chance: random.Random, number: int) -> list[tuple[Act, ...]]:
    """So many acts in all, in groups of one response each. They have no names yet."""
    sizes = list(_sizes(chance, number))
    fates = dealt(chance, len(sizes), FATES)
    return [_turn(chance, size, fate, place) for place, (size, fate) in enumerate(zip(sizes, fates, strict=True))]


def _sizes(chance: random.Random, number: int) -> Iterator[int]:
    """They come to that number, which must be one that some sizes come to."""
    left = number
    while left:
        possible = [size for size in range(FEWEST_ACTS, MOST_ACTS + 1) if left - size >= FEWEST_ACTS or left == size]
        size = chance.choice(possible)
        yield size
        left -= size


def _turn(chance: random.Random, size: int, fate: Fate, place: int) -> tuple[Act, ...]:
    number = chance.choice([writes for writes in (2, MOST_WRITES) if 1 <= size - writes <= MOST_READS])
    writes = [_write(chance) for _ in range(number)]
    # Seldom the last one, after which there is nothing left that it could concern.
    writes[chance.randrange(number - (chance.random() < STRUCK_BEFORE_THE_LAST))] = _struck(chance, fate)
    acts = list(writes)
    for tool in chance.choices(list(READS), list(READS.values()), k=size - number):
        acts.insert(chance.randint(0, len(acts)), read(chance, tool))
    if place == 0 or chance.random() < REPEATED:
        repeated = chance.randrange(size)
        acts[repeated] = replace(acts[repeated], repeats=("",))
    return tuple(acts)


def _write(chance: random.Random) -> Act:
    """One that succeeds, whatever it meets."""
    kind = chance.choices(list(WRITES), list(WRITES.values()))[0]
    if kind != "refund":
        return credit(chance.choice(("shared", "own")) if kind == "small credit" else "approve")
    if chance.random() < RESOLVED:
        return reviewed("resolved", chance.choice(REVIEW_FAULTS))
    word: Literal["late", "approve"] = "late" if chance.random() < LATE else "approve"
    return refund(word, chance.choice(PASSING_FAULTS) if chance.random() < FAULTY else "")


def _struck(chance: random.Random, fate: Fate) -> Act:
    if fate == "denied":
        return chance.choice((refund("deny"), credit("deny")))
    if fate == "cancelled":
        return cancelled(chance, chance.choice((refund("approve"), credit("approve"))), chance.choice(MOMENTS))
    if fate == "refused":
        return chance.choice((refund("approve", "422"), *map(foreign_act, sorted(FOREIGN))))
    if fate == "given up":
        return reviewed("abandoned", chance.choice(REVIEW_FAULTS))
    return _write(chance)
