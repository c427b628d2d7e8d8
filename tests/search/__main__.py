"""`python -m tests.search`: ask everything that is labelled, tell how much is found; exit code 1 below the target."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from adapters.tool_search import ToolIndex
from tests.search import labelled, measuring, report, timing


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and tell; the verdict is the last line."""
    parser = argparse.ArgumentParser(prog="python -m tests.search", description="Measure the tool search.")
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="also write figures.md and recall.svg there")
    parser.add_argument("--time", action="store_true", help="also tell how long a search takes on this machine")
    chosen = parser.parse_args(arguments)
    tables, groups, verdict = measured()
    if chosen.into:
        _keep(chosen.into, tables, groups)
    print(tables, *(timing.told() if chosen.time else ()), "", verdict, sep="\n")
    return 0 if verdict.passed else 1


def measured() -> tuple[str, dict[str, measuring.Figures], report.Verdict]:
    """The report, the figures behind it, and the verdict on them."""
    entries = labelled.catalog()
    index, names = ToolIndex(entries), frozenset(entry.name for entry in entries)
    answers = measuring.answers(index, names, labelled.wanted())
    refusals = measuring.refusals(index, names, labelled.unwanted())
    groups = dict(measuring.by_group(answers))
    return report.written(groups, answers, refusals), groups, report.verdict(groups, refusals)


def _keep(folder: Path, tables: str, groups: dict[str, measuring.Figures]) -> None:
    # Drawing takes longer to load than everything else takes to run.
    from tests.search import picture

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "figures.md").write_text(report.page(tables), encoding="utf-8")
    picture.keep(folder, groups)


if __name__ == "__main__":
    sys.exit(main())
