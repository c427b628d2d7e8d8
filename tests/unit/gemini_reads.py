"""Responses of the two Gemini surfaces, made by hand."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from adapters import strict_json
from workflows.domain.proposal import Proposal

SPOKEN = {"type": "model_output", "content": [{"type": "text", "text": "Three reads."}]}


def call_part(proposal: Proposal, **more: Any) -> dict[str, Any]:
    call = {"id": proposal.call_id, "name": proposal.tool_name, "args": proposal.arguments}
    return {"functionCall": call, **more}


def candidate(*parts: Any, finish_reason: Any = "STOP", **more: Any) -> dict[str, Any]:
    return {"index": 0, "content": {"role": "model", "parts": list(parts)}, "finishReason": finish_reason, **more}


def generated(*candidates: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "responseId": "gen-17",
        "modelVersion": "gemini-under-test",
        "candidates": [{**each, "index": index} for index, each in enumerate(candidates)],
        "usageMetadata": {"promptTokenCount": 40, "candidatesTokenCount": 20, "totalTokenCount": 60},
        **more,
    }


def chunks_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The chunks of a response with one candidate: its parts one by one, its end, its count of tokens."""
    [only] = body["candidates"]
    kept = {key: body[key] for key in ("responseId", "modelVersion")}
    said = [{"content": {"role": "model", "parts": [part]}, "index": 0} for part in only["content"]["parts"]]
    end = {"content": {"role": "model"}, "finishReason": only["finishReason"], "index": 0}
    return [
        *({**kept, "candidates": [piece]} for piece in (*said, end)),
        {**kept, "usageMetadata": body["usageMetadata"]},
    ]


def told_in_parts(contents: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Call ids and statuses of the answers."""
    answers = [part["functionResponse"] for part in contents[-1]["parts"]]
    return [(each["id"], body["status"]) for each in answers for body in each["response"].values()]


def call_step(proposal: Proposal, **more: Any) -> dict[str, Any]:
    call = {"id": proposal.call_id, "name": proposal.tool_name, "arguments": proposal.arguments}
    return {"type": "function_call", **call, **more}


def interaction(*steps: Any, status: Any = "requires_action", **more: Any) -> dict[str, Any]:
    return {
        "id": "int-17",
        "object": "interaction",
        "status": status,
        "model": "gemini-under-test",
        "created": "2026-11-30T09:00:00Z",
        "updated": "2026-11-30T09:00:02Z",
        "steps": list(steps),
        **more,
    }


def event(kind: str, **members: Any) -> dict[str, Any]:
    return {"event_type": kind, **members}


def created(interaction_id: str = "int-17") -> dict[str, Any]:
    return event("interaction.created", interaction={"id": interaction_id, "status": "in_progress"})


def completed(status: Any = "requires_action", interaction_id: str = "int-17", **more: Any) -> dict[str, Any]:
    return event("interaction.completed", interaction={"id": interaction_id, "status": status, **more})


def streamed_step(index: int, start: Mapping[str, Any], *deltas: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The events of one step: its start, its deltas and its stop."""
    return [
        event("step.start", index=index, step=dict(start)),
        *(event("step.delta", index=index, delta=dict(delta)) for delta in deltas),
        event("step.stop", index=index),
    ]


def streamed_call(index: int, proposal: Proposal, cuts: Sequence[int] = (1,)) -> list[dict[str, Any]]:
    """The events of one call, its arguments cut at `cuts`."""
    start = {"type": "function_call", "id": proposal.call_id, "name": proposal.tool_name, "arguments": {}}
    text = strict_json.dump(proposal.arguments)
    bounds = [0, *sorted(cuts), len(text)]
    pieces = [text[low:high] for low, high in pairwise(bounds)]
    return streamed_step(index, start, *({"type": "arguments_delta", "arguments": piece} for piece in pieces))


def events_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of an interaction in which the model only speaks and calls."""
    streamed = (_streamed(index, step) for index, step in enumerate(body["steps"]))
    return [
        created(body["id"]),
        *(each for events in streamed for each in events),
        completed(body["status"], body["id"]),
    ]


def _streamed(index: int, step: dict[str, Any]) -> list[dict[str, Any]]:
    if step["type"] == "function_call":
        return streamed_call(index, Proposal(step["id"], step["name"], step["arguments"]))
    return streamed_step(index, {"type": step["type"]}, *step["content"])


def told_in_steps(steps: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Call ids and statuses of the answers."""
    return [(step["call_id"], step["result"]["status"]) for step in steps if step["type"] == "function_result"]
