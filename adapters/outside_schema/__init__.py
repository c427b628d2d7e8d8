"""Arguments of tools whose schema comes from outside, held as strictly as those of our own models.

    schema = OutsideSchema(tool["inputSchema"])     # InvalidConfiguration: it cannot be held strictly
    arguments = schema.validated(parsed)            # CallRefused: invalid_arguments with details

JSON Schema 2020-12. Nothing is coerced, filled in or taken away. Beyond the standard: an object takes no field that
its schema does not speak of, at any depth; `1.0` is no integer and not the declared value `1`; formats are asserted;
patterns mean what ECMA-262 says and cost linear time. A schema that cannot be held like this is refused when it is
loaded: references out of the document, free-form objects and lists, other dialects' assertions, look-around.

    patterns   ECMA-262 on the linear engine          loading   what a schema must be
    formats    the formats that are asserted          closing   fields that nobody has declared
    keywords   the standard's keywords, strictly      details   the library's errors in our words
    places     where schemas stand inside a schema
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from adapters import strict_json
from adapters.outside_schema.closing import Closing
from adapters.outside_schema.details import details_of, unknown_field
from adapters.outside_schema.keywords import StrictValidator, TooMuchWork, counted_steps
from adapters.outside_schema.loading import loaded
from workflows.domain.errors import CallRefused, Detail

MOST_DETAILS: Final = 10
"""Faults told at once; whoever makes more of them begins with these."""


class OutsideSchema:
    """One tool's schema.

    `schema` is plain JSON as it was received. With `allow_free_form` objects and lists of which the schema says
    nothing may hold any JSON; where it names fields, others are refused all the same.

    Raises:
        InvalidConfiguration: `invalid_tool_schema`, saying why it cannot be held.
    """

    def __init__(self, schema: Any, *, allow_free_form: bool = False) -> None:
        self._validator = StrictValidator(loaded(schema, free_form=allow_free_form))
        self._closing = Closing(self._validator, free_form=allow_free_form)

    def validated(self, value: Any) -> Any:
        """Return `value` itself, which is JSON as `strict_json.parse` gives it.

        Raises:
            CallRefused: `invalid_arguments`, with at most `MOST_DETAILS` details.
        """
        details = self._faults(value)
        if details:
            raise CallRefused("invalid_arguments", details)
        return value

    def _faults(self, value: Any) -> list[Detail]:
        try:
            strict_json.exact(value)
        except (strict_json.StrictJsonError, RecursionError):
            return [Detail("", "invalid_value", "strict JSON of a sensible size and depth")]
        try:
            with counted_steps():
                return list(islice(dict.fromkeys(self._all_faults(value)), MOST_DETAILS))
        except (TooMuchWork, RecursionError):
            return [Detail("", "invalid_value", "a smaller or less nested value")]

    def _all_faults(self, value: Any) -> Iterator[Detail]:
        for error in islice(self._validator.iter_errors(value), MOST_DETAILS):
            yield from islice(details_of(error), MOST_DETAILS)
        yield from (unknown_field(path) for path in islice(self._closing.unknown(value), MOST_DETAILS))
