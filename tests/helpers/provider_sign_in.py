"""An application that signs users in at an OpenID provider on loopback."""

from collections.abc import AsyncGenerator, Generator
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from starlette.applications import Starlette

from negotiator.config.settings import Settings
from tests.conftest import make_settings, running
from tests.helpers.fake_openid_provider import CLIENT, SECRET, FakeOpenIdProvider, fake_openid_provider
from tests.helpers.form_browser import BASE, FormBrowser

START = "/sign-in/provider?next=%2Faccount"


@pytest.fixture
def provider() -> Generator[FakeOpenIdProvider]:
    """The organisation's provider."""
    with fake_openid_provider() as started:
        yield started


@pytest.fixture
def settings(settings: Settings, provider: FakeOpenIdProvider) -> Settings:
    """Settings that name it."""
    told = {"oidc_issuer": provider.name, "oidc_client_id": CLIENT, "oidc_client_secret": SECRET}
    more: dict[str, Any] = {**told, "oidc_name": "Corp <b>", "allow_loopback_fetch": True}
    return make_settings(settings.data_dir, settings.keys_dir, **more)


@pytest_asyncio.fixture
async def application(settings: Settings) -> AsyncGenerator[Starlette]:
    """The application of these settings."""
    async with running(settings) as started:
        yield started


async def there(browser: FormBrowser, provider: FakeOpenIdProvider, start: str = START) -> str:
    """To the provider and signed in there: the path at which the browser comes back."""
    sent = await browser.open(start)
    assert sent.status_code == 303
    assert sent.headers["location"].startswith(f"{provider.name}/authorize?")
    return provider.sign_in(sent.headers["location"]).removeprefix(BASE)


async def through(browser: FormBrowser, provider: FakeOpenIdProvider) -> httpx2.Response:
    """There and back."""
    return await browser.open(await there(browser, provider))
