"""The page about MCP says every key and every default, and its example is one that works."""

import re
import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel

from adapters.mcp.client.configuration import ServerEntry, Servers, ToolEntry
from workflows.domain.errors import ERRORS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/mcp.md").read_text("utf-8")


def rows(heading: str) -> dict[str, str]:
    """Key and default of the table with that heading."""
    table = PAGE[PAGE.index(f"| key of `{heading}`") :].split("\n\n")[0]
    return dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", table, re.MULTILINE))


@pytest.mark.parametrize(
    ("heading", "model"), [("[servers.NAME]", ServerEntry), ("[servers.NAME.tools.TOOL]", ToolEntry)]
)
def test_the_page_names_every_key_and_no_other(heading: str, model: type[BaseModel]) -> None:
    assert list(rows(heading)) == list(model.model_fields)


@pytest.mark.parametrize(
    ("heading", "model"), [("[servers.NAME]", ServerEntry), ("[servers.NAME.tools.TOOL]", ToolEntry)]
)
def test_a_default_that_it_names_is_the_codes(heading: str, model: type[BaseModel]) -> None:
    for key, told in rows(heading).items():
        value = model.model_fields[key].get_default(call_default_factory=True)
        if isinstance(value, bool):
            assert told == f"`{str(value).lower()}`"
        elif isinstance(value, float):
            assert told == f"{value:g}"
        elif isinstance(value, tuple | frozenset):
            assert (told, len(value)) == ("`[]`", 0)
        elif isinstance(value, str) and value:
            assert told == f'`"{value}"`'


def test_the_example_is_a_configuration() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert list(Servers.model_validate(tomllib.loads(example)).servers) == ["inventory"]


def test_the_codes_that_it_names_are_in_the_catalogue() -> None:
    named = set(re.findall(r"`(mcp_\w+|tool_changed|unknown_tool)`", PAGE))
    assert named <= ERRORS.keys()
    assert {code for code in ERRORS if code.startswith("mcp_")} <= named


@pytest.mark.parametrize("link", re.findall(r"\]\((?!https?:)([\w/.-]+)\)", PAGE))
def test_what_it_links_to_is_there(link: str) -> None:
    assert (ROOT / "docs" / link).exists()
