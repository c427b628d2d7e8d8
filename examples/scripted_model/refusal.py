"""Why a request gets no answer; each front tells it in the shape of its own API."""

from collections.abc import Mapping
from enum import Enum
from typing import Any


class Kind(Enum):
    """What is wrong, with the HTTP status that most APIs give it."""

    INVALID = 400
    UNAUTHENTICATED = 401
    UNKNOWN_MODEL = 404


class Refused(Exception):
    """The request is unfit; the message says where, in the API's manner."""

    def __init__(self, message: str, kind: Kind = Kind.INVALID) -> None:
        super().__init__(message)
        self.message, self.kind = message, kind


def require(body: Mapping[str, Any], members: Mapping[str, type], words: str = "{}: Field required") -> None:
    """Refuse a body that lacks a member, or has one of another kind."""
    for name, kind in members.items():
        if not isinstance(body.get(name), kind):
            raise Refused(words.format(name))
