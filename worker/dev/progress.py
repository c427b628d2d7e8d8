"""What is said to the person in front of the terminal while the stack starts, runs and stops."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from worker.dev.layout import Links


class Progress(Protocol):
    """Whoever is told how far the stack is."""

    def begin(self, what: str) -> None:
        """Something starts that takes a moment."""

    def done(self, seconds: float) -> None:
        """It is ready."""

    def note(self, sentence: str) -> None:
        """Something happened that the person should know."""


class Silence:
    """For tests and demonstrations."""

    def begin(self, what: str) -> None:
        """Unsaid."""

    def done(self, seconds: float) -> None:
        """Unsaid."""

    def note(self, sentence: str) -> None:
        """Unsaid."""


class Terminal:
    """Plain lines, flushed at once, so that they are of use in a pipe as well."""

    def __init__(self) -> None:
        self._open = False

    def begin(self, what: str) -> None:
        """The line stays open until it is done."""
        self._say(f"  {what} ... ", end="")
        self._open = True

    def done(self, seconds: float) -> None:
        """Ends the line."""
        self._open = False
        self._say(f"{seconds:.1f} s")

    def note(self, sentence: str) -> None:
        """A line of its own."""
        # A line that was begun is ended first, or the sentence would stand in the middle of it.
        self._say(f"\n{sentence}" if self._open else sentence)
        self._open = False

    def _say(self, text: str, end: str = "\n") -> None:
        sys.stdout.write(text + end)
        sys.stdout.flush()


@contextmanager
def timed(progress: Progress, what: str) -> Iterator[None]:
    """Say that something starts, and how long it took."""
    began = time.monotonic()
    progress.begin(what)
    yield
    progress.done(time.monotonic() - began)


def welcome(links: Links, token_command: str, approval_command: str) -> str:
    """The block of links that stays on the screen."""
    return "\n".join(
        (
            "",
            "Onceward is up.",
            f"  door          {links.door}",
            f"  API           {links.door}/openapi.json",
            f"  back office   {links.back_office}",
            f"  console       {links.console}",
            f"  logs          {links.logs}",
            "",
            "To see an approval:",
            f"  {approval_command}",
            "",
            "A token for an agent:",
            f"  {token_command}",
            "",
            "Ctrl-C stops everything; the data stays for the next start.",
        )
    )
