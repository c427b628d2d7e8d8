"""An outside schema as an argument model: as strict as our own, and shown to models as the server wrote it."""

import copy
from collections.abc import Collection
from decimal import Decimal
from typing import Any, ClassVar, Self

from pydantic import ConfigDict

from adapters.outside_schema import OutsideSchema
from workflows.domain.contract import Arguments
from workflows.domain.errors import CallRefused, Detail, InvalidConfiguration

Json = dict[str, Any]


class OutsideArguments(Arguments):
    """Base of the models that `arguments_model` makes; what they hold has no fields, only what was given."""

    model_config = ConfigDict(extra="allow")

    held_by: ClassVar[OutsideSchema]
    shown: ClassVar[Json]

    @classmethod
    def model_validate(cls, obj: Any, **_: Any) -> Self:
        """Return the arguments if they fit the schema; raises `CallRefused` with details otherwise."""
        given = cls.held_by.validated(obj)
        _require_sendable(given, "")
        return super().model_validate(given)

    @classmethod
    def model_json_schema(cls, *_: Any, **__: Any) -> Json:
        """The schema as the server wrote it, without what we fill in ourselves."""
        return copy.deepcopy(cls.shown)

    def value_of(self, name: str) -> Any:
        """One of the arguments; a name may be that of a method."""
        return (self.model_extra or {}).get(name, "")

    def one_form(self) -> Json:
        """What was given, each number in one spelling."""
        same: Json = _one_spelling(self.model_extra or {})
        return same

    @property
    def given(self) -> Json:
        """All of them, as plain JSON that any library writes down alike."""
        sendable: Json = plain(self.model_extra or {})
        return sendable


def arguments_model(name: str, schema: Json, ours: Collection[str], *, free_form: bool) -> type[OutsideArguments]:
    """The model of a tool's arguments without those that we fill in.

    Raises:
        InvalidConfiguration: the schema cannot be held strictly, or has no argument of a name that we fill in.
    """
    missing = sorted(set(ours) - schema.get("properties", {}).keys())
    if missing:
        raise InvalidConfiguration(f"The tool {name} has no argument {', '.join(missing)}.")
    shown = _without(schema, ours)
    try:
        held = OutsideSchema(shown, allow_free_form=free_form)
    except InvalidConfiguration as unfit:
        raise InvalidConfiguration(f"The tool {name} cannot be offered. {unfit}", unfit.code) from None
    return type("Arguments", (OutsideArguments,), {"held_by": held, "shown": shown, "__module__": __name__})


def plain(value: Any) -> Any:
    """JSON with numbers that every library writes as numbers."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return float(value) if isinstance(value, Decimal) else value


def _one_spelling(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _one_spelling(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_one_spelling(each) for each in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else value.normalize()
    return value


def _without(schema: Json, ours: Collection[str]) -> Json:
    shown = copy.deepcopy(schema)
    for name in ours:
        del shown["properties"][name]
    if "required" in shown:
        shown["required"] = [name for name in shown["required"] if name not in ours]
    return shown


def _require_sendable(value: Any, place: str) -> None:
    """The protocol's libraries write binary64; a number that it would change is not sent at all."""
    if isinstance(value, dict):
        for key, each in value.items():
            _require_sendable(each, f"{place}/{key}")
    elif isinstance(value, list):
        for position, each in enumerate(value):
            _require_sendable(each, f"{place}/{position}")
    elif isinstance(value, Decimal) and Decimal(repr(float(value))) != value:
        raise CallRefused("invalid_arguments", [Detail(place, "invalid_value", "a number of at most 15 digits")])
