"""What every request and answer has in common: credentials, bodies, and the shape of an error."""

import hmac
from typing import Annotated, TypeVar

from fastapi import Depends, Request
from pydantic import BaseModel, SecretStr, ValidationError
from starlette.responses import JSONResponse

from examples.payments_provider.provider import Provider
from examples.payments_provider.refusals import Refusal, invalid_request

Body = TypeVar("Body", bound=BaseModel)


def provider_of(request: Request) -> Provider:
    """The provider that this application serves."""
    provider: Provider = request.app.state.provider
    return provider


Ours = Annotated[Provider, Depends(provider_of)]


def require_bearer(authorization: str | None, secret: SecretStr) -> None:
    """Refuses everybody who does not hold the secret."""
    expected = f"Bearer {secret.get_secret_value()}".encode()
    if not hmac.compare_digest((authorization or "").encode(), expected):
        raise Refusal("unauthorized", "The Authorization header does not carry a key that is known here.")


def parse(model: type[Body], body: bytes) -> Body:
    """The body as a value, or a refusal that names the wrong field."""
    try:
        return model.model_validate_json(body)
    except ValidationError as invalid:
        raise invalid_request(invalid) from None


def answer(body: BaseModel, status: int = 200) -> JSONResponse:
    """A value as JSON."""
    return JSONResponse(body.model_dump(mode="json"), status)
