"""How much is measured."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """In each repeat every contestant has a turn with one caller and one with many, all turns in an order of chance.

    `warm_up` calls of each, untimed, with many callers at once; `alone` and `together` calls of each in a turn. The
    order comes from the `seed` alone.
    """

    warm_up: int = 32
    repeats: int = 5
    alone: int = 30
    together: int = 64
    seed: int = 20261201

    def words(self, contestants: int) -> str:
        """For people, before it begins."""
        return (
            f"{contestants} contestants, {self.warm_up} calls of each to warm up (not timed), then {self.repeats} "
            f"repeats of {self.alone} calls one after the other and {self.together} by many at once of each, in an "
            f"order of chance (seed {self.seed})"
        )


SHORT = Plan(warm_up=16, repeats=3, alone=12, together=32)
"""Ends within five minutes, and says less."""
