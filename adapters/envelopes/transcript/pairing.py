"""Calls and results that find each other by id, wherever they stand in a conversation."""

from collections.abc import Collection

from adapters.envelopes.transcript.refusal import refuse

Key = tuple[str, str]
"""A kind of call and the id of one."""


class Pairs:
    """Each key once on either side, and a result after its call. `calls` are the keys of all calls to come."""

    def __init__(self, calls: Collection[Key]) -> None:
        self._calls = calls
        self._open: dict[Key, str] = {}
        self._answered: set[Key] = set()

    def ask(self, key: Key, path: str) -> None:
        """Take note of a call; `path` is that of its id.

        Raises:
            TranscriptRefused: repeated_call_id.
        """
        if key in self._open or key in self._answered:
            refuse("repeated_call_id", path, "an id that no other call has")
        self._open[key] = path

    def answer(self, key: Key, path: str) -> None:
        """Take note of a result; `path` is that of the id that it names.

        Raises:
            TranscriptRefused: unasked_result, repeated_result or misplaced_result.
        """
        if self.unknown(key):
            refuse("unasked_result", path, "the id of a call")
        if key in self._answered:
            refuse("repeated_result", path, "one result for each call")
        if key not in self._open:
            refuse("misplaced_result", path, "a call before its result")
        del self._open[key]
        self._answered.add(key)

    def unknown(self, key: Key) -> bool:
        """Whether no call of the conversation has this key."""
        return key not in self._calls

    @property
    def unanswered(self) -> dict[Key, str]:
        """The calls that have no result so far, each with the path of its id."""
        return dict(self._open)
