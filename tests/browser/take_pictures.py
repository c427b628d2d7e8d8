"""`python -m tests.browser.take_pictures [name …]`: the pictures in `docs/pictures`, taken anew."""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, Locator, Page, async_playwright, expect

from tests.browser.conftest import QUIET, chromium_path
from tests.browser.desk import desk_of
from tests.browser.scenes import SCENES, Scene
from tests.support.onceward import Onceward
from worker.dev.stack import Stack

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"

PATIENCE_MS = 60_000
"""The console is a program of its own that asks a worker for the words."""


async def main(names: Collection[str]) -> None:
    """Start everything, then play and photograph each scene, or those that are named."""
    with tempfile.TemporaryDirectory() as state:
        async with (
            Stack(Path(state) / "pictures") as stack,
            Onceward.connected(stack) as onceward,
            async_playwright() as playwright,
        ):
            browser = await playwright.chromium.launch(executable_path=chromium_path(), args=QUIET)
            for scene in SCENES:
                if not names or scene.name in names:
                    await photograph(scene, onceward, browser)
            await browser.close()


async def photograph(scene: Scene, onceward: Onceward, browser: Browser) -> None:
    """One page, as whoever looks at it sees it."""
    async with scene.place(onceward) as address, window(scene, onceward, browser) as page:
        await page.goto(address)
        if scene.tab:
            await page.get_by_role("tab", name=scene.tab).click(timeout=PATIENCE_MS)
        await expect(shown(scene, page).first).to_be_visible(timeout=PATIENCE_MS)
        await page.screenshot(path=PICTURES / f"{scene.name}.png")
        print(f"{scene.name}.png", flush=True)


def shown(scene: Scene, page: Page) -> Locator:
    """Where it must be seen: the console puts a workflow's words into a frame of their own."""
    return (page.frame_locator("iframe").last if scene.tab else page).get_by_text(scene.seen)


@asynccontextmanager
async def window(scene: Scene, onceward: Onceward, browser: Browser) -> AsyncIterator[Page]:
    """Of the person, signed in; or of somebody at the console."""
    if scene.person:
        async with desk_of(scene.person, browser, onceward.stack.links.back_office) as page:
            yield page
        return
    context = await browser.new_context(viewport={"width": 1400, "height": 780}, locale="en-US", timezone_id="UTC")
    try:
        yield await context.new_page()
    finally:
        await context.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
