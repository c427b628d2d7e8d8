"""The guide for authors of tools shows real code, real messages and files that are there."""

import ast
import re
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/writing-a-tool.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^```python\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
SOURCES = [
    (ROOT / place).read_text("utf-8")
    for place in ("adapters/tools/ledger.py", "adapters/tools/ledger_words.py", "adapters/downstream/ledger.py")
]
PLACES = sorted(set(re.findall(r"`((?:adapters|tests|worker|workflows|docs)/[\w/]+\.\w+)`", GUIDE)))
MESSAGES = re.findall(r"^\| (`[^|]*) \|", GUIDE.split("## The linter")[1].split("## Testing")[0], re.MULTILINE)


def test_there_are_snippets_to_hold() -> None:
    assert len(SNIPPETS) >= 8


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: snippet.strip().split("\n", 1)[0][:40])
def test_a_snippet_stands_in_the_source_and_is_python(snippet: str) -> None:
    assert any(snippet in source for source in SOURCES)
    ast.parse(textwrap.dedent(snippet).replace("return ", "").replace("await ", ""))


@pytest.mark.parametrize("place", PLACES)
def test_a_file_that_it_names_is_there(place: str) -> None:
    assert (ROOT / place).exists()


@pytest.mark.parametrize("link", re.findall(r"\]\(([\w/.-]+\.md)\)", GUIDE))
def test_a_page_that_it_links_to_is_there(link: str) -> None:
    assert (ROOT / "docs" / link).exists()


@pytest.mark.parametrize("message", [part for cell in MESSAGES for part in re.findall(r"`([^`]+)`", cell)])
def test_a_message_of_the_linter_is_one_that_it_gives(message: str) -> None:
    words = message.split(": ", 1)[-1].removesuffix("…").strip(" :,")
    assert words in (ROOT / "workflows/domain/lint.py").read_text("utf-8")
