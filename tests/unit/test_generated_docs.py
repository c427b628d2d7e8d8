"""The pages that the code writes are committed as it writes them today."""

import re

import pytest

from adapters.tools.family import families
from worker.docs import PAGES, main, place_of, shipped_tools
from workflows.domain.errors import ERRORS, OWN_CODES, Kind


@pytest.mark.parametrize("page", PAGES)
def test_a_generated_page_is_committed_as_it_is_written_today(page: str) -> None:
    assert place_of(page).read_text(encoding="utf-8") == PAGES[page](), f"run: python -m worker.docs {page}"


def test_the_catalogue_says_of_every_error_which_of_the_three_kinds_it_is() -> None:
    told = dict(re.findall(r"^\| `(\w+)` \| `(\w+)` \|", PAGES["errors"](), re.MULTILINE))
    assert {code: told[code] for code in OWN_CODES} == {code: ERRORS[code].kind.value for code in OWN_CODES}
    assert set(told.values()) == {kind.value for kind in Kind}


def test_the_catalogue_has_the_codes_of_the_shipped_tools() -> None:
    contracts = [contract for family in families(shipped_tools()) for contract in family.contracts]
    declared = {code for contract in contracts for code in contract.rules}
    told = set(re.findall(r"^\| `(\w+)` ", PAGES["errors"](), re.MULTILINE))
    assert told == declared | set(OWN_CODES)


def test_a_page_that_there_is_not_is_refused() -> None:
    with pytest.raises(SystemExit):
        main(["invented"])
