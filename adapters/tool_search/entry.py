"""What is indexed of a tool, and what a search finds."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True)
class Entry:
    """What people read of a tool. `argument_words`: its arguments, by their names or in words."""

    name: str
    title: str
    description: str
    tags: frozenset[str] = frozenset()
    argument_words: tuple[str, ...] = ()


class By(StrEnum):
    """What a tool was found by, the surest first."""

    NAME = "name"
    """It was called by its name."""
    TAG = "tag"
    """What was asked for, as a whole, is one of its tags."""
    WORDS = "words"
    """It shares words with what was asked for."""
    PATTERN = "pattern"
    """The regular expression is found in it."""


@dataclass(frozen=True)
class Found:
    """One tool. Scores compare within one answer only: the higher the better; equal ones stand in order of the name."""

    name: str
    by: By
    score: float
