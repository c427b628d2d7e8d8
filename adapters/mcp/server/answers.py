"""The form of every tool's answer: `structuredContent` as `outputSchema` declares it, and held to it before it leaves.

succeeded         {"status", "operation_id", "result": {...}, "about": {...}}
waiting           {"status", "operation_id", "waiting": {"code", "next_action", ...}, "next_step"}
failed_…          {"status", "operation_id"?, "error": {"code", "kind", "message", "next_action", ...}}
"""

from collections.abc import Mapping
from typing import Any, Final

from jsonschema import Draft202012Validator

from adapters import strict_json
from workflows.domain.contract import Contract
from workflows.domain.errors import Kind, NextAction
from workflows.domain.proposal import Status

Json = dict[str, Any]

ERROR: Final[Json] = {
    "type": "object",
    "properties": {
        "code": {"type": "string", "description": "A stable word of the executor's catalogue."},
        "kind": {"enum": [kind.value for kind in Kind]},
        "message": {"type": "string"},
        "next_action": {"enum": [action.value for action in NextAction]},
        "details": {"type": "array", "items": {"type": "object"}},
        "operation_id": {"type": "string"},
        "retry_after_seconds": {"type": "number"},
    },
    "required": ["code", "kind", "message", "next_action"],
}


def output_schema(result: Mapping[str, Any]) -> Json:
    """The form of the answers of a tool whose data have the schema `result`."""
    data = dict(result)
    shared = {"$defs": data.pop("$defs")} if "$defs" in data else {}
    return {
        "type": "object",
        "properties": {
            "status": {
                "enum": ["waiting", *(status.value for status in Status)],
                "description": "waiting: not ended, and not failed. failed_retryable: nothing happened.",
            },
            "operation_id": {"type": "string", "description": "Ask get_operation with it for what came of the call."},
            "result": data,
            "loose_result": {"description": "The data where they are cut, or of an earlier release's form."},
            "about": {"type": "object", "description": "Where the data come from, how old they are, what was cut."},
            "waiting": ERROR,
            "next_step": {"type": "string"},
            "error": ERROR,
            "cancellation": ERROR,
        },
        "required": ["status"],
        **shared,
    }


def output_schema_of(contract: Contract) -> Json:
    """The form of the answers of this tool."""
    return output_schema(contract.result.model_json_schema(mode="serialization"))


def fitted(answer: Json, schema: Mapping[str, Any]) -> Json:
    """The answer in the declared form: a host may throw away, or take for an error, what does not have it."""
    told = answer["structuredContent"]
    if "result" not in told or Draft202012Validator(schema).is_valid(told):
        return answer
    return with_told(answer, {("loose_result" if name == "result" else name): value for name, value in told.items()})


def with_told(answer: Json, told: Mapping[str, Any], **more: Any) -> Json:
    """The answer with other structured content, and the same in its text."""
    text = {"type": "text", "text": strict_json.dump(told)}
    return {**answer, "content": [text], "structuredContent": dict(told), **more}
