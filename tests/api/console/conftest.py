"""Ada in front of the pages, and an agent of hers that reads by the API what came of it."""

import httpx2
import pytest_asyncio

from tests.conftest import Account, Browsers, Register
from tests.helpers.form_browser import FormBrowser
from tests.helpers.negotiating_agent import bound_agent, open_golf


@pytest_asyncio.fixture
async def ada(account: Account) -> str:
    """The id of her account."""
    return await account()


@pytest_asyncio.fixture
async def browser(ada: str, browsers: Browsers) -> FormBrowser:
    """Her browser, signed in."""
    del ada
    made = browsers()
    await made.sign_in()
    return made


@pytest_asyncio.fixture
async def headers(browser: FormBrowser, register: Register, client: httpx2.AsyncClient) -> dict[str, str]:
    """The credential of her agent."""
    return await bound_agent(browser, register, client)


@pytest_asyncio.fixture
async def golf(client: httpx2.AsyncClient, headers: dict[str, str]) -> str:
    """The path of her negotiation about a used car, which the agent opened."""
    return f"/negotiations/{(await open_golf(client, headers))['id']}"
