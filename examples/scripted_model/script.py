"""What a scripted model does: one step after the other, and a reaction to every failure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from examples.scripted_model.transcript import Transcript

Content = list[dict[str, Any]]

WAITING = frozenset({"approval_required", "operation_in_progress", "reconciliation_pending"})
"""Codes of operations that are still open; the model must not issue the call again."""


@dataclass(frozen=True)
class Call:
    """A step that proposes a call. `arguments` makes them from what was said so far."""

    call_id: str
    tool: str
    arguments: Callable[[Transcript], Mapping[str, Any]]
    words: str = ""

    def content(self, transcript: Transcript) -> Content:
        """The blocks of the message."""
        asked = {"type": "tool_use", "id": self.call_id, "name": self.tool, "input": dict(self.arguments(transcript))}
        return [*_text(self.words), asked]


@dataclass(frozen=True)
class Say:
    """A step that ends the turn with words."""

    words: Callable[[Transcript], str]

    def content(self, transcript: Transcript) -> Content:
        """The blocks of the message."""
        return _text(self.words(transcript))


Step = Call | Say
Script = Sequence[Step]


def next_content(script: Script, transcript: Transcript) -> Content:
    """What the model says next: its reaction to a failure, else the script's next step."""
    failure = transcript.failure()
    if failure is not None:
        return _text(reaction(failure))
    if transcript.steps >= len(script):
        return _text("There is nothing left to do.")
    return script[transcript.steps].content(transcript)


def reaction(failure: Mapping[str, Any]) -> str:
    """What the model says to a failed call. It never claims more than it was told."""
    code = failure["code"]
    if code == "approval_required":
        return "A person has to approve this first. I wait and do not ask for it again."
    if code in WAITING:
        return "This is still being carried out or checked. I do not ask for it again."
    return f"This was not done ({code}): {failure.get('message', '')}".strip()


def _text(words: str) -> Content:
    return [{"type": "text", "text": words}] if words else []
