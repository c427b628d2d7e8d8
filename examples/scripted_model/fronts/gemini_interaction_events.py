"""The events of one response of the Gemini Interactions API."""

import json
from collections.abc import Iterator
from typing import Any, Final

from examples.scripted_model.front import Json, halves

EMPTY: Final[dict[str, Json]] = {
    "thought": {"signature": ""},
    "model_output": {"content": []},
    "function_call": {"arguments": {}},
}
"""What of a step is still to come when it begins."""


def events_of(answer: Json) -> Iterator[Json]:
    """Every event in its order."""
    known = {name: value for name, value in answer.items() if name not in ("steps", "usage")}
    yield {"event_type": "interaction.created", "interaction": known | {"status": "in_progress"}}
    for index, step in enumerate(answer["steps"]):
        yield {"event_type": "step.start", "index": index, "step": step | EMPTY[step["type"]]}
        for delta in _deltas(step):
            yield {"event_type": "step.delta", "index": index, "delta": delta}
        yield {"event_type": "step.stop", "index": index}
    yield {
        "event_type": "interaction.status_update",
        "interaction_id": answer["id"],
        "status": answer["status"],
    }
    yield {"event_type": "interaction.completed", "interaction": known | {"usage": answer["usage"]}}


def _deltas(step: Json) -> Iterator[dict[str, Any]]:
    match step["type"]:
        case "thought":
            yield {"type": "thought_signature", "signature": step["signature"]}
        case "model_output":
            for piece in halves(step["content"][0]["text"]):
                yield {"type": "text", "text": piece}
        case "function_call":
            for piece in halves(json.dumps(step["arguments"])):
                yield {"type": "arguments_delta", "arguments": piece}
