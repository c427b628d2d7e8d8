"""Everything that the provider refuses, with the HTTP status that says so.

    400  invalid_request, idempotency_key_required
    401  unauthorized
    404  not_found
    409  idempotency_in_flight, quote_consumed, quote_expired, quote_version_mismatch, order_exists
    422  amount_exceeds_refundable, amount_mismatch, currency_mismatch, idempotency_conflict, payment_changed,
         refused (by a switch)
    429  rate_limited (by a switch)
    500  internal_error
    503  unavailable (by a switch)

A refusal other than `idempotency_in_flight`, `internal_error` and `unavailable` promises that no money has moved for
this request.
"""

from typing import Final, Literal

from pydantic import ValidationError
from starlette.responses import JSONResponse

Code = Literal[
    "invalid_request",
    "idempotency_key_required",
    "unauthorized",
    "not_found",
    "idempotency_in_flight",
    "quote_consumed",
    "quote_expired",
    "quote_version_mismatch",
    "order_exists",
    "amount_exceeds_refundable",
    "amount_mismatch",
    "currency_mismatch",
    "idempotency_conflict",
    "payment_changed",
    "refused",
    "rate_limited",
    "internal_error",
    "unavailable",
]

STATUS: Final[dict[Code, int]] = {
    "invalid_request": 400,
    "idempotency_key_required": 400,
    "unauthorized": 401,
    "not_found": 404,
    "idempotency_in_flight": 409,
    "quote_consumed": 409,
    "quote_expired": 409,
    "quote_version_mismatch": 409,
    "order_exists": 409,
    "amount_exceeds_refundable": 422,
    "amount_mismatch": 422,
    "currency_mismatch": 422,
    "idempotency_conflict": 422,
    "payment_changed": 422,
    "refused": 422,
    "rate_limited": 429,
    "internal_error": 500,
    "unavailable": 503,
}


class Refusal(Exception):
    """The provider does not do what it was asked."""

    def __init__(self, code: Code, message: str, retry_after: int | None = None) -> None:
        """`retry_after` is in whole seconds, as the HTTP header has it."""
        super().__init__(message)
        self.code: Code = code
        self.message = message
        self.retry_after = retry_after

    def response(self) -> JSONResponse:
        """The refusal as the caller sees it."""
        headers = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        body = {"error": {"code": self.code, "message": self.message}}
        return JSONResponse(body, STATUS[self.code], headers)


def invalid_request(invalid: ValidationError) -> Refusal:
    """The first complaint about a body, with the place where it is."""
    first = invalid.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "body"
    return Refusal("invalid_request", f"{place}: {first['msg']}")
