"""How the workflows call an activity."""

from typing import Any, TypeVar

from temporalio import workflow

from workflows import attributes, contracts

T = TypeVar("T")


async def call(name: str, message: object, answer: type[T], **more: Any) -> T:
    """Run the activity with the timeouts and attempts of its contract; `more` goes to Temporal as it is."""
    contract = contracts.CALLS[name]
    result: T = await workflow.execute_activity(
        name,
        message,
        result_type=answer,
        start_to_close_timeout=contract.start_to_close,
        heartbeat_timeout=contracts.HEARTBEAT_TIMEOUT,
        retry_policy=contract.retry,
        summary=attributes.summary_of(workflow.info().typed_search_attributes),
        **more,
    )
    return result
