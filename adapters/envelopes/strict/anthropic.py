"""The strict subset of Anthropic Messages.

Fields may be left out, so what the model gives is what the original means and nothing has to be undone. Bounds of
values are said, all but the least number of items when it is one, and the formats that the provider holds itself.

The provider compiles all strict tools of one call together and limits them together: a set that goes beyond is refused
whole. `within_limits` says which tools of a set may be strict.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from adapters.envelopes.strict import sizes
from adapters.envelopes.strict.dialect import Dialect
from adapters.envelopes.strict.form import Inexpressible, Json, StrictForm, refuse
from adapters.envelopes.strict.forming import formed
from adapters.envelopes.strict.source import Source

MOST_TOOLS: Final = 20
MOST_OPTIONAL: Final = 24
"""Fields that may be left out."""
MOST_UNIONS: Final = 16
"""Places with a choice."""

FIELD_NAME: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""Names that the provider takes, in schemas that are not strict as well: one other name refuses the whole set."""
FORMATS: Final = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
)

_DIALECT: Final = Dialect(
    keeps=lambda keyword, value: (keyword == "format" and value in FORMATS) or (keyword == "minItems" and value == 1),
    literal=lambda values: {"enum": values},
    every_field=False,
    recursion=False,
)


def form(schema: Any) -> StrictForm | Inexpressible:
    """The strict form of a tool's JSON Schema 2020-12."""
    return formed(schema, _DIALECT, _finished)


def within_limits(forms: Iterable[StrictForm | Inexpressible]) -> list[bool]:
    """Which tools may be strict together: each in its turn, if what the provider allows is not used up by then."""
    tools, optional, unions, allowed = 0, 0, 0, []
    for each in forms:
        fits = isinstance(each, StrictForm) and (
            tools < MOST_TOOLS and optional + each.optional <= MOST_OPTIONAL and unions + each.unions <= MOST_UNIONS
        )
        if isinstance(each, StrictForm) and fits:
            tools, optional, unions = tools + 1, optional + each.optional, unions + each.unions
        allowed.append(fits)
    return allowed


def _finished(_: Source, schema: Json, said: tuple[str, ...]) -> StrictForm:
    found = StrictForm(schema, said, lambda arguments: arguments, sizes.optional(schema), sizes.unions(schema))
    if not all(FIELD_NAME.fullmatch(name) for name in sizes.names(schema)):
        refuse("a field has a name that the provider refuses", "")
    if found.optional > MOST_OPTIONAL:
        refuse(f"it has more than {MOST_OPTIONAL} fields that may be left out", "")
    if found.unions > MOST_UNIONS:
        refuse(f"it has more than {MOST_UNIONS} choices", "")
    return found
