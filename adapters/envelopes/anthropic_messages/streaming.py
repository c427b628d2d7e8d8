"""From the events of a stream to the whole response, which alone is judged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from adapters.envelopes.anthropic_messages.blocks import StreamedBlock
from adapters.envelopes.anthropic_messages.reading import judge
from adapters.envelopes.envelope import ReadTurn
from adapters.envelopes.shape import as_object, as_objects, as_word, refuse

_BESIDE: Final = frozenset({"type", "delta", "usage"})


def read_stream(events: Sequence[Any]) -> ReadTurn:
    """Read one response from its RawMessageStreamEvents; see `Envelope.read_stream`."""
    assembly = _Assembly()
    for position, event in enumerate(as_objects(events, "")):
        assembly.take(event, f"/{position}")
    return assembly.judged()


@dataclass
class _Assembly:
    """A message under way. Kinds of event that are not in `_TAKEN` say nothing about the message: `ping` is one."""

    message: dict[str, Any] = field(default_factory=dict)
    blocks: list[StreamedBlock] = field(default_factory=list)
    started: bool = False
    ended: bool = False

    def take(self, event: dict[str, Any], path: str) -> None:
        kind = as_word(event.get("type"), f"{path}/type", "malformed_envelope")
        if kind == "error":
            refuse("incomplete_response", path, "broken_off", "a response that ended by itself")
        if kind not in _TAKEN:
            return
        if self.started == (kind == "message_start") or self.ended:
            refuse("malformed_envelope", f"{path}/type", "out_of_order", "message_start, the blocks, message_stop")
        _TAKEN[kind](self, event, path)

    def judged(self) -> ReadTurn:
        """Judge the message, if it has come to its end."""
        if not self.ended or not all(block.stopped for block in self.blocks):
            refuse("incomplete_response", "", "cut_off", "message_stop after all blocks have stopped")
        blocks = [block.whole(f"/content/{index}") for index, block in enumerate(self.blocks)]
        faults = {index: block.fault for index, block in enumerate(self.blocks) if block.fault}
        return judge({**self.message, "content": blocks}, faults)

    def start(self, event: dict[str, Any], path: str) -> None:
        self.message = as_object(event.get("message"), f"{path}/message")
        if self.message.get("content"):
            refuse("malformed_envelope", f"{path}/message/content", "unexpected_value", "no content before its events")
        as_object(self.message.get("usage") or {}, f"{path}/message/usage")
        self.started = True

    def start_block(self, event: dict[str, Any], path: str) -> None:
        if event.get("index") != len(self.blocks):
            refuse("malformed_envelope", f"{path}/index", "out_of_order", "the index after that of the last block")
        self.blocks.append(StreamedBlock(as_object(event.get("content_block"), f"{path}/content_block")))

    def continue_block(self, event: dict[str, Any], path: str) -> None:
        self._open_block(event, path).take(as_object(event.get("delta"), f"{path}/delta"), f"{path}/delta")

    def stop_block(self, event: dict[str, Any], path: str) -> None:
        self._open_block(event, path).stopped = True

    def change(self, event: dict[str, Any], path: str) -> None:
        """Take what is said of the message at its end; what was said and comes as null stays."""
        delta = as_object(event.get("delta"), f"{path}/delta")
        reason, known = delta.get("stop_reason"), self.message.get("stop_reason")
        if reason and known and reason != known:
            refuse("malformed_envelope", f"{path}/delta/stop_reason", "two_ends", "one stop_reason")
        beside = {key: value for key, value in event.items() if key not in _BESIDE}
        usage = _changed(self.message.get("usage") or {}, as_object(event.get("usage") or {}, f"{path}/usage"))
        self.message = _changed(self.message, {**beside, **delta, "usage": usage})

    def stop(self, _event: dict[str, Any], _path: str) -> None:
        self.ended = True

    def _open_block(self, event: dict[str, Any], path: str) -> StreamedBlock:
        index = event.get("index")
        if not isinstance(index, int) or not 0 <= index < len(self.blocks) or self.blocks[index].stopped:
            refuse("malformed_envelope", f"{path}/index", "unexpected_value", "the index of a block that is under way")
        return self.blocks[index]


def _changed(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    return old | {key: value for key, value in new.items() if value is not None or key not in old}


_TAKEN: Final[Mapping[str, Callable[[_Assembly, dict[str, Any], str], None]]] = MappingProxyType(
    {
        "message_start": _Assembly.start,
        "content_block_start": _Assembly.start_block,
        "content_block_delta": _Assembly.continue_block,
        "content_block_stop": _Assembly.stop_block,
        "message_delta": _Assembly.change,
        "message_stop": _Assembly.stop,
    }
)
