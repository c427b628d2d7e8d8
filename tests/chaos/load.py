"""The acts of a run that need no order, drawn: of each kind at least one, whatever the seed."""

import random
from dataclasses import replace
from typing import TypeVar

from tests.chaos.acts import MOMENTS, REVIEWS, Act, Cancel, Moment, Review, Word

T = TypeVar("T")

UNASKED_UP_TO = 20_000
"""Won that one act may move unasked in these runs."""
SMALL, OF_MANY, LARGE, OF_TWO = 1_000, 10_000, 50_000, 2_000_000
"""Where amounts begin: below what may pass unasked, of each item of a batch, above it, and above what one person may
approve alone."""
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

REVIEW_FAULTS = ("commit-then-drop", "drop-before-commit")
"""A send whose answer was lost, and one that was never taken: what an operator finds out where no look-up can."""

SHARED_ACCOUNTS = 4
"""Accounts of each tenant to which many small credits go at once."""

FEWEST_ITEMS, MOST_ITEMS = 3, 30

PAUSES = (0.0, 0.0, 0.05, 0.2, 0.6)
"""Seconds from the moment of which a caller speaks to the wish."""

# How often each is drawn, by weight.
WORDS: dict[Word, int] = {"approve": 70, "deny": 12, "late": 10, "contested": 4, "both": 4}
WORDS_ON_BATCHES: dict[Word, int] = {"approve": 80, "deny": 8, "late": 12}
READS = {"get_order": 3, "get_credit_balance": 1, "prepare_refund": 1}
CREDITS = {"shared": 5, "own": 3, "approve": 4, "deny": 1, "late": 1}
"""Small ones to a shared account or one of their own, which nobody is asked about; large ones with people's word."""
FOREIGN = {"refund_payment": 1, "credit_account": 1, "credit_accounts": 1}

FAULTY, REVIEWED, CANCELLED, CLOSING = 0.4, 0.04, 0.12, 0.35
"""Parts of the acts that may meet it, beyond those of each kind that are certain."""


def acts_of(chance: random.Random, operations: int) -> list[Act]:
    """So many acts, in the order in which they are proposed. They have no names yet."""
    batches, credits_ = max(5, round(operations * 0.08)), max(5, round(operations * 0.2))
    foreign, reads = max(1, round(operations * 0.04)), max(3, round(operations * 0.12))
    refunds = operations - batches - credits_ - foreign - reads
    drawn = [
        *_refunds(chance, refunds),
        *_batches(chance, batches),
        *(_perhaps_cancelled(chance, credit(kind)) for kind in dealt(chance, credits_, CREDITS)),
        *(foreign_act(tool) for tool in dealt(chance, foreign, FOREIGN)),
        *(read(chance, tool) for tool in dealt(chance, reads, READS)),
    ]
    chance.shuffle(drawn)
    return drawn


def _refunds(chance: random.Random, number: int) -> list[Act]:
    """Every fault, word, wish and review at least once."""
    certain = [
        *(refund("approve", fault) for fault in REFUND_FAULTS),
        *(refund(word) for word in ("deny", "late")),
        *(cancelled(chance, refund("late" if moment == "asked" else "approve"), moment) for moment in MOMENTS),
        *(reviewed("resolved", fault) for fault in REVIEW_FAULTS),
        *(reviewed(review, chance.choice(REVIEW_FAULTS)) for review in ("abandoned", "left")),
    ]
    return [*certain, *(_any_refund(chance) for _ in range(number - len(certain)))][:number]


def _any_refund(chance: random.Random) -> Act:
    if chance.random() < REVIEWED:
        return reviewed(chance.choices(REVIEWS, (6, 2, 2))[0], chance.choice(REVIEW_FAULTS))
    word = chance.choices(list(WORDS), list(WORDS.values()))[0]
    faulty = word != "deny" and chance.random() < FAULTY
    return _perhaps_cancelled(chance, refund(word, chance.choice(REFUND_FAULTS) if faulty else ""))


def refund(word: Word, fault: str = "") -> Act:
    return Act("", "refund_payment", "keyed", "", OF_TWO if word == "both" else LARGE, word, fault)


def reviewed(review: Review, fault: str) -> Act:
    return replace(refund("approve", fault), review=review)


def _batches(chance: random.Random, number: int) -> list[Act]:
    """Each word, one with an account that closes and one that is cancelled in the middle at least."""
    certain = [
        _batch(chance, "approve", closing=True),
        cancelled(chance, _batch(chance, "approve"), "decided"),
        *(_batch(chance, word) for word in WORDS_ON_BATCHES),
    ]
    return [*certain, *(_any_batch(chance) for _ in range(number - len(certain)))][:number]


def _any_batch(chance: random.Random) -> Act:
    word = chance.choices(list(WORDS_ON_BATCHES), list(WORDS_ON_BATCHES.values()))[0]
    closing = word != "deny" and chance.random() < CLOSING
    return _perhaps_cancelled(chance, _batch(chance, word, closing=closing))


def _batch(chance: random.Random, word: Word, *, closing: bool = False) -> Act:
    """Many are small. The names of the items come later; here it is only said how many there are."""
    number = FEWEST_ITEMS + int((MOST_ITEMS - FEWEST_ITEMS + 1) * chance.random() ** 2)
    closes = chance.randint(1, number - 1) if closing else 0
    return Act("", "credit_accounts", "batch", "", OF_MANY, word, items=("",) * number, closes=closes)


def _perhaps_cancelled(chance: random.Random, act: Act) -> Act:
    return cancelled(chance, act, chance.choice(MOMENTS)) if chance.random() < CANCELLED else act


def cancelled(chance: random.Random, act: Act, moment: Moment) -> Act:
    return replace(act, cancel=Cancel(moment, chance.choice(PAUSES), chance.choice((1, 1, 2))))


def credit(kind: str) -> Act:
    if kind in ("shared", "own"):
        return Act("", "credit_account", "fenced", kind, SMALL)
    word: Word = "deny" if kind == "deny" else "late" if kind == "late" else "approve"
    return Act("", "credit_account", "fenced", "own", LARGE, word)


def foreign_act(tool: str) -> Act:
    if tool == "refund_payment":
        return Act("", tool, "keyed", "", LARGE, allowed=False)
    if tool == "credit_accounts":
        return Act("", tool, "batch", "", OF_MANY, items=("",) * FEWEST_ITEMS, allowed=False)
    return Act("", tool, "fenced", "", SMALL, allowed=False)


def read(chance: random.Random, tool: str) -> Act:
    fault = chance.choice(READ_FAULTS) if tool == "get_order" and chance.random() < FAULTY else ""
    return Act("", tool, "read", "", LARGE, fault=fault)


def named(chance: random.Random, act: Act, seed: int, number: int) -> Act:
    """With ids of its own, and an amount that no other act of the run has on the same object."""
    items = tuple(f"CA-{seed}-{number}-{place}" for place, _ in enumerate(act.items))
    repeats = tuple(f"call-{number}-again-{place}" for place, _ in enumerate(act.repeats))
    if items:
        target = items[-1]
    elif act.tool in ("credit_account", "get_credit_balance"):
        share = chance.randrange(SHARED_ACCOUNTS)
        target = f"CA-{seed}-shared-{share}" if act.target == "shared" else f"CA-{seed}-{number}"
    else:
        target = f"O-{seed}-{number}"
    amount = act.amount + number
    return replace(act, call_id=f"call-{number}", target=target, items=items, amount=amount, repeats=repeats)


def dealt(chance: random.Random, number: int, weights: dict[T, int]) -> list[T]:
    """So many drawn by weight, each at least once as far as they go, in no order."""
    each = list(weights)
    dealt = each[:number] + chance.choices(each, list(weights.values()), k=max(0, number - len(each)))
    chance.shuffle(dealt)
    return dealt
