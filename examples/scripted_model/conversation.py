"""A conversation in words that every front shares: what the user said, what the model said, how calls were answered."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from examples.scripted_model.refusal import Refused


@dataclass(frozen=True)
class Words:
    """What the user said."""

    text: str


@dataclass(frozen=True)
class Proposed:
    """A call that the model asks for."""

    call_id: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Reply:
    """What the model said in one response. `paused`: it has stopped in the middle and goes on when it is sent that."""

    words: str = ""
    calls: tuple[Proposed, ...] = ()
    paused: bool = False


@dataclass(frozen=True)
class Answer:
    """How a call was answered: the tool's data, or an error with a code."""

    call_id: str
    data: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None


Said = Words | Reply | Answer


class Conversation:
    """What was said so far."""

    def __init__(self, said: Sequence[Said]) -> None:
        self._said = said

    @property
    def question(self) -> str:
        """The newest words of the user's own."""
        return next((said.text for said in reversed(self._said) if isinstance(said, Words)), "")

    @property
    def steps(self) -> int:
        """How often the model has replied since that question."""
        asked = [place for place, said in enumerate(self._said) if isinstance(said, Words)]
        return sum(isinstance(said, Reply) for said in self._said[asked[-1] if asked else 0 :])

    def result(self, tool: str) -> Mapping[str, Any]:
        """The data of the newest success of a tool."""
        tools: dict[str, str] = {}
        found: Mapping[str, Any] | None = None
        for said in self._said:
            if isinstance(said, Reply):
                tools |= {call.call_id: call.tool for call in said.calls}
            if isinstance(said, Answer) and said.data is not None and tools.get(said.call_id) == tool:
                found = said.data
        if found is None:
            raise Refused(f"the script needs a result of {tool}, and there is none")
        return found

    def failure(self) -> Mapping[str, Any] | None:
        """The first error among the answers to the model's last reply."""
        replies = [place for place, said in enumerate(self._said) if isinstance(said, Reply)]
        latest = self._said[replies[-1] if replies else 0 :]
        return next((said.error for said in latest if isinstance(said, Answer) and said.error is not None), None)


def joined(said: Iterable[Said]) -> list[Said]:
    """The same with one reply where several stand together: some APIs list what the model said in pieces."""
    found: list[Said] = []
    for each in said:
        before = found[-1] if found else None
        if isinstance(each, Reply) and isinstance(before, Reply):
            found[-1] = Reply(before.words + each.words, (*before.calls, *each.calls))
        else:
            found.append(each)
    return found


def answer(call_id: str, told: Any, *, failed: bool = False) -> Answer:
    """Read what was told of a call: an object, or its JSON text, with `data` or `error`."""
    try:
        body = json.loads(told) if isinstance(told, str) else told
    except ValueError:
        body = None
    if not isinstance(body, dict):
        return Answer(call_id, error={"code": "unreadable", "message": str(told)})
    if failed or body.get("error"):
        return Answer(call_id, error=body.get("error") or {"code": "unreadable", "message": ""})
    return Answer(call_id, data=body.get("data", {}))


def text_of(content: Any) -> str:
    """The words of a content: a plain string, or a list of parts of which some hold text."""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content or () if isinstance(part, dict))
