"""The ASGI application: both APIs on one provider, and every error in the one shape."""

from fastapi import FastAPI, Request
from sqlalchemy.ext.asyncio import AsyncEngine
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from examples.payments_provider import admin, api
from examples.payments_provider.provider import Provider
from examples.payments_provider.refusals import Refusal
from examples.payments_provider.settings import Settings


def create_app(settings: Settings, engine: AsyncEngine) -> FastAPI:
    """One provider, ready to be served by `CuttableProtocol`."""
    app = FastAPI(title="Payments provider", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.provider = Provider(settings, engine)
    for router in (api.health, api.router, admin.router):
        app.include_router(router)
    app.exception_handler(Refusal)(_refused)
    app.exception_handler(HTTPException)(_no_such_page)
    app.exception_handler(Exception)(_broken)
    return app


async def _refused(_: Request, refusal: Refusal) -> Response:
    return refusal.response()


async def _no_such_page(_: Request, error: HTTPException) -> Response:
    """Unknown paths and methods; the router has already found the status."""
    code = "not_found" if error.status_code == 404 else "invalid_request"
    return JSONResponse({"error": {"code": code, "message": error.detail}}, error.status_code)


async def _broken(_: Request, _error: Exception) -> Response:
    """The outermost edge; uvicorn logs the traceback."""
    return Refusal("internal_error", "Something went wrong here.").response()
