"""Passkeys: added, named and removed on the account page, and a sign-in that names nobody."""

import re

import pytest

from negotiator.config.settings import Settings
from negotiator.store import audit
from negotiator.users import passkey_queries, session_queries, user_queries
from tests.conftest import Account, Browsers, Change, Clock, connect, make_settings, running
from tests.helpers.form_browser import FormBrowser, redirect_path
from tests.helpers.passkey_forms import ENTRANCE, OWN, add_passkey, enter, options
from tests.helpers.software_authenticator import SoftwareAuthenticator, decode


@pytest.mark.asyncio
async def test_a_passkey_signs_its_user_in_wherever_it_is(browsers: Browsers, account: Account, change: Change) -> None:
    user_id = await account(name="Ada")
    here, there, passkey = browsers(), browsers(), SoftwareAuthenticator()
    await here.sign_in()
    assert redirect_path(await add_passkey(here, passkey)) == "/account?told=passkey"
    page = (await here.open("/account?told=passkey")).text
    assert "The passkey is added." in page
    assert "laptop" in page
    assert "not used yet" in page
    entered = await enter(there, passkey, next="/account")
    assert redirect_path(entered) == "/account"
    assert re.search(r"last used \d", (await there.open("/account")).text)
    (kept,) = await change(lambda tx: passkey_queries.of_user(tx, user_id))
    assert (kept.sign_count, kept.user_id) == (1, user_id)
    assert len(await change(lambda tx: session_queries.of_user(tx, user_id))) == 2


@pytest.mark.asyncio
async def test_the_options_name_no_user_at_the_sign_in_and_the_right_one_on_the_account_page(
    browsers: Browsers, account: Account
) -> None:
    user_id = await account(name="Ada")
    browser, passkey = browsers(), SoftwareAuthenticator()
    asked = await options(browser, ENTRANCE)
    assert asked["rpId"] == "negotiator.example"
    assert asked["userVerification"] == "required"
    assert asked["allowCredentials"] == []
    await browser.sign_in()
    await add_passkey(browser, passkey)
    asked = await options(browser, OWN)
    assert asked["rp"]["id"] == "negotiator.example"
    assert decode(asked["user"]["id"]).decode() == user_id
    assert asked["user"]["displayName"] == "Ada"
    assert asked["authenticatorSelection"]["residentKey"] == "required"
    assert [decode(each["id"]) for each in asked["excludeCredentials"]] == [passkey.id]


@pytest.mark.asyncio
async def test_a_passkey_is_renamed_and_removed_and_then_signs_nobody_in(
    browsers: Browsers, account: Account, change: Change
) -> None:
    await account()
    browser, passkey = browsers(), SoftwareAuthenticator()
    await browser.sign_in()
    await add_passkey(browser, passkey)
    page = (await browser.open("/account")).text
    found = re.search("/account/passkeys/psk_[0-9a-z]{26}", page)
    assert found
    renamed = await browser.send(f"{found[0]}/name", on="/account", name="the blue <key>")
    assert redirect_path(renamed) == "/account?told=passkey-name"
    assert "the blue &lt;key&gt;" in (await browser.open("/account")).text
    refused = await browser.send(f"{found[0]}/name", on="/account", name="a\u200bb")
    assert refused.status_code == 422
    assert 'aria-invalid="true"' in refused.text
    removed = await browser.send(f"{found[0]}/remove", on="/account")
    assert redirect_path(removed) == "/account?told=passkey-removed"
    answer = await enter(browsers(), passkey)
    assert answer.status_code == 403
    assert "did not sign you in" in answer.text
    events = {each.event for each in await change(lambda tx: audit.latest_events(tx, 20))}
    assert {"passkey.added", "passkey.removed", "user.sign_in_refused"} <= events


@pytest.mark.asyncio
async def test_adding_one_needs_a_recent_sign_in(clock: Clock, browsers: Browsers, account: Account) -> None:
    await account()
    browser, passkey = browsers(), SoftwareAuthenticator()
    await browser.sign_in()
    credential = passkey.create(await options(browser, OWN))
    clock.advance(901)
    page = (await browser.open("/account")).text
    assert "Sign in again to add a passkey" in page
    assert 'data-passkey="' not in page
    assert (await browser.open(f"{OWN}/options")).status_code == 403
    answer = await browser.send(OWN, on="/account", name="x", credential=credential)
    assert answer.status_code == 422
    assert "Sign in again to add a passkey." in answer.text


@pytest.mark.asyncio
async def test_a_closed_account_is_entered_by_no_passkey(browsers: Browsers, account: Account, change: Change) -> None:
    await account()
    browser, passkey = browsers(), SoftwareAuthenticator()
    await browser.sign_in()
    await add_passkey(browser, passkey)
    await change(lambda tx: user_queries.disable(tx, "ada@example.com"))
    assert (await enter(browsers(), passkey)).status_code == 403


@pytest.mark.asyncio
@pytest.mark.parametrize("base", ["https://192.0.2.1", "http://negotiator.example"])
async def test_where_browsers_know_no_passkeys_the_pages_offer_none(settings: Settings, base: str) -> None:
    elsewhere = make_settings(settings.data_dir, settings.keys_dir, base_url=base)
    async with running(elsewhere) as application, connect(application) as client:
        browser = FormBrowser(client)
        page = (await browser.open("/sign-in")).text
        assert "passkey" not in page
        assert 'autocomplete="username"' in page
        assert (await browser.open(f"{ENTRANCE}/options")).status_code == 404
