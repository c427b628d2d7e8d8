"""What a provider's strict subset takes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from adapters.envelopes.strict.form import Json


@dataclass(frozen=True)
class Dialect:
    """One strict subset.

    `keeps(keyword, value)`: whether a keyword that bounds values may stay in the schema. `literal(values)`: the schema
    of these values. `every_field`: each field must be given, and null stands for one that is left out. `recursion`:
    a schema may refer to itself. `null_is_absence`: of a field that may be left out, that takes null and whose default
    is null, leaving out and null mean the same.
    """

    keeps: Callable[[str, Any], bool]
    literal: Callable[[list[Any]], Json]
    every_field: bool
    recursion: bool
    null_is_absence: bool = False
