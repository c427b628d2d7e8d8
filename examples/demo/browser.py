"""A person at the back office: follows links and redirects, keeps cookies, sends the forms that the pages hold."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from types import TracebackType
from typing import Self, TypeVar
from urllib.parse import urljoin

import httpx2

T = TypeVar("T")

AS_BROWSERS_SAY = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate"}
"""What every browser adds when a page sends a form to its own site."""


class PageUnfit(Exception):
    """The page does not hold what a person would look for there."""


@dataclass
class Form:
    """A form with the values that it holds already."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)


class Page(HTMLParser):
    """The links and forms of one page."""

    def __init__(self, response: httpx2.Response) -> None:
        super().__init__()
        self.url, self.text, self.status = str(response.url), response.text, response.status_code
        self.links: list[str] = []
        self.forms: list[Form] = []
        self.feed(response.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take a link, a form or a field."""
        given = {name: value or "" for name, value in attrs}
        if tag == "a":
            self.links.append(urljoin(self.url, given.get("href", "")))
        elif tag == "form":
            self.forms.append(Form(urljoin(self.url, given.get("action", ""))))
        elif tag in ("input", "textarea") and self.forms and "name" in given:
            self.forms[-1].fields[given["name"]] = given.get("value", "")

    def link(self, part: str) -> str:
        """The first link with this in its address."""
        return _first([link for link in self.links if part in link], f"a link with {part}", self)

    def form(self, part: str) -> Form:
        """The first form that goes to an address with this in it."""
        return _first([form for form in self.forms if part in form.action], f"a form to {part}", self)


class Person:
    """One person in one browser."""

    def __init__(self, back_office: str) -> None:
        self._home = f"{back_office}/"
        self._http = httpx2.AsyncClient(follow_redirects=True, timeout=20.0, trust_env=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def sign_in(self, subject: str) -> None:
        """Go to the back office, be led to the issuer, pick who one is, be led back."""
        door = await self._open(self._home)
        people = await self._open(door.link("/sign-in/start"))
        home = await self._send(people.form("/authorize"), {"person": subject})
        if home.url != self._home:
            raise PageUnfit(f"the sign-in ended at {home.url}")

    async def approve(self, operation_id: str) -> None:
        """Find the question about this operation in the inbox and say yes to it."""
        page = await self._question_about(operation_id)
        answer = await self._send(page.form("/decision"), {"choice": "approve"})
        if answer.status != httpx2.codes.OK or "counted" not in answer.text:
            raise PageUnfit(f"the approval did not count (HTTP {answer.status})")

    async def _question_about(self, operation_id: str) -> Page:
        inbox = await self._open(self._home)
        for link in inbox.links:
            if "/approvals/" in link:
                page = await self._open(link)
                if any(operation_id in each for each in page.links):
                    return page
        raise PageUnfit(f"nothing in the inbox is about {operation_id}")

    async def _open(self, url: str) -> Page:
        return Page(await self._http.get(url))

    async def _send(self, form: Form, chosen: Mapping[str, str]) -> Page:
        data = {**form.fields, **chosen}
        return Page(await self._http.post(form.action, data=data, headers=AS_BROWSERS_SAY))


def _first(found: list[T], what: str, page: Page) -> T:
    if not found:
        raise PageUnfit(f"{page.url} (HTTP {page.status}) has no {what}")
    return found[0]
