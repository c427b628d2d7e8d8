"""RFC 9457 problem details: the one shape in which the HTTP doors say no.

    {"type": "urn:onceward:problem:not_found", "title": "…", "status": 404, "code": "not_found", "detail": "…"}

`code` is stable; `title` and `detail` are words of ours. Nothing that was received and nothing internal is repeated.
"""

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse, Response

MEDIA_TYPE = "application/problem+json"

ROUTING = {
    404: ("unknown_route", "There is nothing at this address."),
    405: ("method_not_allowed", "This address does not take that method."),
}
"""What the framework's own refusals are called here, by status."""

CODES = (
    "invalid_json",
    "invalid_request",
    "body_too_large",
    "too_many_requests",
    "http_error",
    *(code for code, _ in ROUTING.values()),
)
"""What is said of requests as such; all other codes of problems are the catalogue's or those of identities."""


class Problem(Exception):
    """An answer that is a refusal. `extra` members stand beside the standard ones."""

    def __init__(
        self,
        status: int,
        code: str,
        title: str,
        detail: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(code)
        self.status, self.code, self.title, self.detail = status, code, title, detail
        self.headers = dict(headers or {})
        self.extra = extra

    def body(self) -> dict[str, Any]:
        """The problem document."""
        document: dict[str, Any] = {
            "type": f"urn:onceward:problem:{self.code}",
            "title": self.title,
            "status": self.status,
            "code": self.code,
        }
        if self.detail:
            document["detail"] = self.detail
        return document | self.extra

    def response(self) -> Response:
        """The problem document as an HTTP answer."""
        return JSONResponse(self.body(), self.status, headers=self.headers, media_type=MEDIA_TYPE)
