"""Responses of the Responses API, made by hand: items, whole responses and the streams that they would come in."""

from collections.abc import Iterable, Sequence
from typing import Any

from adapters import strict_json
from workflows.domain.proposal import Proposal

Item = dict[str, Any]

DIRECT: Item = {"type": "direct"}
BY_PROGRAM: Item = {"type": "program", "caller_id": "call-program"}


def response(*output: Item, status: Any = "completed", **more: Any) -> Item:
    return {
        "id": "resp_17",
        "object": "response",
        "created_at": 1_790_000_000,
        "model": "gpt-under-test",
        "status": status,
        "output": list(output),
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 1,
        "top_p": 1,
        "tool_choice": "auto",
        "tools": [],
        **more,
    }


def function_call(proposal: Proposal, **more: Any) -> Item:
    return {
        "type": "function_call",
        "id": f"fc_{proposal.call_id}",
        "call_id": proposal.call_id,
        "name": proposal.tool_name,
        "arguments": strict_json.dump(proposal.arguments),
        "status": "completed",
        **more,
    }


def without(item: Item, *keys: str) -> Item:
    return {key: value for key, value in item.items() if key not in keys}


WEATHER: Item = function_call(Proposal("call-weather", "get_weather", {"city": "Seoul", "unit": "celsius"}))
STOCK: Item = function_call(Proposal("call-stock", "get_stock", {"symbol": "ACME"}))
QUERY: Item = {
    "type": "custom_tool_call",
    "id": "ctc_1",
    "call_id": "call-query",
    "name": "run_sql",
    "input": "select '\"' from orders",
}
SEARCH: Item = {
    "type": "tool_search_call",
    "id": "tsc_1",
    "call_id": "call-search",
    "execution": "client",
    "arguments": {"query": "refund an order"},
    "status": "completed",
}
APPROVAL: Item = {
    "type": "mcp_approval_request",
    "id": "mcpr_1",
    "server_label": "shop",
    "name": "refund",
    "arguments": '{"order":"O-17"}',
}

TEXT: Item = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "phase": "commentary",
    "content": [{"type": "output_text", "text": "Three reads.", "annotations": []}],
}
REFUSAL: Item = {**TEXT, "id": "msg_2", "content": [{"type": "refusal", "refusal": "I would rather not."}]}
REASONING: Item = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Look first."}],
    "encrypted_content": "c2VhbGVk",
}
PROGRAM: Item = {
    "type": "program",
    "id": "prog_1",
    "call_id": "call-program",
    "code": "await shop()",
    "fingerprint": "fp-1",
}
PROGRAM_OUTPUT: Item = {
    "type": "program_output",
    "id": "progo_1",
    "call_id": "call-program",
    "result": "22",
    "status": "completed",
}
COMPACTION: Item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "c21hbGw="}

FUNCTION_TOOL: Item = {
    "type": "function",
    "name": "get_refund",
    "description": "Reads a refund.",
    "parameters": {"type": "object", "properties": {"id": {"type": "string", "default": None}}},
    "strict": False,
    "defer_loading": True,
}
NAMESPACE_TOOL: Item = {
    "type": "namespace",
    "name": "crm",
    "description": "Customers.",
    "tools": [
        {"type": "function", "name": "find_customer", "parameters": {"type": "object", "properties": {}}},
        {"type": "custom", "name": "query"},
    ],
}
SERVER_SEARCH: Item = {
    "type": "tool_search_call",
    "id": "tsc_2",
    "call_id": None,
    "execution": "server",
    "arguments": {"paths": ["crm"]},
    "status": "completed",
}
SERVER_FOUND: Item = {
    "type": "tool_search_output",
    "id": "tso_2",
    "call_id": None,
    "execution": "server",
    "status": "completed",
    "tools": [
        FUNCTION_TOOL,
        NAMESPACE_TOOL,
        {"type": "mcp", "server_label": "wiki", "server_url": "https://wiki.example"},
    ],
}
ADDED_TOOLS: Item = {"type": "additional_tools", "id": "at_1", "role": "developer", "tools": [FUNCTION_TOOL]}

MCP_TOOLS: Item = {
    "type": "mcp_list_tools",
    "id": "mcpl_1",
    "server_label": "wiki",
    "tools": [{"name": "ask", "input_schema": {"type": "object"}}],
    "error": None,
}
MCP_CALL: Item = {
    "type": "mcp_call",
    "id": "mcp_1",
    "server_label": "wiki",
    "name": "ask",
    "arguments": "{}",
    "output": "42",
    "error": None,
    "status": "completed",
    "approval_request_id": "mcpr_0",
}
WEB_SEARCH: Item = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "ACME", "queries": ["ACME"]},
}
FILE_SEARCH: Item = {
    "type": "file_search_call",
    "id": "fs_1",
    "status": "completed",
    "queries": ["returns"],
    "results": [{"file_id": "file-1", "filename": "returns.md", "text": "Thirty days.", "attributes": None}],
}
CODE: Item = {
    "type": "code_interpreter_call",
    "id": "ci_1",
    "status": "completed",
    "code": "6*7",
    "container_id": "cntr_1",
    "outputs": None,
}
IMAGE: Item = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "aW1hZ2U="}
HOSTED_SHELL: Item = {
    "type": "shell_call",
    "id": "sh_1",
    "call_id": "call-shell",
    "action": {"commands": ["ls"], "max_output_length": None, "timeout_ms": None},
    "environment": {"type": "container_reference", "container_id": "cntr_1"},
    "status": "completed",
}
HOSTED_SHELL_OUTPUT: Item = {
    "type": "shell_call_output",
    "id": "sho_1",
    "call_id": "call-shell",
    "max_output_length": None,
    "output": [{"stdout": "orders.csv", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
    "status": "completed",
}

LOCAL_SHELL: Item = {**HOSTED_SHELL, "environment": {"type": "local"}}
OLD_LOCAL_SHELL: Item = {
    "type": "local_shell_call",
    "id": "lsh_1",
    "call_id": "call-local",
    "action": {"type": "exec", "command": ["ls"], "env": {}},
    "status": "completed",
}
PATCH: Item = {
    "type": "apply_patch_call",
    "id": "apc_1",
    "call_id": "call-patch",
    "operation": {"type": "delete_file", "path": "orders.csv"},
    "status": "completed",
}
COMPUTER: Item = {
    "type": "computer_call",
    "id": "cu_1",
    "call_id": "call-computer",
    "action": {"type": "screenshot"},
    "pending_safety_checks": [],
    "status": "completed",
}

HOSTED_ITEMS = (MCP_TOOLS, MCP_CALL, WEB_SEARCH, FILE_SEARCH, CODE, IMAGE, SERVER_SEARCH, PROGRAM, HOSTED_SHELL)
SAID_ITEMS = (REASONING, TEXT, SERVER_FOUND, ADDED_TOOLS, PROGRAM_OUTPUT, COMPACTION, HOSTED_SHELL_OUTPUT)
CALLS = (WEATHER, QUERY, SEARCH, APPROVAL)
NOT_CARRIED_OUT = (LOCAL_SHELL, OLD_LOCAL_SHELL, PATCH, COMPUTER)

EVERYTHING: Item = response(*HOSTED_ITEMS, *SAID_ITEMS, *CALLS)
"""Every kind of item that a response can be read with."""

_GROWING = {"function_call": "arguments", "custom_tool_call": "input", "mcp_call": "arguments"}


def stream_of(whole: Item, *, output_at_the_end: bool = True, step: int = 7) -> list[Item]:
    """The events in which `whole` comes, its items one after the other; texts in pieces of `step` characters."""
    begun = {**whole, "status": "in_progress", "output": []}
    end = whole if output_at_the_end else {**whole, "output": []}
    return numbered(
        [
            {"type": "response.created", "response": begun},
            {"type": "response.in_progress", "response": begun},
            *(event for index, item in enumerate(whole["output"]) for event in events_of(item, index, step)),
            {"type": f"response.{whole['status']}", "response": end},
        ]
    )


def events_of(item: Item, index: int, step: int) -> Iterable[Item]:
    place = {"output_index": index}
    member = _GROWING.get(item["type"])
    yield {"type": "response.output_item.added", **place, "item": {**item, **({member: ""} if member else {})}}
    if member:
        kind, place_of_item = f"response.{item['type']}_{member}", {**place, "item_id": item["id"]}
        for start in range(0, len(item[member]), step):
            yield {"type": f"{kind}.delta", **place_of_item, "delta": item[member][start : start + step]}
        yield {"type": f"{kind}.done", **place_of_item, member: item[member], "name": item["name"]}
    yield {"type": "response.output_item.done", **place, "item": item}


def numbered(events: Sequence[Item]) -> list[Item]:
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]
