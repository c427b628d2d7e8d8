"""What a revision asks of a server and of a client, by the suite's own list, and what came of it.

A scenario that applies to us passes; one that does not stands in `not_applicable.yaml` with its reason.
"""

import json
import re
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

import yaml

from tests.conformance.workshop import Workshop

NOT_APPLICABLE: Final = Path(__file__).with_name("not_applicable.yaml")


@dataclass(frozen=True)
class Run:
    """One leg for one revision. `beside` are scenarios that the suite runs and does not score, by how they went."""

    leg: str
    revision: str
    applicable: int
    not_applicable: int
    checks: int
    beside: str
    passed: bool
    said: str

    @property
    def row(self) -> str:
        """As a line of the table."""
        came = f"all {self.applicable}" if self.passed else f"not all {self.applicable}"
        return f"| {self.leg} | {self.revision} | {came} | {self.not_applicable} | {self.checks} | {self.beside} |"


def server(workshop: Workshop, revision: str, url: str) -> Run:
    """What a revision asks of servers, in one run of the suite."""
    asked, excused = _asked(workshop, revision, "server")
    with tempfile.TemporaryDirectory() as output:
        how = ("--requirements", revision, "--expected-failures", str(NOT_APPLICABLE), "-o", output)
        done = workshop.node(workshop.suite, "server", "--url", url, *how)
        found = _checks(Path(output), "server-")
    scored = {name: checks for name, checks in found.items() if name in asked}
    beside = [checks for name, checks in found.items() if name not in asked]
    return Run(
        "server",
        revision,
        len(asked - excused),
        len(excused),
        sum(_good(checks) for name, checks in scored.items() if name not in excused),
        f"{sum(map(_is_whole, beside))} of {len(beside)}",
        done.returncode == 0 and scored.keys() == asked,
        done.stdout + done.stderr,
    )


def client(workshop: Workshop, revision: str) -> Run:
    """What a revision asks of clients, one scenario after the other."""
    asked, excused = _asked(workshop, revision, "client")
    program = f"{sys.executable} -m tests.conformance.client"
    said, failed, good = "", 0, 0
    for scenario in sorted(asked - excused):
        with tempfile.TemporaryDirectory() as output:
            how = ("--scenario", scenario, "--spec-version", revision, "-o", output)
            done = workshop.node(workshop.suite, "client", "--command", program, *how)
            good += sum(map(_good, _checks(Path(output), "").values()))
        failed += done.returncode != 0
        said += done.stdout + done.stderr
    return Run("client", revision, len(asked - excused), len(excused), good, "–", not failed, said)


def _asked(workshop: Workshop, revision: str, leg: str) -> tuple[set[str], set[str]]:
    """The scenarios that the revision asks for, and those of them that do not apply."""
    asked = set(yaml.safe_load(workshop.requirements(revision).read_text("utf-8"))[leg])
    reasons = yaml.safe_load(NOT_APPLICABLE.read_text("utf-8"))[leg]
    return asked, {name for name in asked if any(fnmatch(name, reason) for reason in reasons)}


def _checks(output: Path, prefix: str) -> dict[str, list[Any]]:
    """The checks of each scenario, by its name: the folder's without the time at its end."""
    return {
        re.sub(r"-\d{4}-\d\d-\d\dT.*", "", str(path.parent.relative_to(output)).removeprefix(prefix)): json.loads(
            path.read_text("utf-8")
        )
        for path in sorted(output.rglob("checks.json"))
    }


def _good(checks: Iterable[Any]) -> int:
    return sum(check["status"] == "SUCCESS" for check in checks)


def _is_whole(checks: Iterable[Any]) -> bool:
    return all(check["status"] not in ("FAILURE", "WARNING") for check in checks)
