"""A browser without script: it keeps cookies, and sends back the forms that a page shows."""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from html import unescape

import httpx2
import pytest_asyncio
from starlette.applications import Starlette

from negotiator.store.statement import Transaction
from negotiator.users import people
from tests.conftest import BASE, Change, connect

PASSWORD = "a long enough password"
_TOKEN = re.compile(r'name="csrf" value="([^"]*)"')


@dataclass
class Browser:
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

    async def sign_in(
        self, email: str = "ada@example.com", password: str = PASSWORD, **fields: str
    ) -> httpx2.Response:
        """Sign in by the form."""
        return await self.send(
            "/sign-in", on="/sign-in?again", email=email, password=password, **fields
        )

    def session(self) -> str | None:
        """The session cookie it holds."""
        return self.client.cookies.get("__Host-negotiator-session")


Open = Callable[..., Awaitable[Browser]]


@pytest_asyncio.fixture
async def browsers(application: Starlette) -> AsyncGenerator[Callable[[], Browser]]:
    """Makes browsers that know nothing of each other."""
    opened: list[httpx2.AsyncClient] = []

    def make() -> Browser:
        opened.append(connect(application))
        return Browser(opened[-1])

    yield make
    for client in opened:
        await client.aclose()


@pytest_asyncio.fixture
async def account(change: Change) -> Callable[..., Awaitable[str]]:
    """Makes accounts with a password; answers the user's id."""

    async def call(email: str = "ada@example.com", name: str = "") -> str:
        hashed = people.hash_password(PASSWORD)

        def unit(tx: Transaction) -> str:
            return people.add(tx, email, name=name, password_hash=hashed, actor="operator")

        made: str = await change(unit)
        return made

    return call


def place(response: httpx2.Response) -> str:
    """Where a redirect of ours goes; it stays on our origin."""
    assert response.status_code == 303, response.text
    location = response.headers["location"]
    assert location.startswith(f"{BASE}/"), location
    return location.removeprefix(BASE)
