"""The one error of this client.

    OncewardError
        the door said no           `code`, `status` and `next_action` are the door's
        the door was not reached   `code` is `door_unreachable`, `status` is None
        the answer is not ours     `code` is `unexpected_answer`

After any of them the same response may be handed in again.
"""

from collections.abc import Mapping, Sequence
from typing import Any

RETRY_LATER = "retry_later"

PASSING = frozenset({429, 500, 502, 503, 504})
"""Statuses that speak of the door's state now, not of what was handed in."""


class OncewardError(Exception):
    """A request that brought no answer.

    `code` is stable, `title` and `detail` are words for people, `next_action` is what to do next (such as
    `propose_again` or `retry_later`) and `errors` names places that are at fault.
    """

    def __init__(
        self,
        code: str,
        title: str,
        *,
        status: int | None = None,
        next_action: str | None = None,
        detail: str = "",
        errors: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.code, self.title, self.status = code, title, status
        self.next_action, self.detail, self.errors = next_action, detail, tuple(errors)
        super().__init__(f"{code}: {title}{f' {detail}' if detail else ''}")

    @property
    def passing(self) -> bool:
        """Whether the same request may succeed later, unchanged."""
        return self.next_action == RETRY_LATER


def unreachable(failure: Exception) -> OncewardError:
    """No answer came. What was handed in may have arrived all the same; handing it in again is safe."""
    title = f"The door gave no answer ({type(failure).__name__})."
    return OncewardError("door_unreachable", title, next_action=RETRY_LATER)


def unexpected(status: int) -> OncewardError:
    """Something answered that is not the door, or not one that this client understands."""
    later = RETRY_LATER if status in PASSING else None
    title = f"HTTP {status} without an answer that this client understands."
    return OncewardError("unexpected_answer", title, status=status, next_action=later)


def refused(status: int, problem: Mapping[str, Any]) -> OncewardError:
    """A problem document (RFC 9457) as an error."""
    later = RETRY_LATER if status in PASSING else None
    return OncewardError(
        str(problem["code"]),
        str(problem.get("title", "")),
        status=status,
        next_action=problem.get("next_action") or later,
        detail=str(problem.get("detail", "")),
        errors=problem.get("errors") or (),
    )
