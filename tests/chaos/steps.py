"""What goes wrong in a run, tied to how much was delivered and not to the clock."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

WORKERS = ("worker", "worker-2")
RELAYS = ("relay", "relay-2")
DOORS = ("api", "api-2")

EVERY = {
    "kill a worker": 40,
    "kill a worker in mid-send": 40,
    "kill a worker in mid-batch": 40,
    "kill both workers": 250,
    "kill a door": 40,
    "kill a relay": 60,
    "kill the provider": 60,
    "kill both doors and both relays": 250,
    "pause a worker": 60,
    "pause a worker past its lease": 125,
    "pause a worker in mid-batch": 60,
    "kill PostgreSQL": 250,
    "kill Temporal": 250,
    "refunds stay pending": 100,
    "look-ups fail": 60,
    "kill a worker in mid-turn": 40,
    "kill both doors as a turn comes": 100,
    "terminate a turn": 80,
    "cancel a turn": 80,
    "reset a turn": 80,
}
"""One of a kind for so many acts, and one at least."""

WITH_A_BATCH = ("kill a worker in mid-batch", "pause a worker in mid-batch", "pause a worker past its lease")
"""What comes right after a batch was proposed, which is then likely to be hit."""

AS_A_TURN_COMES = "kill both doors as a turn comes"
WITH_A_TURN = ("kill a worker in mid-turn", "terminate a turn", "cancel a turn", "reset a turn")
"""What comes right before a response with several writes is proposed, and right after."""

TARGETS: dict[str, tuple[tuple[str, ...], ...]] = {
    "kill a worker": tuple((name,) for name in WORKERS),
    "kill a worker in mid-send": tuple((name,) for name in WORKERS),
    "kill a worker in mid-batch": tuple((name,) for name in WORKERS),
    "kill both workers": (WORKERS,),
    "kill a door": tuple((name,) for name in DOORS),
    "kill a relay": tuple((name,) for name in RELAYS),
    "kill the provider": (("provider",),),
    "kill both doors and both relays": ((*DOORS, *RELAYS),),
    "pause a worker": tuple((name,) for name in WORKERS),
    "pause a worker past its lease": tuple((name,) for name in WORKERS),
    "pause a worker in mid-batch": tuple((name,) for name in WORKERS),
    "kill PostgreSQL": (("postgres",),),
    "kill Temporal": (("temporal",),),
    "refunds stay pending": ((),),
    "look-ups fail": ((),),
    "kill a worker in mid-turn": tuple((name,) for name in WORKERS),
    AS_A_TURN_COMES: (DOORS,),
    "terminate a turn": ((),),
    "cancel a turn": ((),),
    "reset a turn": ((),),
}
"""The processes that a kind may hit; which of them is drawn."""


@dataclass(frozen=True)
class Step:
    """Something goes wrong once `at` acts were delivered."""

    at: int
    kind: str
    targets: tuple[str, ...]


def steps_of(chance: random.Random, operations: int, batches: Sequence[int], turns: Sequence[int]) -> tuple[Step, ...]:
    """The steps of a run with so many acts: every kind, spread over the first nine tenths.

    `batches` are the places of those that will be carried out, `turns` those where responses with several writes begin.
    """
    kinds = [kind for kind, every in EVERY.items() for _ in range(max(1, round(operations / every)))]
    chance.shuffle(kinds)
    stretch = operations * 0.9 / len(kinds)
    places = [int((place + chance.random()) * stretch) for place, _ in enumerate(kinds)]
    steps = [
        Step(_at(kind, place, batches, turns), kind, chance.choice(TARGETS[kind]))
        for kind, place in zip(kinds, places, strict=True)
    ]
    return tuple(sorted(steps, key=lambda step: step.at))


def _at(kind: str, place: int, batches: Sequence[int], turns: Sequence[int]) -> int:
    """After how many acts: those before the place, and the act there too unless it has to come meanwhile."""
    if kind == AS_A_TURN_COMES:
        return max(1, _nearest(turns, place))
    if kind in WITH_A_TURN:
        return 1 + _nearest(turns, place)
    return 1 + (_nearest(batches, place) if kind in WITH_A_BATCH else place)


def _nearest(places: Sequence[int], place: int) -> int:
    return min(places, key=lambda each: abs(each - place))
