"""Signing in and out by password, and what a session's life is."""

import pytest

from negotiator.config.settings import Settings
from negotiator.users import session_queries, user_queries
from tests.conftest import Account, Browsers, Change, Clock, connect, make_settings, running
from tests.helpers.form_browser import PASSWORD, FormBrowser, redirect_path
from tests.helpers.sweep import sweep


@pytest.mark.asyncio
async def test_signing_in_leads_to_the_page_that_was_asked_for(browsers: Browsers, account: Account) -> None:
    await account()
    browser = browsers()
    asked = redirect_path(await browser.open("/agents?x=1&y=%2F"))
    assert asked == "/sign-in?next=%2Fagents%3Fx%3D1%26y%3D%252F"
    page = await browser.open(asked)
    assert page.status_code == 200
    assert 'value="/agents?x=1&amp;y=%2F"' in page.text
    entered = await browser.sign_in(next="/agents?x=1&y=%2F")
    assert redirect_path(entered) == "/agents?x=1&y=%2F"
    assert redirect_path(await browser.open("/sign-in?next=/account")) == "/account"


@pytest.mark.asyncio
async def test_signing_in_again_makes_another_session_and_ends_the_first(browsers: Browsers, account: Account) -> None:
    await account()
    browser, thief = browsers(), browsers()
    await browser.sign_in()
    first = browser.session()
    assert first
    await browser.sign_in()
    assert browser.session() not in {None, first}
    thief.client.cookies.set("__Host-negotiator-session", first)
    assert redirect_path(await thief.open("/agents")).startswith("/sign-in")


@pytest.mark.asyncio
async def test_signing_out_ends_the_session_and_not_only_the_cookie(browsers: Browsers, account: Account) -> None:
    await account()
    browser, thief = browsers(), browsers()
    await browser.sign_in()
    thief.client.cookies.set("__Host-negotiator-session", browser.session() or "")
    assert (await thief.open("/agents")).status_code == 200, "whoever holds the cookie is in"
    assert redirect_path(await browser.send("/sign-out", on="/sign-in?again")) == "/sign-in?told=out"
    assert browser.session() is None
    assert redirect_path(await thief.open("/agents")).startswith("/sign-in")
    assert "You are signed out." in (await browser.open("/sign-in?told=out")).text


@pytest.mark.asyncio
async def test_a_session_ends_when_idle_when_old_and_when_the_account_is_closed(
    clock: Clock, browser: FormBrowser, change: Change
) -> None:
    for _ in range(13):
        clock.advance(session_queries.SESSION_IDLE / 1000 - 60)
        assert (await browser.open("/sign-in?again")).text.count("Sign out") == 1
    clock.advance(14 * 60)
    assert (await browser.open("/sign-in?again")).text.count("Sign out") == 1
    clock.advance(session_queries.SESSION_IDLE / 1000 - 60)
    assert (await browser.open("/sign-in?again")).text.count("Sign out") == 0, "seven days are over"
    await browser.sign_in()
    clock.advance(session_queries.SESSION_IDLE / 1000)
    assert (await browser.open("/sign-in?again")).text.count("Sign out") == 0
    await browser.sign_in()
    await change(lambda tx: user_queries.disable(tx, "ada@example.com"))
    assert (await browser.open("/sign-in?again")).text.count("Sign out") == 0
    assert (await browser.sign_in()).status_code == 403


@pytest.mark.asyncio
async def test_at_rest_a_session_is_a_digest_and_old_ones_are_swept(
    clock: Clock, browser: FormBrowser, ada: str, change: Change
) -> None:
    (kept,) = await change(lambda tx: session_queries.of_user(tx, ada))
    assert str(browser.session()) not in repr(kept)
    assert kept.address == "203.0.113.7"
    clock.advance(session_queries.LIFE / 1000 + 1)
    await change(lambda tx: sweep(tx, clock()))
    clock.at = kept.signed_in_at
    assert await change(lambda tx: session_queries.of_user(tx, ada)) == []


@pytest.mark.asyncio
async def test_on_the_way_to_an_authorization_the_form_itself_redirects_nowhere(
    browsers: Browsers, account: Account
) -> None:
    await account()
    onward = "/oauth/authorize?client_id=x&redirect_uri=https%3A%2F%2Fapp.example%2Fcb"
    entered = await browsers().sign_in(password=PASSWORD, next=onward)
    assert entered.status_code == 200
    assert 'http-equiv="refresh"' in entered.text
    assert onward.replace("&", "&amp;") in entered.text


@pytest.mark.asyncio
async def test_where_only_the_directory_runs_people_have_their_account_and_no_agents_page(
    settings: Settings, account: Account
) -> None:
    await account()
    alone = make_settings(settings.data_dir, settings.keys_dir, services=["directory"])
    async with running(alone) as application, connect(application) as client:
        browser = FormBrowser(client)
        assert redirect_path(await browser.sign_in()) == "/account"
        assert 'href="/agents"' not in (await browser.open("/account")).text
        assert (await browser.open("/agents")).status_code == 404
