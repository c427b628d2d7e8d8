"""The two tools that are ours and no operations: coming back to one, and taking it back.

They read and wish what `GET /v1/operations/{id}` and its `/cancel` do, for the same callers.
"""

from typing import Any

import mcp_types as types
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adapters.intake.cancels import Cancels
from adapters.intake.retelling import Retelling
from adapters.mcp.server.answers import output_schema, with_told
from adapters.mcp.server.words import CANCEL_OPERATION, GET_OPERATION
from workflows.domain.arguments import detail_of
from workflows.domain.errors import CallRefused
from workflows.domain.principal import Principal
from workflows.domain.proposal import CallError

Json = dict[str, Any]

WAIT_SECONDS = 3.0
"""How long an operation is given to end, or a wish to take effect, before the host is answered."""


class WhichOperation(BaseModel):
    """The arguments of both tools."""

    model_config = ConfigDict(extra="forbid", strict=True)

    operation_id: str = Field(
        min_length=1, max_length=128, description="The operation_id of an earlier answer; never made up."
    )


ANY_RESULT: Json = {"type": "object", "description": "The data of the tool that the operation is of."}


def _own(name: str, title: str, description: str, *, reads: bool) -> types.Tool:
    return types.Tool(
        name=name,
        title=title,
        description=description,
        input_schema=WhichOperation.model_json_schema(),
        output_schema=output_schema(ANY_RESULT),
        annotations=types.ToolAnnotations(
            read_only_hint=reads, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


OWN_TOOLS = (
    _own(
        GET_OPERATION,
        "Ask what came of a call",
        "Tells where an earlier call stands, and its result once it has ended. Use it after an answer whose status "
        "is waiting, instead of making that call again; not more often than retry_after_seconds says.",
        reads=True,
    ),
    _own(
        CANCEL_OPERATION,
        "Take a call back",
        "Takes an earlier call back that is still waiting. It stops if nothing was sent yet; what has happened "
        "stays so. The answer's cancellation says what came of the wish.",
        reads=False,
    ),
)
"""As they are listed for everybody: what is whose is asked when they are called."""


class OwnTools:
    """Answers them."""

    def __init__(self, retelling: Retelling, cancels: Cancels) -> None:
        self._retelling, self._cancels = retelling, cancels

    async def answer(self, principal: Principal, name: str, arguments: Any) -> Json:
        """Answer a call of the tool of ours that has this name."""
        try:
            asked = WhichOperation.model_validate(arguments)
        except ValidationError as error:
            faults = map(detail_of, error.errors(include_url=False))
            return self._retelling.refusal(name, CallRefused("invalid_arguments", faults))
        tell = self._cancel if name == CANCEL_OPERATION else self._get
        told = await tell(principal, asked.operation_id)
        return self._retelling.refusal(name, CallRefused("not_found")) if told is None else told

    async def _get(self, principal: Principal, operation_id: str) -> Json | None:
        retold = await self._retelling.of(principal, operation_id, WAIT_SECONDS)
        return None if retold is None else retold.message

    async def _cancel(self, principal: Principal, operation_id: str) -> Json | None:
        wish = await self._cancels.cancel(principal, operation_id, WAIT_SECONDS)
        if wish is None:
            return None
        answer = self._retelling.told(wish.standing).message
        told = {**answer["structuredContent"], "cancellation": CallError(wish.code).as_json()}
        # What was asked for here is the wish, and that was taken.
        return with_told(answer, told, isError=False)
