"""Whether this process can do its work now: the database answers, and so does Temporal."""

import asyncio
from collections.abc import Awaitable, Mapping

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from temporalio.client import Client

from adapters.postgres.engine import Database
from worker import process
from workflows.domain.errors import InvalidConfiguration

PATIENCE_SECONDS = 3.0
"""For each of the two: a load balancer asks every few seconds and gives up about then."""


class Readiness:
    """The answer to `GET /readyz`. `/healthz` only says that the process lives."""

    def __init__(self, database: Database, client: Client) -> None:
        self._database, self._client = database, client

    async def answer(self, _: Request) -> Response:
        """200, or 503 with the names of those that do not answer."""
        asked: Mapping[str, Awaitable[None]] = {
            "database": self._database.require(PATIENCE_SECONDS),
            "temporal": process.require_namespace(self._client, PATIENCE_SECONDS),
        }
        answers = await asyncio.gather(*asked.values(), return_exceptions=True)
        silent = [name for name, answer in zip(asked, answers, strict=True) if _is_silence(answer)]
        return PlainTextResponse(f"{', '.join(silent) or 'ok'}\n", 503 if silent else 200)


def _is_silence(answer: BaseException | None) -> bool:
    if isinstance(answer, BaseException) and not isinstance(answer, InvalidConfiguration):
        raise answer
    return answer is not None
