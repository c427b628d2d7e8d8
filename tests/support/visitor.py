"""A person in the back office, without a browser: follows redirects, keeps cookies, sends the forms it is shown."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Self
from urllib.parse import urljoin, urlsplit

import httpx2

from tests.support.led import led_on
from tests.support.plain import PLAIN


@dataclass
class Form:
    """A form on a page: where it goes and what it holds already."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)


class Forms(HTMLParser):
    """Reads the forms of a page with their inputs; buttons and text areas are for the visitor to fill in."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Form] = []

    @classmethod
    def on(cls, page: str) -> list[Form]:
        parser = cls()
        parser.feed(page)
        return parser.found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.found.append(Form(given.get("action", "")))
        elif tag == "input" and self.found:
            self.found[-1].fields[given["name"]] = given.get("value", "")


class Visitor:
    """One person's cookies at one back office."""

    def __init__(self, url: str) -> None:
        self._origin = f"{urlsplit(url).scheme}://{urlsplit(url).netloc}"
        self._client = httpx2.AsyncClient(follow_redirects=True, timeout=30, verify=PLAIN)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def sign_in(self, person: str) -> httpx2.Response:
        """Through the issuer's page and back; returns the page that the person then sees."""
        choice = await self._client.get(f"{self._origin}/back-office/sign-in/start")
        (form,) = Forms.on(choice.text)
        return await self._client.post(urljoin(str(choice.url), form.action), data=form.fields | {"person": person})

    def twin(self) -> "Visitor":
        """Another browser with the same cookies."""
        twin = Visitor(self._origin)
        twin._client.cookies.update(self._client.cookies)
        return twin

    async def page(self, path: str) -> httpx2.Response:
        """A page of the back office, such as `/operations`, as a browser comes to it: also by way of the issuer."""
        return await led_on(self._client, await self._client.get(f"{self._origin}/back-office{path}"))

    async def resolve(
        self, operation_id: str, finding: str, evidence: str = "", reference: str = ""
    ) -> httpx2.Response:
        """Send the form of that operation's page, as it is shown."""
        told = {"finding": finding, "evidence": evidence, "reference": reference}
        return await self._send(f"/operations/{operation_id}", "/resolution", told)

    async def decide(self, approval_id: str, choice: str, reason: str = "") -> httpx2.Response:
        """Send the form of that approval's page, as it is shown."""
        return await self._send(f"/approvals/{approval_id}", "/decision", {"choice": choice, "reason": reason})

    async def opened(self, path: str, action: str) -> Form:
        """The form of a page, to be sent some time later."""
        shown = await self.page(path)
        form = next(form for form in Forms.on(shown.text) if form.action.endswith(action))
        return Form(urljoin(str(shown.url), form.action), form.fields)

    async def send(self, form: Form, told: dict[str, str]) -> httpx2.Response:
        """Send a form that was opened, with what the person fills in."""
        return await self._client.post(form.action, data=form.fields | told, headers={"Origin": self._origin})

    async def _send(self, path: str, action: str, told: dict[str, str]) -> httpx2.Response:
        return await self.send(await self.opened(path, action), told)
