"""What a scripted model does: one step after the other, and a reaction to every failure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from examples.scripted_model.conversation import Conversation, Proposed, Reply

WAITING = frozenset({"approval_required", "operation_in_progress", "reconciliation_pending"})
"""Codes of operations that are still open; the model must not issue the call again."""


@dataclass(frozen=True)
class Call:
    """A step that proposes a call. `arguments` makes them from what was said so far."""

    call_id: str
    tool: str
    arguments: Callable[[Conversation], Mapping[str, Any]]
    words: str = ""

    def reply(self, conversation: Conversation) -> Reply:
        """What the model says."""
        return Reply(self.words, (Proposed(self.call_id, self.tool, self.arguments(conversation)),))


@dataclass(frozen=True)
class Say:
    """A step that ends the turn with words."""

    words: Callable[[Conversation], str]

    def reply(self, conversation: Conversation) -> Reply:
        """What the model says."""
        return Reply(self.words(conversation))


@dataclass(frozen=True)
class Pause:
    """A step in which the model stops in the middle of what the provider does for it."""

    words: str

    def reply(self, _: Conversation) -> Reply:
        """What the model says."""
        return Reply(self.words, paused=True)


Step = Call | Say | Pause
Script = Sequence[Step]


def next_reply(script: Script, conversation: Conversation) -> Reply:
    """What the model says next: its reaction to a failure, else the script's next step."""
    failure = conversation.failure()
    if failure is not None:
        return Reply(reaction(failure))
    if conversation.steps >= len(script):
        return Reply("There is nothing left to do.")
    return script[conversation.steps].reply(conversation)


def reaction(failure: Mapping[str, Any]) -> str:
    """What the model says to a failed call. It never claims more than it was told."""
    code = failure["code"]
    if code == "approval_required":
        return "A person has to approve this first. I wait and do not ask for it again."
    if code in WAITING:
        return "This is still being carried out or checked. I do not ask for it again."
    return f"This was not done ({code}): {failure.get('message', '')}".strip()
