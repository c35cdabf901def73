"""A browser without script: it keeps cookies, and sends back the forms that a page shows."""

import re
from dataclasses import dataclass
from html import unescape

import httpx2

BASE = "https://negotiator.example"
PASSWORD = "a long enough password"
_TOKEN = re.compile(r'name="csrf" value="([^"]*)"')


@dataclass
class FormBrowser:
    """Whoever sits in front of it."""

    client: httpx2.AsyncClient

    async def open(self, path: str, **options: str) -> httpx2.Response:
        """Go somewhere; redirects are not followed."""
        return await self.client.get(path, headers=options)

    async def token(self, path: str) -> str:
        """The token in the forms of a page."""
        page = await self.open(path)
        found = _TOKEN.search(page.text)
        assert found, page.text
        return unescape(found[1])

    async def send(self, path: str, *, on: str, **fields: str) -> httpx2.Response:
        """Send a form that is on the page `on`; a field's `__` stands for a colon."""
        told = {name.replace("__", ":"): value for name, value in fields.items()}
        return await self.client.post(path, data={"csrf": await self.token(on), **told})

    async def sign_in(self, email: str = "ada@example.com", password: str = PASSWORD, **fields: str) -> httpx2.Response:
        """Sign in by the form."""
        return await self.send("/sign-in", on="/sign-in?again", email=email, password=password, **fields)

    def session(self) -> str | None:
        """The session cookie it holds."""
        return self.client.cookies.get("__Host-negotiator-session")


def redirect_path(response: httpx2.Response) -> str:
    """Where a redirect of ours goes; it stays on our origin."""
    assert response.status_code == 303, response.text
    location = response.headers["location"]
    assert location.startswith(f"{BASE}/"), location
    return location.removeprefix(BASE)


def text_of(page: httpx2.Response) -> str:
    """What a page says, on one line."""
    return " ".join(unescape(re.sub("<[^>]*>", " ", page.text)).split())
