"""When two JSON values are the same."""

from collections.abc import Callable, Sequence
from typing import Any


def same(came: Any, went: Any) -> bool:
    """Whether two values are written alike, save for the order of members: true is not 1, and 1 is not 1.0."""
    if isinstance(came, dict) and isinstance(went, dict):
        return came.keys() == went.keys() and all(same(came[key], went[key]) for key in came)
    if isinstance(came, list) and isinstance(went, list):
        return len(came) == len(went) and all(same(one, other) for one, other in zip(came, went, strict=True))
    return type(came) is type(went) and came == went


def same_but_for_nulls(came: Any, went: Any) -> bool:
    """The same when a member that is null counts as none."""
    return same(without_nulls(came), without_nulls(went))


def without_nulls(value: Any) -> Any:
    """Return `value` without its null members, however deep."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def first_loss(
    came: Sequence[Any],
    went: Sequence[Any],
    may_change: Callable[[Any, Any], bool],
    may_go: Callable[[Any], bool],
) -> str | None:
    """Say what is lost on the way from `came` to `went`, both in their order; None: nothing.

    A piece has to arrive as it was, or changed as `may_change` allows, or not at all where `may_go` does.
    """
    position = 0
    for index, piece in enumerate(came):
        if position < len(went) and (same(piece, went[position]) or may_change(piece, went[position])):
            position += 1
        elif not may_go(piece):
            return f"piece {index} of {len(came)} did not come back as it was"
    return None if position == len(went) else f"piece {position} of {len(went)} that went back had not come"
