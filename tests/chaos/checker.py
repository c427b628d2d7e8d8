"""The judge of a run: a pure function over what was collected. It shares no code with what it judges."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tests.chaos import answers, effects, ends
from tests.chaos.evidence import Evidence
from tests.chaos.findings import DUPLICATE, ENDS, FORBIDDEN, KINDS, LOST, STUCK, WRONG, Finding, Sorted

GRADES = ("keyed", "fenced", "read")


@dataclass(frozen=True)
class Line:
    """One class of acts in figures. `ends` counts operations by how they ended, with the code of failures."""

    acts: int
    operations: int
    effects: int
    ends: Mapping[str, int]


@dataclass(frozen=True)
class Verdict:
    """What came of a run. `histogram` counts the writes among the acts by their number of effects."""

    seed: int
    acts: int
    histogram: Mapping[int, int]
    classes: Mapping[str, Line]
    findings: tuple[Finding, ...]
    in_manual_review: tuple[str, ...]
    deliveries: Mapping[str, int]
    taken_over: int
    """Claims that had more than one holder."""
    cut_off: int
    """Calls of a handler whose end nobody has recorded."""
    faults: Mapping[str, int]
    deaths: Mapping[str, int]

    @property
    def holds(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def number(self, kind: str) -> int:
        """Findings of a kind."""
        return sum(finding.kind == kind for finding in self.findings)

    @property
    def sentence(self) -> str:
        """The last line of a run."""
        forbidden, stuck = self.number(FORBIDDEN), self.number(STUCK)
        return ", ".join(
            (
                f"faults: {self.acts} operations",
                f"{self.number(DUPLICATE)} duplicates",
                f"{self.number(LOST)} lost",
                f"{self.number(WRONG)} wrong answers",
                *([f"{forbidden} forbidden effects"] if forbidden else []),
                *([f"{stuck} stuck"] if stuck else []),
                f"{len(self.in_manual_review)} in manual review",
                f"seed {self.seed}",
            )
        )


def check(evidence: Evidence) -> Verdict:
    """Judge."""
    found = Sorted(evidence)
    everything = {
        *effects.check(found),
        *answers.check(found),
        *answers.check_last_answers(found),
        *ends.check(found),
    }
    return Verdict(
        seed=evidence.seed,
        acts=len(evidence.acts),
        histogram=_histogram(found),
        classes={grade: _line(found, grade) for grade in GRADES},
        findings=tuple(sorted(everything, key=lambda finding: (KINDS.index(finding.kind), finding.about))),
        in_manual_review=tuple(
            operation_id for operation_id, row in found.operations.items() if ends.in_manual_review(found, row)
        ),
        deliveries=_deliveries(evidence),
        taken_over=sum(claim["generation"] > 1 for claim in evidence.rows("claims")),
        cut_off=sum(call.get("ended_at") is None for call in evidence.rows("handler_calls")),
        faults=evidence.faults,
        deaths=evidence.deaths,
    )


def _histogram(found: Sorted) -> dict[int, int]:
    counted = Counter(len(found.effects_by_act[act.target, act.amount]) for act in found.evidence.acts if act.writes)
    return dict(sorted(counted.items()))


def _line(found: Sorted, grade: str) -> Line:
    acts = [act for act in found.evidence.acts if act.grade == grade]
    mine = {act.call_id for act in acts}
    operations = [row for key, row in found.operations.items() if _call_of(found, key) in mine]
    return Line(
        acts=len(acts),
        operations=len(operations),
        effects=sum(len(found.effects_by_operation.get(row["operation_id"], [])) for row in operations),
        ends=dict(Counter(_end_of(row["state"], row["code"]) for row in operations).most_common()),
    )


def _call_of(found: Sorted, operation_id: str) -> str:
    act = found.act_of_operation.get(operation_id)
    return act.call_id if act else ""


def _end_of(state: str, code: str | None) -> str:
    return f"{state} ({code})" if state in ENDS and code else state


def _deliveries(evidence: Evidence) -> dict[str, int]:
    """Deliveries by what they were, and those that brought no answer."""
    counted = Counter(answer.how for answer in evidence.answers)
    unanswered = sum(answer.status != 200 for answer in evidence.answers)
    return dict(counted.most_common()) | {"without an answer": unanswered}
