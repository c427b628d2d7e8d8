"""The search that a model is offered when some of its tools are deferred."""

from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adapters.envelopes.envelope import ToolDefinition
from workflows.domain.arguments import detail_of
from workflows.domain.errors import CallRefused, Detail

USUAL: Final = 5
MOST: Final = 10
"""Tools in one answer."""


class SearchArguments(BaseModel):
    """What a model gives: words, a pattern, or both in turn."""

    model_config = ConfigDict(extra="forbid", strict=True)

    query: Annotated[
        str,
        Field(
            max_length=1_000,
            description="What you want to do, in the user's own words and language.",
            examples=["refund an order"],
        ),
    ] = ""
    pattern: Annotated[
        str,
        Field(
            max_length=200,
            description="Instead of a query: a regular expression to look for in names and descriptions.",
            examples=["^(refund|void)_"],
        ),
    ] = ""
    limit: Annotated[int, Field(ge=1, le=MOST, description="How many tools at most.", examples=[5])] = USUAL


SEARCH: Final = ToolDefinition(
    name="tool_search",
    description=(
        "Find tools that are not listed, by what they do. There are more tools than you see: search before you say "
        "that something cannot be done. What is found can be called from then on. It changes nothing."
    ),
    parameters=SearchArguments.model_json_schema(),
)


def asked_for(arguments: Any) -> SearchArguments:
    """What a model wants to find.

    Raises:
        CallRefused: `invalid_arguments`.
    """
    try:
        asked = SearchArguments.model_validate(arguments)
    except ValidationError as error:
        raise CallRefused("invalid_arguments", map(detail_of, error.errors(include_url=False))) from None
    if not asked.query and not asked.pattern:
        raise CallRefused("invalid_arguments", [Detail("/query", "missing_field", "what to look for")])
    return asked
