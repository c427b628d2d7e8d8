"""The application as it describes itself, built without any server behind it."""

from typing import Any, cast

import httpx2
from fastapi import FastAPI
from jsonschema import Draft202012Validator
from temporalio.client import Client

from adapters.postgres.engine import Database
from tests.support.plain import PLAIN
from worker.api import Closing, application
from worker.settings import ApiSettings

SETTINGS = {
    "postgres_dsn": "postgresql://nobody@127.0.0.1:1/onceward",
    "temporal_address": "127.0.0.1:1",
    "public_url": "http://127.0.0.1:8080",
    "issuer": "http://127.0.0.1:8400",
    "development": True,
    "session_secret": "a-secret-for-tests-of-forty-characters--",
}


class Nobody:
    """A Temporal that is never asked."""


def built() -> FastAPI:
    """The application with the shipped tools."""
    settings = ApiSettings.model_validate(SETTINGS)
    database = Database(settings.postgres_dsn.get_secret_value(), application_name="tests")
    return application(settings, database, cast(Client, Nobody()), httpx2.AsyncClient(verify=PLAIN), Closing())


APP = built()
DOCUMENT: dict[str, Any] = APP.openapi()

OPERATIONS = [
    (method.upper(), path, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
]
"""Method, path and description of every route."""


def require_described(answer: httpx2.Response, path: str) -> httpx2.Response:
    """The answer, if it is one that the description of this route names, and looks as it says."""
    method = answer.request.method.lower()
    told = DOCUMENT["paths"][path][method]["responses"][str(answer.status_code)]
    if "content" not in told:
        assert answer.content == b""
        return answer
    ((media_type, content),) = told["content"].items()
    assert answer.headers["content-type"] == media_type
    schema = {**content["schema"], "components": DOCUMENT["components"]}
    Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(answer.json())
    return answer
