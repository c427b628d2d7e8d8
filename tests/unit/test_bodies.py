"""A body that does not come whole is nobody's fault here."""

from typing import Any

import pytest
from starlette.requests import Request

from adapters.http.bodies import whole_body
from adapters.http.problems import Problem


async def test_a_caller_who_hangs_up_before_the_end_is_refused_and_is_no_surprise() -> None:
    """As a surprise, each would fill a page of the log."""
    heard = iter([{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}])

    async def receive() -> Any:
        return next(heard)

    with pytest.raises(Problem) as refused:
        await whole_body(Request({"type": "http", "headers": []}, receive), 1000)
    assert (refused.value.status, refused.value.code) == (400, "invalid_json")
