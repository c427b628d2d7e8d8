"""People's words as the API takes them: what cannot be read is refused, and the audit log is told who tried."""

from typing import TypeVar

from fastapi import Request
from pydantic import BaseModel

from adapters.http.back_office.audit_ports import AuditLog
from adapters.http.bodies import read_body
from adapters.http.problems import Problem
from workflows.domain.principal import Principal

LONGEST_BODY = 64 * 1024
"""Bytes."""

Word = TypeVar("Word", bound=BaseModel)


async def word_of(request: Request, kind: type[Word], audit: AuditLog, who: Principal, what: str) -> Word:
    """The body as `kind`; a refusal is told as `what`, by its code alone.

    Raises:
        Problem: as `read_body` does.
    """
    try:
        return await read_body(request, kind, LONGEST_BODY)
    except Problem as problem:
        # No more often than a person may send words: whoever sends more was turned away before.
        await audit.tell(who, what, code=problem.code)
        raise
