"""What the two OpenAI APIs have in common: credentials and the shape of an error."""

from collections.abc import Mapping
from typing import Any, Final

from examples.scripted_model.front import Json
from examples.scripted_model.refusal import Kind, Refused, require

CODES: Final[Mapping[Kind, str | None]] = {
    Kind.INVALID: None,
    Kind.UNAUTHENTICATED: "invalid_api_key",
    Kind.UNKNOWN_MODEL: "model_not_found",
}


def require_key(headers: Mapping[str, str]) -> None:
    """Refuse a request without a credential; any will do."""
    if not headers.get("authorization", "").startswith("Bearer "):
        raise Refused("You didn't provide an API key.", Kind.UNAUTHENTICATED)


def require_members(body: Mapping[str, Any], members: Mapping[str, type]) -> None:
    """Refuse a body that lacks a member."""
    require(body, members, "Missing required parameter: '{}'.")


def error(refused: Refused) -> tuple[int, Json]:
    """The status and body of an error."""
    told = {"message": refused.message, "type": "invalid_request_error", "param": None, "code": CODES[refused.kind]}
    return refused.kind.value, {"error": told}
