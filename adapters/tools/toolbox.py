"""The tools of this deployment, by name."""

from collections.abc import Iterable
from typing import Any

from workflows.domain.errors import CallRefused


class Toolbox:
    """Fits `activities.ports.Tools`: readers and writers are kept apart, so none can be called as the other."""

    def __init__(self, tools: Iterable[Any]) -> None:
        tools = list(tools)
        self._readers = {tool.contract.name: tool for tool in tools if not tool.contract.writes}
        self._writers = {tool.contract.name: tool for tool in tools if tool.contract.writes}

    def reader(self, name: str) -> Any:
        """Return a tool that reads; raises `CallRefused("unknown_tool")`."""
        return _found(self._readers, name)

    def writer(self, name: str) -> Any:
        """Return a tool that writes; raises `CallRefused("unknown_tool")`."""
        return _found(self._writers, name)


def _found(tools: dict[str, Any], name: str) -> Any:
    if name not in tools:
        raise CallRefused("unknown_tool")
    return tools[name]
