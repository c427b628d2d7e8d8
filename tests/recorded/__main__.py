"""`python -m tests.recorded FOLDER`: read recorded exchanges and answer them, and say what was lost.

Exit code 0 when nothing was lost, 1 when something was, 2 when the folder is of no use.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from adapters.envelopes import SURFACES
from tests.recorded.examination import Examination, examine
from tests.recorded.exchange import UnusableFolder, exchanges_of, files_of
from tests.recorded.report import FileReport, table, verdict
from tests.recorded.wire import Adapter
from tests.recorded.wires import WIRES

NOTHING_LOST, LOST, UNUSABLE = 0, 1, 2

EVERY = 100
"""Exchanges between two words of progress."""


def main(arguments: Sequence[str] | None = None, adapters: Mapping[str, Adapter] = SURFACES) -> int:
    """Examine a folder; the verdict is the last line."""
    asked = _parser().parse_args(arguments)
    try:
        reports, losses = _examined(asked.folder, adapters)
    except UnusableFolder as unusable:
        print(unusable, file=sys.stderr)
        return UNUSABLE
    print(f"\n{table(reports)}\n")
    print(verdict(reports))
    return LOST if losses else NOTHING_LOST


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.recorded", description=__doc__)
    parser.add_argument("folder", type=Path, help="with *.jsonl, one exchange a line")
    return parser


def _examined(folder: Path, adapters: Mapping[str, Adapter]) -> tuple[list[FileReport], int]:
    reports, losses = [], 0
    surfaces = [surface for surface in WIRES if surface in adapters]
    for file in files_of(folder):
        report = FileReport(file.name)
        for exchange in exchanges_of(file, surfaces):
            found = examine(exchange, adapters[exchange.surface], WIRES[exchange.surface])
            report.take(found)
            losses += len(found.losses)
            _tell(file.name, found, report)
        reports.append(report)
        print(f"{file.name}: {report.exchanges} exchanges", flush=True)
    return reports, losses


def _tell(file: str, found: Examination, report: FileReport) -> None:
    for loss in found.losses:
        print(f"LOST {file} {found.exchange_id}: {loss}", flush=True)
    if found.refused and found.read:
        print(f"refused {file} {found.exchange_id}: {found.refused} ({found.reason})", flush=True)
    if report.exchanges % EVERY == 0:
        print(f"{file}: {report.exchanges} exchanges so far", flush=True)


if __name__ == "__main__":
    sys.exit(main())
