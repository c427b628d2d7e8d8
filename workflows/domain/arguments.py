"""Validation of arguments against a tool's own model: strict, nothing coerced, nothing echoed."""

import re
from itertools import islice
from typing import Any

from pydantic import ValidationError

from workflows.domain.contract import Arguments, Batch, Contract
from workflows.domain.errors import CallRefused, Detail

EXPECTED: dict[str, str] = {
    "missing": "a value",
    "extra_forbidden": "no such field",
    "string_type": "a string",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "bool_type": "true or false",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "dict_type": "an object",
    "list_type": "a list",
    "decimal_type": "a number",
    "one_of_both": "either response or events",
    "currency_missing": "a currency beside an amount",
    "int_parsing": "an integer",
    "bool_parsing": "true or false",
    "timezone_aware": "a moment with its time zone",
}
"""Our words for pydantic's; the validator's own names and the received value never leave."""

MOST_DETAILS = 100
"""Faults of one call that are told one by one; whoever has more will not mend them one by one."""

PLAIN_NAME = re.compile(r"[A-Za-z0-9_]{1,40}")

CODES: dict[str, str] = {"extra_forbidden": "unknown_field", "missing": "missing_field"}


def validated(contract: Contract, arguments: Any) -> Arguments:
    """Return the arguments as the tool's model.

    Raises:
        CallRefused: `invalid_arguments`, with one detail for each fault.
    """
    try:
        fitting = contract.arguments.model_validate(arguments)
    except ValidationError as error:
        faults = islice(error.errors(include_url=False), MOST_DETAILS)
        raise CallRefused("invalid_arguments", map(detail_of, faults)) from None
    if contract.batch is not None:
        _require_each_once(contract.batch, fitting)
    return fitting


class Parts:
    """Stored arguments, validated once, and the part that each effect is made of; raises as `validated` does."""

    def __init__(self, contract: Contract, arguments: Any) -> None:
        self._batch, self._whole = contract.batch, validated(contract, arguments)
        self._items = contract.batch.by_id(self._whole) if contract.batch else {}

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of a batch's items in their order, none for an operation with one effect."""
        return tuple(self._items)

    def of(self, item: str) -> Arguments:
        """The arguments of one effect: all of them, or those of one item of a batch."""
        if self._batch is None:
            return self._whole
        return self._whole.model_copy(update={self._batch.items: [self._items[item]]})


def _require_each_once(batch: Batch, arguments: Arguments) -> None:
    ids = batch.ids(arguments)
    if len(set(ids)) < len(ids):
        first = {item: position for position, item in reversed(list(enumerate(ids)))}
        again = [position for position, item in enumerate(ids) if first[item] != position]
        places = [f"/{batch.items}/{position}/{batch.item_id}" for position in again[:MOST_DETAILS]]
        raise CallRefused("invalid_arguments", [Detail(place, "duplicate_item", "each item once") for place in places])


def detail_of(fault: Any) -> Detail:
    """One of pydantic's errors in our words."""
    kind = fault["type"]
    return Detail(path=pointer(fault["loc"]), code=CODES.get(kind, _code(kind)), expected=_expected(kind, fault))


def _code(kind: str) -> str:
    return "invalid_type" if kind.endswith("_type") or kind == "int_from_float" else "invalid_value"


def _expected(kind: str, fault: Any) -> str:
    if kind in EXPECTED:
        return EXPECTED[kind]
    limits = fault.get("ctx", {})
    for name, words in (("expected", "one of {}"), ("pattern", "text that matches {}"), ("ge", "at least {}"),
                        ("gt", "more than {}"), ("le", "at most {}"), ("lt", "less than {}"),
                        ("min_length", "at least {} long"), ("max_length", "at most {} long")):  # fmt: skip
        if name in limits:
            return words.format(limits[name])
    return "a value that fits the schema"


def pointer(location: tuple[Any, ...]) -> str:
    """JSON Pointer to a place; a name may be the model's own invention, so only what looks like one is repeated."""
    return "".join(f"/{part if PLAIN_NAME.fullmatch(str(part)) else '?'}" for part in location)
