"""One strict JSON for everything: what is read is what is checked, shown, hashed and sent.

Readers of JSON differ on repeated keys, on NaN, on numbers beyond binary64 and on halves of surrogate pairs, so a
check and an effect could see two values in one text. Here each of those is refused, never repaired. Integers keep
every digit as `int`; all other numbers become `Decimal`, never `float`.
"""

import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Any, Final, NoReturn

import simplejson

from workflows.domain.errors import Detail

MAX_ARGUMENT_BYTES: Final = 1024 * 1024
"""Bytes of one call's arguments; far above what a model writes, far below what hurts a worker."""
MAX_DEPTH: Final = 64
"""Containers inside each other, when reading."""
MAX_WRITTEN_DEPTH: Final = 2 * MAX_DEPTH
"""The same when writing: whatever was read must still fit inside an envelope of ours."""
MAX_DIGITS: Final = 1_000
"""Characters of one number; below the length at which Python itself refuses to convert."""
EXPONENTS: Final = range(-324, 309)
"""Decimal exponents that binary64 can hold."""

EXPECTED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "duplicate_key": "each key once in its object",
        "non_finite_number": "finite numbers; JSON has no NaN and no Infinity",
        "number_overflow": f"numbers in the range of binary64, of at most {MAX_DIGITS} digits",
        "lone_surrogate": "whole Unicode characters, no half of a surrogate pair",
        "nul_character": "text without U+0000, which no database here can keep",
        "too_deep": f"at most {MAX_DEPTH} containers inside each other",
        "too_large": "a shorter text",
        "not_utf8": "UTF-8",
        "not_json": "one JSON value as RFC 8259 defines it",
    }
)
"""Every detail code with the words for what was expected instead."""

_STRING_OR_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
_TOO_MANY_DIGITS = 10**MAX_DIGITS
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")

_NUL_ESCAPE = "\\u0000"


class StrictJsonError(ValueError):
    """This is not strict JSON. `code` is one of `EXPECTED`; nothing that was received is repeated."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code

    def detail(self, path: str = "") -> Detail:
        """The error as one detail of a refusal; `path` points at the text, not into it."""
        return Detail(path, self.code, EXPECTED[self.code])


def parse(data: bytes | str, *, limit: int = MAX_ARGUMENT_BYTES) -> Any:
    """Read one JSON value from at most `limit` bytes.

    Raises:
        StrictJsonError: any deviation from strict JSON or any limit crossed, whichever is found first.
    """
    text = _text(data, limit)
    _require_depth(text)
    try:
        value = simplejson.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_decimal,
            parse_constant=_refuse_constant,
        )
    except simplejson.JSONDecodeError:
        raise StrictJsonError("not_json") from None
    if _SURROGATE_ESCAPE.search(text):
        _require_whole_characters(_written(value))
    if _NUL_ESCAPE in text and any("\0" in found for found in _texts(value)):
        raise StrictJsonError("nul_character")
    return value


def dump(value: Any) -> str:
    """Write `value` as compact JSON: integers and `Decimal` exactly, other than ASCII as it is.

    What `parse` returned is read back equal; a `Decimal` without a fraction may come back as the `int` of its value.

    Raises:
        StrictJsonError: the value has no strict JSON form (a key that is no string, NaN, bytes, a date, a cycle …).
    """
    _require_writable(value)
    text = _written(value)
    _require_whole_characters(text)
    return text


def exact(value: Any, *, limit: int = MAX_ARGUMENT_BYTES) -> Any:
    """Hold a value that arrived already parsed to the same rules; its floats become `Decimal`.

    Raises:
        StrictJsonError: as `dump` and `parse`.
    """
    return parse(dump(value), limit=limit)


def _text(data: bytes | str, limit: int) -> str:
    if len(data) > limit:
        raise StrictJsonError("too_large")
    text = _decoded(data) if isinstance(data, bytes) else data
    if isinstance(data, str) and len(_require_whole_characters(data)) > limit:
        raise StrictJsonError("too_large")
    if text.startswith("\ufeff"):  # the parser would skip a byte order mark; RFC 8259 lets nobody send one
        raise StrictJsonError("not_json")
    return text


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise StrictJsonError("not_utf8") from None


def _require_whole_characters(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise StrictJsonError("lone_surrogate") from None


def _require_depth(text: str) -> None:
    """Count brackets outside strings before the parser recurses into them."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        if depth > MAX_DEPTH:
            raise StrictJsonError("too_deep")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise StrictJsonError("duplicate_key")
    return value


def _integer(literal: str) -> int:
    _require_few_digits(literal)
    return int(literal)


def _decimal(literal: str) -> Decimal:
    _require_few_digits(literal)
    try:
        number = Decimal(literal)
    except InvalidOperation:
        raise StrictJsonError("number_overflow") from None
    _require_range(number)
    return number


def _require_few_digits(literal: str) -> None:
    if len(literal.removeprefix("-")) > MAX_DIGITS:
        raise StrictJsonError("number_overflow")


def _require_range(number: Decimal) -> None:
    if number.adjusted() not in EXPONENTS or math.isinf(float(number)):
        raise StrictJsonError("number_overflow")


def _refuse_constant(_: str) -> NoReturn:
    raise StrictJsonError("non_finite_number")


def _written(value: Any) -> str:
    text: str = simplejson.dumps(
        value, use_decimal=True, allow_nan=False, ensure_ascii=False, separators=(",", ":"), namedtuple_as_object=False
    )
    return text


def _require_writable(value: Any) -> None:
    """Walk without recursion; a cycle ends as too deep."""
    pending = [(value, 0)]
    while pending:
        item, depth = pending.pop()
        if depth > MAX_WRITTEN_DEPTH:
            raise StrictJsonError("too_deep")
        pending.extend((child, depth + 1) for child in _children(item))


def _texts(value: Any) -> Iterable[str]:
    """Every string in a value, keys included."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            pending.extend((*item, *item.values()))
        elif isinstance(item, list):
            pending.extend(item)


def _children(item: Any) -> Iterable[Any]:
    if isinstance(item, dict):
        if not all(isinstance(key, str) for key in item):
            raise StrictJsonError("not_json")
        return item.values()
    if isinstance(item, list | tuple):
        return item
    _require_scalar(item)
    return ()


def _require_scalar(item: Any) -> None:
    match item:
        case None | bool() | str():
            return
        case int() if abs(item) < _TOO_MANY_DIGITS:
            return
        case int():
            raise StrictJsonError("number_overflow")
        case Decimal() if item.is_finite():
            _require_range(item)
        case float() if math.isfinite(item):
            return
        case float() | Decimal():
            raise StrictJsonError("non_finite_number")
        case _:
            raise StrictJsonError("not_json")
