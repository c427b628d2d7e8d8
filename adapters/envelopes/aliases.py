"""Names for surfaces that take fewer letters than the catalog: an alias is made from the name alone, on any machine."""

import hashlib
import re
from collections.abc import Iterable
from typing import Final

from adapters.envelopes.envelope import TOOL_NAME
from workflows.domain.errors import InvalidConfiguration

LONGEST: Final = 64
"""Characters of a name that every surface takes."""
DIGEST: Final = 10
"""Hexadecimal digits that tell apart names which read the same without what a surface does not take."""


class Aliases:
    """The aliases of all tools that can be offered.

    A name that every surface takes is its own alias; another one, such as `crm.contacts.find`, gets what can be kept of
    it and a digest. A name or an alias is known exactly as it is written.

    Raises:
        InvalidConfiguration: two names have one alias.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._aliases = {name: _alias(name) for name in names}
        self._names = {alias: name for name, alias in self._aliases.items()}
        if len(self._names) < len(self._aliases):
            raise InvalidConfiguration("Two tools have names that surfaces could not tell apart; rename one of them.")

    def alias_of(self, name: str) -> str:
        """What surfaces call the tool."""
        return self._aliases[name]

    def name_of(self, surface_name: str) -> str:
        """What the catalog calls the tool that a model named; a name that nobody has stays as it is."""
        return self._names.get(surface_name, surface_name)


def _alias(name: str) -> str:
    if TOOL_NAME.fullmatch(name):
        return name
    readable = re.sub(r"[^a-zA-Z0-9_-]+", "_", name).strip("_") or "tool"
    if not readable[0].isalpha():  # some surfaces want a letter or an underscore first
        readable = f"_{readable}"
    return f"{readable[: LONGEST - DIGEST - 1]}_{hashlib.sha256(_bytes(name)).hexdigest()[:DIGEST]}"


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")
