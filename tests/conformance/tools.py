"""The suite's fixed tools as far as they are tools of our kind, through the same gate and the same worker as others."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from pydantic import Field

from adapters.tools.family import Family, NoSettings
from workflows.domain.authorization import Admit
from workflows.domain.contract import Arguments, Contract, EffectKind, Idempotency, Limits, Risk, ToolResult, Trust
from workflows.domain.errors import CallRefused
from workflows.domain.impact import Resource
from workflows.domain.principal import Principal


class NoArguments(Arguments):
    """The suite gives none; a tool of ours always names what it is about."""

    about: Annotated[Literal["the suite"], Field(description="What it is about.")] = "the suite"


class Duration(NoArguments):
    """How long it shall take."""

    seconds: Annotated[int, Field(description="Seconds to take.", ge=0, le=60, examples=[1])] = 1
    label: Annotated[str, Field(description="A word to tell calls apart.", examples=["first"])] = ""


class Said(ToolResult):
    """What the suite looks for."""

    text: str


def _contract(name: str, description: str, arguments: type[Arguments] = NoArguments) -> Contract:
    return Contract(
        name=name,
        title=name,
        description=f"{description} It is there for the conformance suite; it changes nothing.",
        version="1",
        effect=EffectKind.READ,
        idempotency=Idempotency.READ,
        risk=Risk.LOW,
        resource=("suite", "about"),
        arguments=arguments,
        result=Said,
        trust=Trust.OWN,
        limits=Limits(attempt_seconds=90.0),
    )


SIMPLE = _contract("test_simple_text", "Say one sentence.")
PROGRESS = _contract(
    "test_tool_with_progress",
    "Take two seconds, so that progress can be seen.",
)
FAILING = _contract("test_error_handling", "Refuse.")
SLOW = _contract(
    "slow_compute",
    "Take as many seconds as asked for.",
    Duration,
)
BROKEN = _contract("failing_job", "Refuse after some seconds.")


class Tool:
    """Answers after `seconds`, or refuses."""

    def __init__(self, contract: Contract, seconds: float = 0.0, *, refuses: bool = False) -> None:
        self.contract, self._seconds, self._refuses = contract, seconds, refuses

    async def read(self, arguments: Arguments, principal: Principal, admit: Admit) -> Mapping[str, Any]:
        """Return one sentence in `Said`'s shape."""
        admit(Resource("suite", "the suite", principal.tenant, version="1"))
        await asyncio.sleep(getattr(arguments, "seconds", self._seconds))
        if self._refuses:
            raise CallRefused("not_found")
        return {"text": "This is a simple text response for testing."}


@asynccontextmanager
async def connect(_: NoSettings) -> AsyncIterator[Sequence[Any]]:
    """The tools, connected to nothing."""
    yield [
        Tool(SIMPLE),
        Tool(PROGRESS, 2.0),
        Tool(FAILING, refuses=True),
        Tool(SLOW),
        Tool(BROKEN, 1.0, refuses=True),
    ]


POLICY = """
permit (principal in Role::"support", action in [Action::"offer", Action::"call"], resource)
when {
  context.tool in [
    Tool::"test_simple_text",
    Tool::"test_tool_with_progress",
    Tool::"test_error_handling",
    Tool::"slow_compute",
    Tool::"failing_job"
  ]
};
"""

FAMILY = Family(
    name="conformance",
    contracts=(SIMPLE, PROGRESS, FAILING, SLOW, BROKEN),
    connect=connect,
    policy=POLICY,
)
