"""What comes of asking for a schema's strict form: the form, or why there is none."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

Json = dict[str, Any]


@dataclass(frozen=True)
class StrictForm:
    """A schema in a provider's strict subset that takes everything the original takes.

    `said` are sentences for the tool's description: what the subset cannot hold and the original still decides.
    `undo` brings arguments that were given under this form back to what they mean under the original; it changes
    nothing else and never its argument. `optional` and `unions` count the fields that may be left out and the choices,
    each as often as it can be reached, where the provider limits them over all tools together; else they are 0.
    Numbers in `schema` are `int` and `Decimal`.
    """

    schema: Json
    said: tuple[str, ...]
    undo: Callable[[Any], Any] = field(compare=False)
    optional: int = 0
    unions: int = 0

    def described(self, description: str) -> str:
        """The tool's description with everything that is said."""
        return "\n".join((description, "", *self.said)) if self.said else description


@dataclass(frozen=True)
class Inexpressible:
    """The strict subset cannot hold this schema without changing it: offer the tool non-strict, as it is.

    `place` is a JSON Pointer into the original schema; `reason` never repeats what stands there.
    """

    reason: str
    place: str = ""


class CannotExpress(Exception):
    """Carries the `Inexpressible` to whoever asked for the form."""

    def __init__(self, reason: str, place: str) -> None:
        super().__init__(reason)
        self.found = Inexpressible(reason, place)


def refuse(reason: str, place: str) -> NoReturn:
    """Give up on the form; `place` is a JSON Pointer into the original schema."""
    raise CannotExpress(reason, place)


Schemas = tuple[Any, ...]
"""Schemas of the original that apply to one place together."""
Parts = tuple[Mapping[str, Any], ...]
"""The same with every `$ref` and `allOf` followed, so that none of the schemas has one."""
