"""`GET /metrics`: the figures of all tenants together, for a scraper that has the token.

They are read from the database, so every door tells the same and a restart forgets nothing.
"""

import asyncio
from secrets import compare_digest

from prometheus_client.exposition import choose_encoder
from pydantic import SecretStr
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from adapters.http.identity import Unauthenticated, bearer_token
from adapters.postgres.audit_chain import PostgresAuditChain
from adapters.postgres.backlog import PostgresBacklog
from adapters.postgres.engine import Database
from adapters.postgres.invariants import PostgresInvariants
from adapters.postgres.totals import PostgresTotals
from worker.figures import Figures
from worker.kept import Kept


class Metrics:
    """The answer to a scrape. Without the token there is nothing at this address."""

    def __init__(self, database: Database, token: SecretStr) -> None:
        self._token = token.get_secret_value().encode()
        self._totals = Kept(PostgresTotals(database).read)
        self._backlog = Kept(PostgresBacklog(database).read)
        self._invariants = Kept(PostgresInvariants(database).all)
        # Whether the chain holds is for `worker audit verify`: that reads all of it.
        self._unsealed = Kept(PostgresAuditChain(database).unsealed)

    async def answer(self, request: Request) -> Response:
        """200 in the format that the scraper asks for; 404 without the token.

        Raises:
            StoreUnavailable: the database does not answer.
        """
        if not self._is_scraper(request):
            raise HTTPException(404)
        encode, media_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(await self._figures()), headers={"content-type": media_type})

    def _is_scraper(self, request: Request) -> bool:
        try:
            token = bearer_token(request.headers.getlist("authorization"))
        except Unauthenticated:
            return False
        return compare_digest(token.encode(), self._token)

    async def _figures(self) -> Figures:
        kept = (self._totals.latest(), self._backlog.latest(), self._invariants.latest(), self._unsealed.latest())
        return Figures(*await asyncio.gather(*kept))
