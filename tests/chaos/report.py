"""The page about a run: what was done, what came of it, and how that was judged."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from statistics import median
from typing import Any

from tests.chaos.checker import Line, Verdict
from tests.chaos.evidence import Evidence
from tests.chaos.findings import BROKEN, DUPLICATE, FORBIDDEN, LOST, STUCK, WRONG

WIDEST = 40
"""Characters of the longest bar."""

WOULD_BE = {
    DUPLICATE: "two effects of one act, of one operation or of one item of a batch; two keys for one operation; the "
    "total of an order or an account that its effects do not add up to; two operations of one call that a response "
    "holds twice",
    LOST: "told or stored as succeeded without an effect, an item of a batch too, or stored as failed with one; "
    "promised and gone; never answered",
    WRONG: "told as failed with an effect; two different final answers; a final answer taken back; another call's "
    "result; success told before the end; other arguments under taken ids not refused; the model told something else "
    "than its caller; an item of a batch in no list of its answer, in two, or in the wrong one; a wish to cancel told "
    "as in time that was not, or as too late that stopped it; an end that is not what the operator said; given up "
    "without an operator's word; one call that a response holds twice answered in two ways; a write that ended "
    "otherwise than as cut off after an earlier one of its response had not succeeded, or as cut off when all had",
    FORBIDDEN: "an effect that was denied, told as cancelled, not approved by enough people, on another tenant's "
    "object, with other arguments, on an account that the batch does not name, or asked for by nobody; a handler "
    "called for what was refused; a word on record that no operator gave; an effect, a handler called or people asked "
    "before each earlier write of the response had succeeded, or a handler called before its reads had ended",
    STUCK: "at no true end and not before a person with a reason; ended with a workflow that is not, its own or that "
    "of its response; a word of an operator or a wish of a caller of which nothing has come",
    BROKEN: "an invariant that `python -m worker verify` finds broken, after the load or in the end",
}

COMPARED = """\
The checker is a pure function over what was collected from outside; it shares no code with the executor. It reads the
provider's own books (refunds, requests, payments, orders), the ledger's entries and balances, the executor's tables as
plain rows, the closing status of every workflow run in Temporal, every word of approvers and operators, and every
answer that any caller was given, to a proposal or to a wish to cancel, from the first to the last. A test plants each
kind of finding and sees that it is found. The executor's own audit is run besides, and taken at its word only where it
finds something."""

NONE_OR_ONE = """\
No act may have more than one. Those with none were denied, cancelled, refused or failed, and told so."""

REAL = """\
PostgreSQL, the Temporal dev server, the payments provider, two workers, two relays and two doors, each a process of its
own. People sign in to the back office over HTTP and send its own forms. The provider lets a quote serve more than once
in these runs, and every order could be refunded four times over: what keeps a refund from happening twice is the
executor and its key alone. A kill in mid-send waits a little for a send that is on record as begun, one in mid-batch
for an item that is being sent.

An account that closes behind its batch is closed by the ledger's owner once the drawn number of the others have got
theirs. Some refunds meet a lost answer or a send that was never taken while the provider refuses to look them up, for
good. After the load the moment of their first send is moved back by an hour, which brings them before the operator, who
finds the truth in the provider's books and says it in the back office, gives it up, or leaves it for now.

A part of the acts stands in responses with one to three reads and two or three writes, refunds and credits mixed. In
many of them one write is denied, cancelled by its caller, refused or given up; some ask for one of their acts twice.
When an effect was made is read from the books of the service that made it.

Load and faults come from the seed before anything starts, and are tied to how much was delivered. How they interleave
is for the machine to say, so a run repeats what it does and not every outcome."""


def written(evidence: Evidence, verdict: Verdict) -> str:
    """As Markdown."""
    return (
        "\n\n".join(
            (
                "# A run under faults",
                _summary(evidence, verdict),
                "## Effects of each single act",
                _histogram(verdict.histogram),
                NONE_OR_ONE,
                "## Effects of each item of a batch",
                _histogram(verdict.items),
                "The same holds for each account of each batch.",
                "## By class",
                _classes(verdict.classes),
                "## Responses with several writes",
                _bars(verdict.turns, "how it went"),
                "## What callers who cancelled were told",
                _bars(verdict.wishes, "told"),
                "## What operators said",
                _bars(verdict.words, "said"),
                "## Faults that were injected",
                _bars(dict(sorted(verdict.faults.items(), key=lambda each: each[0])), "fault"),
                "## Deliveries",
                _bars(verdict.deliveries, "how"),
                *_findings(verdict),
                "## What is compared",
                COMPARED,
                _table(("finding", "what would be one"), WOULD_BE.items()),
                "## What is real",
                REAL,
            )
        )
        + "\n"
    )


def _summary(evidence: Evidence, verdict: Verdict) -> str:
    in_turns = "" if evidence.in_turns is None else f" --in-turns {evidence.in_turns}"
    command = f"python -m tests.chaos --operations {verdict.acts} --seed {verdict.seed}{in_turns}"
    rows = (
        ("command", f"`{command}`"),
        ("verdict", f"**{verdict.sentence}**"),
        ("took", f"{evidence.seconds / 60:.1f} minutes"),
        ("faults", str(sum(verdict.faults.values()))),
        ("deliveries", str(len(evidence.answers))),
        ("words of approvers", str(len(evidence.said))),
        ("the executor's own audit", verdict.audit),
        ("from proposal to end", _times(evidence)),
        (
            "claims that were taken over",
            f"{verdict.taken_over}, of them {verdict.items_taken_over} of items of batches",
        ),
        ("handlers that were cut off in the middle", str(verdict.cut_off)),
        ("processes that died unasked", _ends(verdict.deaths) or "none"),
    )
    return _table(("", ""), rows)


def _times(evidence: Evidence) -> str:
    """How long operations took, those among them that people or faults held up."""
    ended = [row for row in evidence.rows("operations") if row["ended_at"]]
    seconds = sorted((_moment(row["ended_at"]) - _moment(row["created_at"])).total_seconds() for row in ended)
    if not seconds:
        return "none ended"
    return f"half within {median(seconds):.1f} s, the slowest {seconds[-1]:.0f} s"


def _moment(value: Any) -> datetime:
    return value if isinstance(value, datetime) else datetime.fromisoformat(value)


def _classes(classes: Mapping[str, Line]) -> str:
    rows = (
        (grade, str(line.acts), str(line.operations), str(line.effects), _ends(line.ends))
        for grade, line in classes.items()
    )
    return _table(("class", "acts", "operations", "effects", "how they ended"), rows)


def _ends(ends: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {end}" for end, number in ends.items())


def _findings(verdict: Verdict) -> tuple[str, ...]:
    found = [f"* {finding}" for finding in verdict.findings]
    asked = [f"* in manual review: {about} ({reason})" for about, reason in verdict.in_manual_review.items()]
    return ("## Found, or left to a person", "\n".join([*found, *asked])) if found or asked else ()


def _histogram(numbers: Mapping[int, int]) -> str:
    return _bars({f"{number}": count for number, count in numbers.items()}, "effects")


def _bars(numbers: Mapping[str, int], what: str) -> str:
    most = max(numbers.values(), default=1) or 1
    rows = ((name, str(number), "█" * round(WIDEST * number / most) or "·") for name, number in numbers.items())
    return _table((what, "number", ""), rows)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
