"""What the gate costs one call: a refund that passes, each layer of its way, and a refusal by each layer."""

from collections.abc import Sequence
from typing import Final

from tests.bench.layers import layers
from tests.bench.measuring import Contest, Contestant, Group, Timings, Verdict, fast_enough, not_dearer, ratio
from tests.bench.refund import Case
from tests.bench.refusals import REFUSED, refusals

ANTHROPIC: Final = "anthropic-messages"
OPENAI: Final = "openai-chat"

TARGET_MS: Final = 0.3
"""Milliseconds that half of the refunds must stay under."""
DEAREST_REFUSAL: Final = 1.1
"""A refused call may cost as much as an accepted one; the tenth is what two equal calls differ on a busy machine."""


def contest() -> Contest:
    """Everything that is measured without a server."""
    first, second = Case.on(ANTHROPIC), Case.on(OPENAI)
    groups = [
        _group(f"A refund that passes, {ANTHROPIC}", _parts(first), first),
        _group(f"A refund that passes, {OPENAI}", _parts(second), second),
        _group(f"Where the time goes, {ANTHROPIC}", layers(first), first, parts=True),
        # Arguments are a text of their own on this surface, so they alone can fail to parse.
        _group(f"A refund that is refused, {OPENAI}", refusals(second), second),
    ]
    return Contest("gate", groups, _judge)


def _group(title: str, contestants: Sequence[Contestant], case: Case, *, parts: bool = False) -> Group:
    return Group(title, contestants, baseline=f"plain · {case.surface}", whole=f"gate · {case.surface}", parts=parts)


def _parts(case: Case) -> Sequence[Contestant]:
    where = case.surface
    return [
        Contestant(f"plain · {where}", "the baseline: json.loads, and pydantic over the arguments", case.plainly),
        Contestant(f"door · {where}", "from the bytes to a judged call with its hashes", case.door),
        Contestant(f"worker · {where}", "the look at the current state, and may_execute", case.worker),
        Contestant(f"gate · {where}", "the door's part and the worker's part", case.gate),
    ]


def _judge(timings: Timings) -> Sequence[Verdict]:
    accepted = [timings[f"gate · {surface}"] for surface in (ANTHROPIC, OPENAI)]
    refused = {name: ratio(each, accepted[1]) for name, each in timings.items() if name.startswith(REFUSED)}
    dearest = max(refused, key=lambda name: refused[name])
    return [
        not_dearer("gate", f"dearest refusal ({dearest.removeprefix(REFUSED)}) against a refund that passes",
                   refused[dearest], DEAREST_REFUSAL),
        fast_enough("gate", "a refund", max(accepted, key=lambda each: each.p50), TARGET_MS),
    ]  # fmt: skip
