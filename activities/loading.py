"""The operation that a step was asked to work on."""

from activities.ports import Operations
from workflows.domain.errors import IntentConflict
from workflows.domain.operation import Operation
from workflows.messages import OperationRef


async def load_as_referred(operations: Operations, ref: OperationRef) -> Operation:
    """Return the stored operation; raises `IntentConflict` when the reference means another intent than the store."""
    operation = await operations.load(ref.operation_id)
    if operation.intent_hash != ref.intent_hash:
        raise IntentConflict
    return operation


async def load_as_meant(operations: Operations, ref: OperationRef) -> Operation:
    """As `load_as_referred`, right before a send: what is stored must still be what was registered and approved."""
    operation = await load_as_referred(operations, ref)
    if operation.meaning() != operation.intent_hash:
        raise IntentConflict
    return operation
