"""What the README promises can be found."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
NAMED_TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", README)))
LINKS = sorted(set(re.findall(r"\]\((?!https?:)([^)#]+)\)", README)))


def test_the_table_of_guarantees_names_tests() -> None:
    assert len(NAMED_TESTS) >= 10


@pytest.mark.parametrize(("file", "test"), NAMED_TESTS)
def test_a_test_that_the_readme_names_is_there(file: str, test: str) -> None:
    assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8")


def test_a_guarantee_names_the_very_test_that_shows_it() -> None:
    assert [file for file, test in NAMED_TESTS if not test] == []


@pytest.mark.parametrize("link", LINKS)
def test_what_the_readme_links_to_is_there(link: str) -> None:
    assert (ROOT / link).exists()


def test_the_map_names_every_folder_of_the_house() -> None:
    folders = {path.parent.name for path in (ROOT).glob("*/*") if not path.parent.name.startswith(".")}
    named = set(re.findall(r"^(\w+)/ ", README, re.MULTILINE))
    assert folders - {"dist"} <= named | {"docs"}, "a folder that the map does not explain"
