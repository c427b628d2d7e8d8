"""A real Chromium, headless; each test has people with cookies of their own."""

import os
import shutil
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, async_playwright

QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
"""No sandbox, because tests may run as root; and no talk with anybody but our own servers."""


def chromium_path() -> str:
    """Where the browser is; the tests need one, so its absence is a failure that says how to get it."""
    named = os.environ.get("CHROMIUM")
    found = named or shutil.which("chromium") or shutil.which("google-chrome")
    if not found:
        pytest.fail("no Chromium here; `make setup-browser` installs one, or set CHROMIUM to its path")
    return found


@pytest.fixture(scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """One browser for the session."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium_path(), args=QUIET)
        yield browser
        await browser.close()
