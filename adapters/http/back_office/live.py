"""Lists that look again by themselves, without a script: the browser is told to open the page anew.

Only a page on which nothing is typed does so, it can be stopped, and it stops by itself: who has gone away is not kept
signed in by a window that they left open.
"""

import re
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from adapters.http.back_office.filters import Typed

SECONDS = 60
"""Between two looks."""

TIMES = 15
"""Looks after which it stops."""


@dataclass(frozen=True)
class Live:
    """How often the page will still look again: `left` is 0 once it has stopped or was stopped."""

    left: int

    @classmethod
    def read(cls, request: Request) -> "Live":
        """As the address says; a person who comes by themselves says nothing, and it begins anew."""
        said = request.query_params.get("live", str(TIMES))
        return cls(min(int(said), TIMES) if re.fullmatch(r"[0-9]{1,2}", said, re.ASCII) else 0)

    def keep(self, response: Response, typed: Typed) -> Response:
        """Have the page looked at again in a while."""
        if self.left:
            response.headers["Refresh"] = f"{SECONDS}; url={typed.link(live=str(self.left - 1))}"
        return response
