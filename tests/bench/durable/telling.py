"""What was measured, as a table for people and as JSON for later comparisons."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tests.bench.durable.figures import ALONE, TOGETHER, Found, Measured, Slot, more, slower
from tests.bench.durable.judging import PROVIDER_MS, baseline, beside
from tests.bench.durable.plan import Plan
from tests.bench.measuring import Verdict

HEAD = (
    f"{'':<30}{'p50 ms':>8}{'p95':>8}{'p99':>8}{'x base':>8}{'a second':>10}{'x base':>8}{'CPU ms':>8}"
    f"{'events':>8}{'bytes':>8}{'actions':>9}"
)


def progress(repeat: int, plan: Plan, name: str, callers: int, slot: Slot) -> str:
    """One line for each turn, as soon as it is over."""
    cpu = sum(slot.cpu_ms.values())
    return (
        f"  {repeat + 1}/{plan.repeats}  {name:<30}{callers:>3} at once{slot.p50_ms:9.1f} ms p50"
        f"{slot.per_second:9.1f} a second{cpu:8.1f} ms of a core each"
    )


def table(found: Found) -> str:
    """Everyone, for people."""
    lines = [line for each in found.values() for line in (_line(each, found), f"    {each.about}")]
    return "\n".join([f"\n{columns()}", HEAD, *lines])


def columns() -> str:
    """What they mean."""
    base = "an empty workflow, of reads an empty activity"
    return f"Latency with {ALONE} caller, throughput and CPU with {TOGETHER}; base: {base}"


def _line(each: Measured, found: Found) -> str:
    base, told, trail = found[baseline(each.name)], each.told, each.trail
    left = "" if trail is None else f"{trail.events:8.0f}{trail.bytes:8.0f}{trail.actions:9.0f}"
    return (
        f"  {each.name:<28}{told.p50:8.1f}{told.p95:8.1f}{told.p99:8.1f}{slower(each, base):8.2f}"
        f"{each.per_second:10.1f}{more(each, base):8.2f}{sum(each.cpu_ms.values()):8.1f}{left}"
    )


def work(found: Found) -> str:
    """Whose work an operation is: CPU by kind of process, and how much memory each kind holds at the end."""
    kinds = list(next(iter(found.values())).cpu_ms)
    head = f"\nms of a core for each call, with {TOGETHER} callers\n{'':<30}" + "".join(
        f"{_short(each):>10}" for each in kinds
    )
    lines = [f"  {each.name:<28}" + "".join(f"{each.cpu_ms[kind]:10.1f}" for kind in kinds) for each in found.values()]
    memory = {kind: max(each.memory_mb[kind] for each in found.values()) for kind in kinds}
    return "\n".join([head, *lines, f"  {'MB':<28}" + "".join(f"{memory[kind]:10.0f}" for kind in kinds)])


def page(found: Found, plan: Plan, verdicts: Sequence[Verdict], host: Mapping[str, Any]) -> str:
    """The run as a page of its own, beside the picture."""
    load = f"load {host['load_at_start']:.1f} at the start and {host['load_at_end']:.1f} at the end"
    return "\n".join(
        [
            "# The committed run of the contest about durability",
            "",
            "Written by the run itself; [how it is measured and how to read it](README.md#durability).",
            "",
            f"{host['date']}, {host['python']} on {host['cores']} cores of {host['cpu']}, {load}.",
            "",
            f"{plan.words(len(found))}. {columns()}.",
            "",
            "![Latency and throughput as multiples of the baseline](durable.svg)",
            "",
            "| | p50 ms | p95 | p99 | × base | a second | × base | CPU ms | events | bytes | actions |",
            "| --- " + "| ---: " * 10 + "|",
            *(_row(each, found) for each in found.values()),
            "",
            *(f"* {verdict}" for verdict in verdicts),
            f"* {beside(found)}",
            "",
        ]
    )


def _row(each: Measured, found: Found) -> str:
    base, told, trail = found[baseline(each.name)], each.told, each.trail
    left = ("", "", "") if trail is None else (f"{trail.events:.0f}", f"{trail.bytes:,.0f}", f"{trail.actions:.0f}")
    latency = (f"{told.p50:.1f}", f"{told.p95:.0f}", f"{told.p99:.0f}", f"{slower(each, base):.2f}")
    throughput = (f"{each.per_second:.0f}", f"{more(each, base):.2f}", f"{sum(each.cpu_ms.values()):.1f}")
    return "| " + " | ".join([each.name, *latency, *throughput, *left]) + " |"


def _short(kind: str) -> str:
    return kind.replace("restate_service", "r.service")


def as_json(found: Found, plan: Plan, verdicts: Sequence[Verdict], machine: Mapping[str, Any]) -> str:
    """Everything that was told, on what machine, and each repeat's own figures."""
    told = {
        "bench": "durable",
        "machine": machine,
        "plan": asdict(plan),
        "provider_ms": PROVIDER_MS,
        "contestants": [_figures(each, found) for each in found.values()],
        "verdicts": [{"words": str(verdict), "held": verdict.held} for verdict in verdicts],
        "beside": beside(found),
    }
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def _figures(each: Measured, found: Found) -> dict[str, Any]:
    base = found[baseline(each.name)]
    return {
        "name": each.name,
        "about": each.about,
        "baseline": base.name,
        "latency_ms": {name: round(value, 2) for name, value in each.told._asdict().items()},
        "latency_ratio": round(slower(each, base), 3),
        "per_second": round(each.per_second, 1),
        "throughput_ratio": round(more(each, base), 3),
        "cpu_ms_each": _rounded(each.cpu_ms),
        "memory_mb": _rounded(each.memory_mb),
        "history": None if each.trail is None else asdict(each.trail),
        "repeats": {
            "p50_ms": [round(slot.p50_ms, 2) for slot in each.alone],
            "per_second": [round(slot.per_second, 1) for slot in each.together],
        },
    }


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 2) for name, value in values.items()}
