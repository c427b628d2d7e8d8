"""The pages of a house in a real browser, without servers: each request is answered by the application itself."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal
from weakref import WeakKeyDictionary

from playwright.async_api import Browser, Page, Route

from adapters.http.back_office.languages import COOKIE
from tests.unit.back_office_house import HERE, OWN_PAGE, House


@dataclass(frozen=True)
class Window:
    """How a person has set up their browser."""

    width: int = 1200
    scheme: Literal["light", "dark"] = "light"
    language: str = "en"


WINDOWS = (
    (Window(), Window(360, "dark", "ko")),
    (Window(scheme="dark"), Window(360, language="ko")),
    (Window(language="ko"), Window(360, "dark")),
)
"""Opposites: two windows show a page wide and narrow, light and dark, in English and in Korean."""


@asynccontextmanager
async def window_of(house: House, chromium: Browser, person: str, window: Window) -> AsyncIterator[Page]:
    """That person's window; with an empty name nobody is signed in."""
    visitor = await house.signed_in(person) if person else house.browser()
    visitor.client.cookies.set(COOKIE, window.language)

    async def answer(route: Route) -> None:
        asked = route.request
        # A browser says whose page it comes from only after it has asked here, and all of these come from our own.
        headers = asked.headers | OWN_PAGE
        given = await visitor.client.request(asked.method, asked.url, headers=headers, content=asked.post_data_buffer)
        told = {name: value for name, value in given.headers.items() if name != "set-cookie"}
        await route.fulfill(status=given.status_code, headers=told, body=given.content)

    page = await _window(chromium, window)
    await page.context.route("**/*", answer)
    try:
        yield page
    finally:
        await page.context.unroute_all(behavior="ignoreErrors")
        await page.goto("about:blank")
        _FREE.setdefault(chromium, []).append((window, page))


_FREE: WeakKeyDictionary[Browser, list[tuple[Window, Page]]] = WeakKeyDictionary()
"""Windows that nobody looks into now: to open one takes longer than most looks. They hold no cookies, visitors do."""


async def _window(chromium: Browser, window: Window) -> Page:
    free = _FREE.setdefault(chromium, [])
    for place, (like, page) in enumerate(free):
        if like == window:
            del free[place]
            return page
    context = await chromium.new_context(
        base_url=HERE, viewport={"width": window.width, "height": 900}, color_scheme=window.scheme
    )
    return await context.new_page()
