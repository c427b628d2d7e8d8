"""The strict subset of OpenAI, for Chat Completions and Responses alike.

Each field must be given. A field that the original lets be left out takes null as well, and a null given for it means
that it was left out (`undoing`). So a field that may be left out *and* may be null has one value too many for this
subset: whichever of the two its null meant, the other could not be told any more. Such a schema is refused, with a
default of null too. The default does say what leaving the field out comes to, but pydantic writes it for every
`x: T | None = None`, also where the handler asks which fields were set so that null clears and absence keeps, and an
intent keeps the two apart. Only whoever knows the tool can say that they mean the same, with `null_is_absence`; the
null then stays a null.
"""

import re
from itertools import pairwise
from typing import Any, Final

from adapters.envelopes.strict import sizes
from adapters.envelopes.strict.dialect import Dialect
from adapters.envelopes.strict.form import Inexpressible, Json, StrictForm, refuse
from adapters.envelopes.strict.forming import formed
from adapters.envelopes.strict.source import Source
from adapters.envelopes.strict.undoing import Undoing

MOST_FIELDS: Final = 5_000
MOST_LEVELS: Final = 10
"""Objects and lists inside each other."""
MOST_CHARACTERS: Final = 120_000
"""Of all names and listed texts together."""
MOST_VALUES: Final = 1_000
"""Listed values of the whole schema."""

KEPT: Final = frozenset(
    {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"}
)
FORMATS: Final = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})

_TYPES: Final = ((bool, "boolean"), (str, "string"), (int, "integer"), (type(None), "null"))
_PIECE = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\(\?:|.", re.DOTALL)
_COMMON_ESCAPES: Final = re.compile(r"(?:[^\\]|\\[dDwWsSnrt.^$|()\[\]{}*+?/\\-])*", re.DOTALL)


def form(schema: Any, *, null_is_absence: bool = False) -> StrictForm | Inexpressible:
    """The strict form of a tool's JSON Schema 2020-12.

    `null_is_absence`: for a field whose default is null the tool does with null what it does when it is left out.
    """
    dialect = Dialect(_keeps, _literal, every_field=True, recursion=True, null_is_absence=null_is_absence)
    return formed(schema, dialect, _finished)


def _finished(source: Source, schema: Json, said: tuple[str, ...]) -> StrictForm:
    _require_size(schema)
    return StrictForm(schema, said, Undoing(source).undone)


def _require_size(schema: Json) -> None:
    names, values = sizes.names(schema), sizes.values(schema)
    texts = [value for value in values if isinstance(value, str)]
    for size, limit, what in (
        (sizes.fields(schema), MOST_FIELDS, "fields"),
        (sizes.levels(schema), MOST_LEVELS, "levels"),
        (sum(map(len, (*names, *texts))), MOST_CHARACTERS, "characters of names and listed values"),
        (len(values), MOST_VALUES, "listed values"),
    ):
        if size > limit:
            refuse(f"it has more than {limit} {what}", "")


def _keeps(keyword: str, value: Any) -> bool:
    if keyword == "pattern":
        return _is_plain(value)
    return value in FORMATS if keyword == "format" else keyword in KEPT


def _is_plain(pattern: str) -> bool:
    """Whether the pattern is the same found anywhere or matched from end to end, in signs that every engine knows."""
    pieces, depth = _PIECE.findall(pattern), 0
    if pieces[:1] != ["^"] or pieces[-1:] != ["$"] or not _COMMON_ESCAPES.fullmatch(pattern):
        return False
    for before, piece in pairwise(pieces[:-1]):
        depth += {"(": 1, "(?:": 1, ")": -1}.get(piece, 0)
        if piece in ("^", "$") or (piece == "|" and depth == 0) or (piece == "?" and before in "(*+?}"):
            return False
    return True


def _literal(values: list[Any]) -> Json:
    kinds = list(dict.fromkeys(map(_type, values)))
    return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": values}


def _type(value: Any) -> str:
    return next((name for kind, name in _TYPES if isinstance(value, kind)), "number")
