"""Answers as they are sent."""

from fastapi import Response
from pydantic import BaseModel


def answer(value: BaseModel) -> Response:
    """What it says, as JSON."""
    return Response(value.model_dump_json(), media_type="application/json")
