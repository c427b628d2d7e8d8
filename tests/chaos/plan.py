"""A run's load and faults, made from the seed alone before anything is started: the same seed, the same plan."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from tests.chaos.acts import DELIVERIES, Act, Delivery, Turn, Word
from tests.chaos.steps import Step, steps_of

T = TypeVar("T")

SMALLEST = 20
"""Acts; with fewer there is no room for every kind of fault."""

UNASKED_UP_TO = 20_000
"""Won that one act may move unasked in these runs."""
SMALL, LARGE, OF_TWO = 1_000, 50_000, 2_000_000
"""Where amounts begin: below what may pass unasked, above it, and above what one person may approve alone."""
TWO_APPROVERS_ABOVE = 1_000_000

REFUND_FAULTS = (
    "commit-then-drop",
    "drop-before-commit",
    "commit-late",
    "commit-then-hang",
    "commit-then-hang-long",
    "429",
    "500",
    "503",
    "422",
)
"""What the provider does to an approved refund; its own names, see `examples.payments_provider.faults`."""
READ_FAULTS = ("slow-read", "drop-before-commit", "429", "500", "503")

SHARED_ACCOUNTS = 4
"""Accounts of each tenant to which many small credits go at once."""

PEOPLE_OF = {"tenant-a": ("user-17", "user-18"), "tenant-b": ("user-21",)}
SURFACES = ("anthropic-messages", "openai-chat")

# How often each is drawn, by weight.
WORDS: dict[Word, int] = {"approve": 70, "deny": 12, "late": 10, "contested": 4, "both": 4}
READS = {"get_order": 3, "get_credit_balance": 1, "prepare_refund": 1}
CREDITS = {"shared": 5, "own": 3, "approve": 4, "deny": 1, "late": 1}
"""Small ones to a shared account or one of their own, which nobody is asked about; large ones with people's word."""


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
    return Plan(seed, _turns(chance, seed, _acts(chance, seed, operations)), steps_of(chance, operations))


def _acts(chance: random.Random, seed: int, operations: int) -> list[Act]:
    refunds, credits_ = round(operations * 0.55), round(operations * 0.23)
    foreign = max(1, round(operations * 0.04))
    reads = operations - refunds - credits_ - foreign
    drawn = [
        *(_refund(word, fault) for word, fault in _refund_roles(chance, refunds)),
        *(_credit(kind) for kind in _dealt(chance, credits_, CREDITS)),
        *(_foreign(tool) for tool in _dealt(chance, foreign, {"refund_payment": 1, "credit_account": 1})),
        *(_read(chance, tool) for tool in _dealt(chance, reads, READS)),
    ]
    chance.shuffle(drawn)
    return [_named(chance, act, seed, number) for number, act in enumerate(drawn)]


def _refund_roles(chance: random.Random, number: int) -> list[tuple[Word, str]]:
    """Every fault and every word at least once; beyond that two in five approved refunds meet a fault."""
    certain: list[tuple[Word, str]] = [*(("approve", fault) for fault in REFUND_FAULTS), ("deny", ""), ("late", "")]
    words = list(WORDS)
    while len(certain) < number:
        word = chance.choices(words, list(WORDS.values()))[0]
        faulty = word != "deny" and chance.random() < 0.4
        certain.append((word, chance.choice(REFUND_FAULTS) if faulty else ""))
    return certain[:number]


def _refund(word: Word, fault: str) -> Act:
    return Act("", "refund_payment", "keyed", "", OF_TWO if word == "both" else LARGE, word, fault)


def _credit(kind: str) -> Act:
    if kind in ("shared", "own"):
        return Act("", "credit_account", "fenced", kind, SMALL)
    word: Word = "deny" if kind == "deny" else "late" if kind == "late" else "approve"
    return Act("", "credit_account", "fenced", "own", LARGE, word)


def _foreign(tool: str) -> Act:
    if tool == "refund_payment":
        return Act("", tool, "keyed", "", LARGE, allowed=False)
    return Act("", tool, "fenced", "", SMALL, allowed=False)


def _read(chance: random.Random, tool: str) -> Act:
    fault = chance.choice(READ_FAULTS) if tool == "get_order" and chance.random() < 0.4 else ""
    return Act("", tool, "read", "", LARGE, fault=fault)


def _named(chance: random.Random, act: Act, seed: int, number: int) -> Act:
    if act.tool in ("credit_account", "get_credit_balance"):
        share = chance.randrange(SHARED_ACCOUNTS)
        target = f"CA-{seed}-shared-{share}" if act.target == "shared" else f"CA-{seed}-{number}"
    else:
        target = f"O-{seed}-{number}"
    return replace(act, call_id=f"call-{number}", target=target, amount=act.amount + number)


def _turns(chance: random.Random, seed: int, acts: Sequence[Act]) -> tuple[Turn, ...]:
    groups = list(_grouped(chance, acts))
    deliveries = _dealt(chance, len(groups), dict.fromkeys(DELIVERIES, 1) | {"once": 5, "later": 2})
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


def _only_in_a(act: Act, delivery: Delivery) -> bool:
    """Only tenant-a has a second approver of refunds, and an approver of credits, who are asked about repeated ones."""
    asked = act.word != "nobody" or delivery in ("again", "again later")
    return act.word in ("contested", "both") or (act.tool == "credit_account" and asked)


def _dealt(chance: random.Random, number: int, weights: dict[T, int]) -> list[T]:
    """So many drawn by weight, each at least once as far as they go, in no order."""
    each = list(weights)
    dealt = each[:number] + chance.choices(each, list(weights.values()), k=max(0, number - len(each)))
    chance.shuffle(dealt)
    return dealt
