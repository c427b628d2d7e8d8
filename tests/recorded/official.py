"""What the official packages say of an item, with their three traps avoided.

An adapter of a TypedDict drops unknown keys without a word, so what comes out is compared with what went in; an
`Iterable` is checked only while it is iterated; and the adapter must outlive that iteration.
"""

from typing import Any

from pydantic import TypeAdapter


class Shape:
    """A type of a package, given as a TypedDict or a union of them."""

    def __init__(self, kind: Any) -> None:
        self._adapter: TypeAdapter[Any] = TypeAdapter(kind)

    def of(self, item: Any) -> Any:
        """Return what the type keeps of `item`.

        Raises:
            pydantic.ValidationError: it is no such thing.
        """
        return thawed(self._adapter.validate_python(item))


def thawed(value: Any) -> Any:
    """Iterate everything, so that what is checked lazily is checked now."""
    if isinstance(value, dict):
        return {key: thawed(item) for key, item in value.items()}
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
        return value
    return [thawed(item) for item in value]
