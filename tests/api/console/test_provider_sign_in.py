"""Signing in with an organisation's OpenID provider."""

from collections.abc import AsyncGenerator, Generator
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from starlette.applications import Starlette

from negotiator.settings import Settings
from negotiator.users import user_queries
from tests.conftest import Account, Browsers, Change, make_settings, running
from tests.helpers.fake_openid_provider import (
    CLIENT,
    SECRET,
    FakeOpenIdProvider,
    fake_openid_provider,
)
from tests.helpers.form_browser import BASE, PASSWORD, FormBrowser, redirect_path

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


@pytest.mark.asyncio
async def test_the_first_time_makes_an_account_and_the_second_finds_it(
    browsers: Browsers, provider: FakeOpenIdProvider, change: Change
) -> None:
    provider.claims = {"email": "ada@corp.example", "email_verified": True}
    first, second = browsers(), browsers()
    assert "Sign in with Corp &lt;b&gt;" in (await first.open("/sign-in")).text
    assert redirect_path(await through(first, provider)) == "/account"
    assert provider.asked["code_challenge_method"] == "S256"
    assert provider.asked["redirect_uri"] == f"{BASE}/sign-in/provider/return"
    assert provider.asked["scope"] == "openid profile email"
    page = (await first.open("/account")).text
    assert "ada@corp.example" in page
    assert provider.name in page
    provider.claims = {"email": "renamed@corp.example", "email_verified": True}
    assert redirect_path(await through(second, provider)) == "/account"
    (user,) = await change(user_queries.list_users)
    assert (user.email, user.name) == ("ada@corp.example", "Ada Corp")


@pytest.mark.asyncio
@pytest.mark.parametrize("verified", [False, "true", 1, None])
async def test_an_address_that_is_not_verified_counts_for_nothing(
    browsers: Browsers,
    provider: FakeOpenIdProvider,
    account: Account,
    change: Change,
    verified: object,
) -> None:
    await account("ada@corp.example")
    provider.claims = {"email": "ada@corp.example", "email_verified": verified}
    assert redirect_path(await through(browsers(), provider)) == "/account"
    assert [user.email for user in await change(user_queries.list_users)] == [
        "ada@corp.example",
        None,
    ]


@pytest.mark.asyncio
async def test_an_account_with_that_address_is_linked_only_by_its_owner(
    browsers: Browsers, provider: FakeOpenIdProvider, account: Account, change: Change
) -> None:
    await account("ada@corp.example")
    provider.claims = {"email": "Ada@corp.example", "email_verified": True}
    browser = browsers()
    link = redirect_path(await through(browser, provider))
    assert link.startswith("/approve/")
    assert browser.session() is None, "nobody is signed in by an address"
    assert redirect_path(await through(browser, provider)).startswith("/approve/")
    page = await browser.send(link, on=link, password="a wrong password")
    assert page.status_code == 403
    assert "Your account is linked" in (await browser.send(link, on=link, password=PASSWORD)).text
    assert redirect_path(await through(browser, provider)) == "/account"
    assert "ada@corp.example" in (await browser.open("/account")).text
    assert len(await change(user_queries.list_users)) == 1


@pytest.mark.asyncio
async def test_whoever_is_signed_in_links_with_one_click(
    browsers: Browsers, provider: FakeOpenIdProvider, account: Account
) -> None:
    await account("ada@corp.example")
    provider.claims = {"email": "ada@corp.example", "email_verified": True}
    browser = browsers()
    await browser.sign_in("ada@corp.example")
    link = redirect_path(await through(browser, provider))
    assert "Your account is linked" in (await browser.send(link, on=link)).text


@pytest.mark.asyncio
async def test_a_closed_account_stays_closed(
    browsers: Browsers, provider: FakeOpenIdProvider, change: Change
) -> None:
    provider.claims = {"email": "ada@corp.example", "email_verified": True}
    browser = browsers()
    await through(browser, provider)
    await change(lambda tx: user_queries.disable(tx, "ada@corp.example"))
    assert (await browser.open("/account")).status_code == 303
    answer = await through(browsers(), provider)
    assert answer.status_code == 403
    assert "closed" in answer.text


@pytest.mark.asyncio
async def test_a_first_password_is_set_right_after_signing_in(
    browsers: Browsers, provider: FakeOpenIdProvider
) -> None:
    provider.claims = {"email": "ada@corp.example", "email_verified": True}
    browser = browsers()
    await through(browser, provider)
    form = {"new": PASSWORD, "repeated": PASSWORD}
    told = await browser.send("/account/password", on="/account", **form)
    assert redirect_path(told) == "/account?told=password"
    assert (await browsers().sign_in("ada@corp.example")).status_code == 303


@pytest.mark.asyncio
async def test_the_secret_goes_in_the_form_where_the_provider_wants_it_there(
    browsers: Browsers, provider: FakeOpenIdProvider
) -> None:
    provider.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    assert redirect_path(await through(browsers(), provider)) == "/account"
    assert provider.exchanges[-1]["client_secret"] == SECRET
    assert "again" not in provider.asked
    await there(browsers(), provider, f"{START}&again")
    assert provider.asked["prompt"] == "login"
