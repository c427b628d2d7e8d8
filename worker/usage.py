"""What a process says of itself to `--help`: its docstring and the settings that it reads."""

import argparse
from collections.abc import Iterable, Iterator

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from adapters.tools.family import Family, families
from worker.settings import ToolNames, family_prefix, read
from worker.variables import PREFIX
from workflows.domain.errors import InvalidConfiguration


def parser(program: str, doc: str | None, settings: type[BaseModel], *, tools: bool = False) -> argparse.ArgumentParser:
    """A command line without options of its own; `tools` adds the settings of the tools' families."""
    named = ["settings, all of them environment variables:", *_lines(settings, PREFIX)]
    if tools:
        named += ["", "settings of the tools that ONCEWARD_TOOLS names:", *_lines_of_tools()]
    return argparse.ArgumentParser(
        prog=f"python -m {program}",
        description=doc,
        epilog="\n".join(named),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _lines_of_tools() -> Iterator[str]:
    for family in _families():
        yield from _lines(family.settings, family_prefix(family.name))


def _families() -> Iterable[Family]:
    try:
        return families(read(ToolNames).tools)
    except InvalidConfiguration:
        # Whoever asks for help has perhaps not set anything up yet.
        return []


def _lines(settings: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in settings.model_fields.items():
        yield f"  {prefix}{name.upper()}"
        yield f"      {field.description} ({_default(field)})"


def _default(field: FieldInfo) -> str:
    """What holds when it is not set."""
    if field.is_required():
        return "required"
    default = field.get_default(call_default_factory=True)
    shown = ",".join(default) if isinstance(default, tuple) else default
    return f"default: {shown}" if shown not in (None, "", {}) else "optional"
