"""The way from a schema to its form or the reason why there is none."""

from collections.abc import Callable
from typing import Any

from adapters.envelopes.strict.building import Building
from adapters.envelopes.strict.dialect import Dialect
from adapters.envelopes.strict.form import CannotExpress, Inexpressible, Json, StrictForm
from adapters.envelopes.strict.source import Source
from adapters.outside_schema.keywords import TooMuchWork, counted_steps
from workflows.domain.errors import InvalidConfiguration

Finish = Callable[[Source, Json, tuple[str, ...]], StrictForm]


def formed(schema: Any, dialect: Dialect, finish: Finish) -> StrictForm | Inexpressible:
    """The form of `schema` in a dialect; `finish` makes it of what was built, or refuses what is too large."""
    try:
        with counted_steps():
            source = Source(schema)
            building = Building(source, dialect)
            built = building.schema()
        return finish(source, built, building.said())
    except CannotExpress as refused:
        return refused.found
    except InvalidConfiguration as unfit:
        return Inexpressible(str(unfit))
    except (TooMuchWork, RecursionError):
        return Inexpressible("it takes too much work to see what it means")
