"""Signing in with an organisation's OpenID provider."""

import pytest
from starlette.applications import Starlette

from negotiator.runtime.circuit_breaker import FAILURES
from negotiator.users import user_queries
from tests.conftest import Account, Browsers, Change, connect
from tests.contract.requirements import covers
from tests.helpers.fake_openid_provider import SECRET, FakeOpenIdProvider
from tests.helpers.form_browser import BASE, PASSWORD, redirect_path
from tests.helpers.provider_sign_in import START, there, through
from tests.helpers.provider_sign_in import application as application
from tests.helpers.provider_sign_in import provider as provider
from tests.helpers.provider_sign_in import settings as settings


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
    browsers: Browsers, provider: FakeOpenIdProvider, account: Account, change: Change, verified: object
) -> None:
    await account("ada@corp.example")
    provider.claims = {"email": "ada@corp.example", "email_verified": verified}
    assert redirect_path(await through(browsers(), provider)) == "/account"
    assert [user.email for user in await change(user_queries.list_users)] == ["ada@corp.example", None]


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
async def test_a_closed_account_stays_closed(browsers: Browsers, provider: FakeOpenIdProvider, change: Change) -> None:
    provider.claims = {"email": "ada@corp.example", "email_verified": True}
    browser = browsers()
    await through(browser, provider)
    await change(lambda tx: user_queries.disable(tx, "ada@corp.example"))
    assert (await browser.open("/account")).status_code == 303
    answer = await through(browsers(), provider)
    assert answer.status_code == 403
    assert "closed" in answer.text


@pytest.mark.asyncio
async def test_a_first_password_is_set_right_after_signing_in(browsers: Browsers, provider: FakeOpenIdProvider) -> None:
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


@pytest.mark.asyncio
@covers("1.13:health-sign-in")
async def test_a_provider_that_fails_is_left_alone_for_seconds_and_health_says_so(
    browsers: Browsers, provider: FakeOpenIdProvider, application: Starlette
) -> None:
    provider.faults = 99
    browser = browsers()
    statuses = [(await browser.open(START)).status_code for _ in range(FAILURES + 2)]
    assert statuses == [503] * (FAILURES + 2)
    assert provider.faults == 99 - FAILURES, "the others were refused without a call"
    async with connect(application) as client:
        checks = (await client.get("/api/health")).json()["checks"]
    assert checks["sign_in"] == "failing: the provider cannot be reached"
    assert checks["issuers"] == "ok"
