"""Pages that lead a browser on by themselves."""

import httpx2

AT_ONCE = "0; url="
"""How a page begins its `Refresh` that a browser leaves again as soon as it is there."""


async def led_on(client: httpx2.AsyncClient, shown: httpx2.Response) -> httpx2.Response:
    """The page where the browser is in the end."""
    while (on := shown.headers.get("refresh", "")).startswith(AT_ONCE):
        shown = await client.get(on.removeprefix(AT_ONCE), follow_redirects=True)
    return shown
