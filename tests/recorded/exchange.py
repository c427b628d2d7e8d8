"""The exchanges of a folder, line by line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from adapters import strict_json

LONGEST_LINE: Final = 256 * 1024 * 1024
"""Bytes. A recording may hold pictures."""


class UnusableFolder(Exception):
    """This is no folder of recordings; the message says where it fails, never what stands there."""


@dataclass(frozen=True)
class Exchange:
    """One response of a provider, whole or as the events of its stream, and what was answered to it."""

    exchange_id: str
    surface: str
    tools: Sequence[Any] | None
    followup: Sequence[Any] | None
    response: Any = None
    events: Sequence[Any] | None = None


def files_of(folder: Path) -> list[Path]:
    """Return the recordings of a folder.

    Raises:
        UnusableFolder: there is no such folder, or none in it.
    """
    if not folder.is_dir():
        raise UnusableFolder(f"{folder} is no folder")
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise UnusableFolder(f"there is no *.jsonl in {folder}")
    return files


def exchanges_of(file: Path, surfaces: Sequence[str]) -> Iterator[Exchange]:
    """Read a file; only one line of it is held at a time.

    Raises:
        UnusableFolder: a line is no exchange on one of `surfaces`.
    """
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _exchange(line, f"{file.name}, line {number}", surfaces)


def _exchange(line: bytes, place: str, surfaces: Sequence[str]) -> Exchange:
    said = _parsed(line, place)
    if not isinstance(said, dict) or not isinstance(said.get("id"), str):
        raise UnusableFolder(f"{place}: no object with an id")
    if said.get("surface") not in surfaces:
        raise UnusableFolder(f"{place}: the surface is none of {', '.join(surfaces)}")
    if (said.get("response") is None) == (said.get("stream") is None):
        raise UnusableFolder(f"{place}: neither a response nor a stream, or both")
    for member in ("tools", "followup"):
        if not isinstance(said.get(member), list | None):
            raise UnusableFolder(f"{place}: {member} is neither an array nor null")
    events = None if said.get("stream") is None else _events(said["stream"], place)
    return Exchange(said["id"], said["surface"], said.get("tools"), said.get("followup"), said.get("response"), events)


def _events(text: Any, place: str) -> list[Any]:
    if not isinstance(text, str):
        raise UnusableFolder(f"{place}: the stream is no text")
    return [_parsed(data, f"{place}, event {number}") for number, data in enumerate(_data_of(text), 1)]


def _data_of(text: str) -> Iterator[str]:
    """The data of each server-sent event; `[DONE]` is the mark of the end and no event."""
    for event in text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n"):
        lines = (line.removeprefix("data:").removeprefix(" ") for line in event.split("\n") if line.startswith("data:"))
        data = "\n".join(lines)
        if data and data != "[DONE]":
            yield data


def _parsed(data: bytes | str, place: str) -> Any:
    try:
        return strict_json.parse(data, limit=LONGEST_LINE)
    except strict_json.StrictJsonError as error:
        raise UnusableFolder(f"{place}: {error.code}") from None
