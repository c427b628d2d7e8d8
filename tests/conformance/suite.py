"""One run of the suite, and what it came to."""

import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from tests.conformance.workshop import Workshop

NOT_APPLICABLE: Final = Path(__file__).with_name("not_applicable.yaml")
SCENARIO: Final = re.compile(r"^[✓✗] ([\w/.-]+): (\d+) passed, (\d+) failed", re.MULTILINE)
NOT_SCORED: Final = re.compile(r"^  [✓✗] ([\w/.-]+) \((?!.*passed)", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """One leg for one revision. Scenarios that the suite scores either pass or stand in the list of reasons."""

    leg: str
    revision: str
    scored: int
    not_applicable: int
    checks: int
    beside: str
    passed: bool
    said: str

    @property
    def row(self) -> str:
        """As a line of the table."""
        applicable = self.scored - self.not_applicable
        came = f"{applicable} of {applicable}" if self.passed else f"fewer than {applicable} of {applicable}"
        return f"| {self.leg} | {self.revision} | {came} | {self.not_applicable} | {self.checks} | {self.beside} |"


def server(workshop: Workshop, revision: str, url: str) -> Run:
    """What a revision asks of servers."""
    return _run(workshop, "server", revision, "--url", url)


def client(workshop: Workshop, revision: str) -> Run:
    """What a revision asks of clients."""
    return _run(workshop, "client", revision, "--command", f"{sys.executable} -m tests.conformance.client")


def _run(workshop: Workshop, leg: str, revision: str, *target: str) -> Run:
    with tempfile.TemporaryDirectory() as output:
        asked = ("--requirements", revision, "--expected-failures", str(NOT_APPLICABLE), "-o", output)
        done = workshop.node(workshop.suite, leg, *target, *asked)
    said = done.stdout + done.stderr
    beside = set(NOT_SCORED.findall(said[said.find("Not scored for") :]))
    found = {name: (int(good), int(bad)) for name, good, bad in SCENARIO.findall(said)}
    excused = set(yaml.safe_load(NOT_APPLICABLE.read_text("utf-8"))[leg])
    scored = {name: counts for name, counts in found.items() if name not in beside}
    left_out = {name for name in scored if name in excused}
    whole = [name for name in beside if name in found and not found[name][1]]
    return Run(
        leg,
        revision,
        len(scored),
        len(left_out),
        sum(good for name, (good, _) in scored.items() if name not in left_out),
        f"{len(whole)} of {len(beside)}",
        done.returncode == 0 and bool(scored),
        said,
    )
