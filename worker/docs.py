"""`python -m worker.docs`: writes the pages of documentation that the code itself knows best.

`python -m worker.docs errors` writes `docs/errors.md`; without a name, all pages. A test holds the committed pages to
what is written here.
"""

import argparse
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Final

from adapters import tools
from adapters.tools.family import Family, families
from worker import tool_pages, wiring
from worker.settings import ToolNames
from workflows.domain.errors import ERRORS, OWN_CODES, ErrorEntry, Kind

DOCS: Final = Path(__file__).parents[1] / "docs"

KINDS: Final[Mapping[Kind, str]] = MappingProxyType(
    {
        Kind.NOT_STARTED: "Not allowed to start. Nothing was sent and nothing happened.",
        Kind.UNCONFIRMED: "Accepted, not confirmed. It may have happened or may yet.",
        Kind.REFUSED: "The business or a person said no. Nothing happened.",
    }
)

ERRORS_HEAD: Final = """\
# Errors

Every refusal carries a stable code. A caller decides by `kind`, `retryable` and `next_action`, never by the words:

```json
{
  "code": "…",
  "kind": "…",
  "message": "…",
  "next_action": "…",
  "details": [{"path": "/…", "code": "…", "expected": "…"}]
}
```

`details` say where a call is at fault (JSON Pointer into the arguments) and what was expected there. Nothing that was
received is repeated anywhere.

"""


def errors() -> str:
    """The catalogue of errors: our own by kind, in the order of the code, then those of the shipped tools."""
    own = {code: ERRORS[code] for code in OWN_CODES}
    sections = [f"## `{kind}`\n\n{meaning}\n\n{_errors(own, kind)}" for kind, meaning in KINDS.items()]
    return ERRORS_HEAD + "\n".join([*sections, TOOLS_HEAD, *_errors_of_tools()])


def _errors_of_tools() -> Iterable[str]:
    for family in families(shipped_tools()):
        rules = {code: entry for contract in family.contracts for code, entry in contract.rules.items()}
        if rules:
            yield f"### {family.name}\n\n{_errors(rules)}"


def shipped_tools() -> Sequence[str]:
    """Names of the modules in `adapters.tools` that declare tools; those of some families are a deployment's own."""
    names = [f"{tools.__name__}.{module.name}" for module in pkgutil.iter_modules(tools.__path__)]
    return [name for name in names if getattr(importlib.import_module(name), "FAMILY", _NO_FAMILY).contracts]


_NO_FAMILY: Final = Family(name="", contracts=(), connect=nullcontext)


def _errors(entries: Mapping[str, ErrorEntry], kind: Kind | None = None) -> str:
    rows = [
        (f"`{code}`", f"`{entry.kind}`", _yes(entry.retryable), f"`{entry.next_action}`", entry.meaning)
        for code, entry in entries.items()
        if kind in (None, entry.kind)
    ]
    return _table([("Code", "Kind", "Retryable", "Next action", "Meaning"), *rows])


def _yes(truth: bool) -> str:
    return "yes" if truth else "no"


def _table(rows: Iterable[Sequence[str]]) -> str:
    head, *rest = [f"| {' | '.join(cells)} |" for cells in rows]
    rule = "|" + " --- |" * (head.count("|") - 1)
    return "\n".join([head, rule, *rest]) + "\n"


TOOLS_HEAD: Final = """\
## Codes of tools

A tool's own rules say no with codes of their own. A deployment has those of the tools that its settings name.
"""


def tools_of_ours() -> str:
    """Every shipped tool, offered as the shipped rules say."""
    names = ToolNames(tools=tuple(shipped_tools()), policy_file=None)
    known = families(names.tools)
    roles = tool_pages.roles_in("\n".join(family.policy for family in known), wiring.authorizer(names))
    return tool_pages.page([contract for family in known for contract in family.contracts], roles)


PAGES: Final[Mapping[str, Callable[[], str]]] = MappingProxyType({"errors": errors, "tools": tools_of_ours})
"""Page by name; `docs/<name>.md` is its place."""


def place_of(page: str) -> Path:
    """Where the page is kept."""
    return DOCS / f"{page}.md"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the pages that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m worker.docs", description="Write generated documentation.")
    parser.add_argument("pages", nargs="*", metavar="page", help=f"any of {', '.join(PAGES)}; all when none is named")
    chosen = parser.parse_args(arguments).pages
    unknown = sorted(set(chosen) - PAGES.keys())
    if unknown:
        parser.error(f"there is no page {', '.join(unknown)}")
    for page in chosen or PAGES:
        place_of(page).write_text(PAGES[page](), encoding="utf-8")


if __name__ == "__main__":
    main()
