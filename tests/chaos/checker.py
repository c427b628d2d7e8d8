"""The judge of a run: a pure function over what was collected. It shares no code with what it judges."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.chaos import answers, batches, effects, ends, order, reviews, wishes
from tests.chaos.evidence import Evidence, Row
from tests.chaos.findings import BROKEN, DUPLICATE, ENDS, FORBIDDEN, KINDS, LOST, STUCK, WRONG, Finding, Sorted

GRADES = ("keyed", "fenced", "batch", "read")


@dataclass(frozen=True)
class Line:
    """One class of acts in figures. `ends` counts operations by how they ended, with the code of failures."""

    acts: int
    operations: int
    effects: int
    ends: Mapping[str, int]


@dataclass(frozen=True)
class Verdict:
    """What came of a run.

    `histogram` counts the acts that are one write each by their number of effects, `items` the items of batches, and
    `turns` the responses with several writes by how they went.
    `wishes` and `words` count what callers were told who cancelled, and what operators said.
    """

    seed: int
    acts: int
    histogram: Mapping[int, int]
    items: Mapping[int, int]
    turns: Mapping[str, int]
    classes: Mapping[str, Line]
    findings: tuple[Finding, ...]
    in_manual_review: Mapping[str, str]
    """With the reason."""
    wishes: Mapping[str, int]
    words: Mapping[str, int]
    audit: str
    """What the executor itself said of its database in the end."""
    deliveries: Mapping[str, int]
    taken_over: int
    """Claims that had more than one holder, those of items included."""
    items_taken_over: int
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
        rare = ((FORBIDDEN, "forbidden effects"), (STUCK, "stuck"), (BROKEN, "broken invariants"))
        return ", ".join(
            (
                f"faults: {self.acts} operations",
                f"{self.number(DUPLICATE)} duplicates",
                f"{self.number(LOST)} lost",
                f"{self.number(WRONG)} wrong answers",
                *(f"{self.number(kind)} {words}" for kind, words in rare if self.number(kind)),
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
        *batches.check(found),
        *wishes.check(found),
        *reviews.check(found),
        *ends.check(found),
        *order.check(found),
        *_broken(evidence),
    }
    return Verdict(
        seed=evidence.seed,
        acts=len(evidence.acts),
        histogram=_histogram(found, items=False),
        items=_histogram(found, items=True),
        turns=dict(Counter(order.told(found)).most_common()),
        classes={grade: _line(found, grade) for grade in GRADES},
        findings=tuple(sorted(everything, key=lambda finding: (KINDS.index(finding.kind), finding.about))),
        in_manual_review={
            operation_id: ends.reason(found, operation_id)
            for operation_id, row in found.operations.items()
            if ends.in_manual_review(found, row)
        },
        wishes=dict(Counter(wish.code or "no answer" for wish in evidence.wishes).most_common()),
        words=dict(Counter(word.finding for word in evidence.resolved if word.status == 200).most_common()),
        audit=evidence.audits[-1].sentence if evidence.audits else "",
        deliveries=_deliveries(evidence),
        taken_over=sum(claim["generation"] > 1 for claim in evidence.rows("claims")),
        items_taken_over=sum(claim["generation"] > 1 and claim["item"] != "" for claim in evidence.rows("claims")),
        cut_off=sum(call.get("ended_at") is None for call in evidence.rows("handler_calls")),
        faults=evidence.faults,
        deaths=evidence.deaths,
    )


def _broken(evidence: Evidence) -> Iterator[Finding]:
    """What the executor itself found broken in its own rows; an audit that could not be made has found nothing out."""
    for audit in evidence.audits:
        if audit.exit_code:
            yield Finding(BROKEN, f"worker verify {audit.moment}", "; ".join(audit.broken) or audit.sentence)


def _histogram(found: Sorted, *, items: bool) -> dict[int, int]:
    acts = [act for act in found.evidence.acts if act.writes and bool(act.items) == items]
    counted = Counter(len(found.effects_by_act[each, act.amount]) for act in acts for each in act.objects)
    return dict(sorted(counted.items()))


def _line(found: Sorted, grade: str) -> Line:
    acts = [act for act in found.evidence.acts if act.grade == grade]
    mine = {act.call_id for act in acts}
    operations = [row for key, row in found.operations.items() if _call_of(found, key) in mine]
    return Line(
        acts=len(acts),
        operations=len(operations),
        effects=sum(len(found.effects_by_operation.get(row["operation_id"], [])) for row in operations),
        ends=dict(Counter(_end_of(row) for row in operations).most_common()),
    )


def _call_of(found: Sorted, operation_id: str) -> str:
    act = found.act_of_operation.get(operation_id)
    return act.call_id if act else ""


def _end_of(row: Row) -> str:
    """With its code or, where a batch has succeeded, how much of it."""
    how = row["code"] or (batches.stored(row).get("outcome") if row["state"] == "succeeded" else None)
    return f"{row['state']} ({how})" if row["state"] in ENDS and how else str(row["state"])


def _deliveries(evidence: Evidence) -> dict[str, int]:
    """Deliveries by what they were, and those that brought no answer."""
    counted = Counter(answer.how for answer in evidence.answers)
    unanswered = sum(answer.status != 200 for answer in evidence.answers)
    return dict(counted.most_common()) | {"without an answer": unanswered}
