"""Each surface as it is known from outside: no adapter of ours is imported here."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tests.recorded.wire import Wire
from tests.recorded.wires import (
    anthropic_messages,
    gemini_generate_content,
    gemini_interactions,
    openai_chat,
    openai_responses,
)

_MODULES: Final[tuple[Wire, ...]] = (
    anthropic_messages,
    gemini_generate_content,
    gemini_interactions,
    openai_chat,
    openai_responses,
)

WIRES: Final[Mapping[str, Wire]] = MappingProxyType({module.SURFACE: module for module in _MODULES})
