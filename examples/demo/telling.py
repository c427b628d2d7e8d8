"""What the person in front of the terminal reads: short plain lines with the seconds since the section began."""

import sys
import time
from typing import TextIO

WIDTH = 54
"""Columns for the name of a check; its value stands behind."""

GREEN, RED, BOLD, PLAIN = "\033[32m", "\033[31m", "\033[1m", "\033[0m"


class Telling:
    """Prints as things happen, and keeps count of what was checked."""

    def __init__(self, out: TextIO = sys.stdout) -> None:
        self._out, self._coloured = out, out.isatty()
        self._section = self._began = time.monotonic()
        self._starting = ""
        self.held = self.broken = 0

    def heading(self, words: str) -> None:
        """A new section; its clock starts."""
        self._section = time.monotonic()
        self._print(f"\n{self._in(BOLD, words)}")

    def line(self, words: str) -> None:
        """Something happened."""
        self._print(f"  {time.monotonic() - self._section:5.1f} s  {words}")

    def check(self, what: str, measured: object, expected: object) -> None:
        """Say what was measured, and whether that is what was promised."""
        if measured == expected:
            self.held += 1
            self._print(f"{self._in(GREEN, '       ok')}  {what:<{WIDTH}} {_said(measured)}")
        else:
            self.broken += 1
            promised = f"{_said(measured)}, promised {_said(expected)}"
            self._print(f"{self._in(RED, '   BROKEN')}  {what:<{WIDTH}} {promised}")

    def begin(self, what: str) -> None:
        """A process is started: the first half of what the stack tells its `Progress`."""
        self._starting = what

    def done(self, seconds: float) -> None:
        """And it can be used."""
        self.line(f"{self._starting} ready ({seconds:.1f} s)")

    def verdict(self) -> bool:
        """The last line; True when something was checked and everything held."""
        took = f"{time.monotonic() - self._began:.0f} s"
        if self.broken:
            self._print(f"\ndemo: {self.broken} of {self.held + self.broken} checks BROKEN ({took})")
        else:
            self._print(f"\ndemo: {self.held} checks held ({took})")
        return self.held > 0 and not self.broken

    def note(self, words: str) -> None:
        """A line without a clock."""
        self._print(words)

    def _in(self, colour: str, words: str) -> str:
        return f"{colour}{words}{PLAIN}" if self._coloured else words

    def _print(self, line: str) -> None:
        print(line, file=self._out, flush=True)


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return " / ".join(map(str, value))
    return str(value)
