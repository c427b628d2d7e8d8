"""How the workflows call an activity: in sight of everybody, or within the workflow task that is at work."""

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


async def call_at_once(name: str, message: object, answer: type[T]) -> T:
    """Run the activity within the workflow task, once; the console shows it when the task is over.

    It costs no task of its own, so neither a queue nor the server is asked. Whatever goes wrong is for `call`; the
    failure is the step's own `FailureError`, where that of `call` has an `ActivityError` around it.
    """
    result: T = await workflow.execute_local_activity(
        name,
        message,
        result_type=answer,
        start_to_close_timeout=contracts.AT_ONCE[name],
        retry_policy=contracts.ONCE,
    )
    return result
