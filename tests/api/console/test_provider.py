"""Signing in with an organisation's OpenID provider."""

from collections.abc import AsyncGenerator, Generator
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from starlette.applications import Starlette

from negotiator.settings import Settings
from negotiator.users import people
from tests.browser import BASE, PASSWORD, Browser, place
from tests.conftest import Account, Browsers, Change, make_settings, running
from tests.openid import CLIENT, SECRET, OpenId, openid

START = "/sign-in/provider?next=%2Faccount"


@pytest.fixture
def provider() -> Generator[OpenId]:
    """The organisation's provider."""
    with openid() as started:
        yield started


@pytest.fixture
def chosen(chosen: Settings, provider: OpenId) -> Settings:
    """Settings that name it."""
    told = {"oidc_issuer": provider.name, "oidc_client_id": CLIENT, "oidc_client_secret": SECRET}
    more: dict[str, Any] = {**told, "oidc_name": "Corp <b>", "allow_loopback_fetch": True}
    return make_settings(chosen.data_dir, chosen.keys_dir, **more)


@pytest_asyncio.fixture
async def application(chosen: Settings) -> AsyncGenerator[Starlette]:
    """The application of these settings."""
    async with running(chosen) as started:
        yield started


async def there(browser: Browser, provider: OpenId, start: str = START) -> str:
    """To the provider and signed in there: the path at which the browser comes back."""
    sent = await browser.open(start)
    assert sent.status_code == 303
    assert sent.headers["location"].startswith(f"{provider.name}/authorize?")
    return provider.sign_in(sent.headers["location"]).removeprefix(BASE)


async def through(browser: Browser, provider: OpenId) -> httpx2.Response:
    """There and back."""
    return await browser.open(await there(browser, provider))


@pytest.mark.asyncio
async def test_the_first_time_makes_an_account_and_the_second_finds_it(
    browsers: Browsers, provider: OpenId, change: Change
) -> None:
    provider.claims = {"email": "ada@corp.example", "email_verified": True}
    first, second = browsers(), browsers()
    assert "Sign in with Corp &lt;b&gt;" in (await first.open("/sign-in")).text
    assert place(await through(first, provider)) == "/account"
    assert provider.asked["code_challenge_method"] == "S256"
    assert provider.asked["redirect_uri"] == f"{BASE}/sign-in/provider/return"
    assert provider.asked["scope"] == "openid profile email"
    page = (await first.open("/account")).text
    assert "ada@corp.example" in page
    assert provider.name in page
    provider.claims = {"email": "renamed@corp.example", "email_verified": True}
    assert place(await through(second, provider)) == "/account"
    (user,) = await change(people.every)
    assert (user.email, user.name) == ("ada@corp.example", "Ada Corp")


@pytest.mark.asyncio
@pytest.mark.parametrize("verified", [False, "true", 1, None])
async def test_an_address_that_is_not_verified_counts_for_nothing(
    browsers: Browsers, provider: OpenId, account: Account, change: Change, verified: object
) -> None:
    await account("ada@corp.example")
    provider.claims = {"email": "ada@corp.example", "email_verified": verified}
    assert place(await through(browsers(), provider)) == "/account"
    assert [user.email for user in await change(people.every)] == ["ada@corp.example", None]


@pytest.mark.asyncio
async def test_an_account_with_that_address_is_linked_only_by_its_owner(
    browsers: Browsers, provider: OpenId, account: Account, change: Change
) -> None:
    await account("ada@corp.example")
    provider.claims = {"email": "Ada@corp.example", "email_verified": True}
    browser = browsers()
    link = place(await through(browser, provider))
    assert link.startswith("/approve/")
    assert browser.session() is None, "nobody is signed in by an address"
    assert place(await through(browser, provider)).startswith("/approve/")
    page = await browser.send(link, on=link, password="a wrong password")
    assert page.status_code == 403
    assert "Your account is linked" in (await browser.send(link, on=link, password=PASSWORD)).text
    assert place(await through(browser, provider)) == "/account"
    assert "ada@corp.example" in (await browser.open("/account")).text
    assert len(await change(people.every)) == 1


@pytest.mark.asyncio
async def test_whoever_is_signed_in_links_with_one_click(
    browsers: Browsers, provider: OpenId, account: Account
) -> None:
    await account("ada@corp.example")
    provider.claims = {"email": "ada@corp.example", "email_verified": True}
    browser = browsers()
    await browser.sign_in("ada@corp.example")
    link = place(await through(browser, provider))
    assert "Your account is linked" in (await browser.send(link, on=link)).text


@pytest.mark.asyncio
async def test_a_closed_account_stays_closed(
    browsers: Browsers, provider: OpenId, change: Change
) -> None:
    provider.claims = {"email": "ada@corp.example", "email_verified": True}
    browser = browsers()
    await through(browser, provider)
    await change(lambda tx: people.disable(tx, "ada@corp.example"))
    assert (await browser.open("/account")).status_code == 303
    answer = await through(browsers(), provider)
    assert answer.status_code == 403
    assert "closed" in answer.text


@pytest.mark.asyncio
async def test_a_first_password_is_set_right_after_signing_in(
    browsers: Browsers, provider: OpenId
) -> None:
    provider.claims = {"email": "ada@corp.example", "email_verified": True}
    browser = browsers()
    await through(browser, provider)
    form = {"new": PASSWORD, "repeated": PASSWORD}
    told = await browser.send("/account/password", on="/account", **form)
    assert place(told) == "/account?told=password"
    assert (await browsers().sign_in("ada@corp.example")).status_code == 303


@pytest.mark.asyncio
async def test_the_secret_goes_in_the_form_where_the_provider_wants_it_there(
    browsers: Browsers, provider: OpenId
) -> None:
    provider.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    assert place(await through(browsers(), provider)) == "/account"
    assert provider.exchanges[-1]["client_secret"] == SECRET
    assert "again" not in provider.asked
    await there(browsers(), provider, f"{START}&again")
    assert provider.asked["prompt"] == "login"
