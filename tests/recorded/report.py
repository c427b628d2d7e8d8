"""What is said of a folder while it is read, and in the end."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.recorded.examination import Examination

HEADINGS = ("file", "exchanges", "calls", "hosted", "paused", "written", "refused")


@dataclass
class FileReport:
    """One file, counted."""

    name: str
    exchanges: int = 0
    calls: int = 0
    hosted: int = 0
    paused: int = 0
    read: int = 0
    to_write: int = 0
    written: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    def take(self, examination: Examination) -> None:
        """Count one exchange."""
        self.exchanges += 1
        self.calls += examination.calls
        self.hosted += examination.hosted
        self.paused += examination.paused
        self.read += examination.read
        self.to_write += examination.to_write
        self.written += examination.written
        self.refused.update([examination.refused] if examination.refused else [])

    @property
    def row(self) -> tuple[str, ...]:
        """The cells of the table, as under `HEADINGS`."""
        refused = ", ".join(f"{number} {code}" for code, number in sorted(self.refused.items())) or "-"
        counts = (self.exchanges, self.calls, self.hosted, self.paused, f"{self.written}/{self.to_write}")
        return (self.name, *map(str, counts), refused)


def table(reports: Sequence[FileReport]) -> str:
    """The rows under their headings, in columns; numbers to the right."""
    rows = [HEADINGS, *(report.row for report in reports)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return "\n".join(_line(row, widths) for row in rows)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *numbers, last = row
    cells = [cell.rjust(width) for cell, width in zip(numbers, widths[1:-1], strict=True)]
    return "  ".join([first.ljust(widths[0]), *cells, last])


def verdict(reports: Sequence[FileReport]) -> str:
    """The last line."""
    read, exchanges = sum(report.read for report in reports), sum(report.exchanges for report in reports)
    written, to_write = sum(report.written for report in reports), sum(report.to_write for report in reports)
    return f"read {read}/{exchanges}, written {written}/{to_write}"
