"""The Account page: name, password, browsers."""

import re

import pytest

from negotiator.store.statement import Transaction
from negotiator.users import user_queries
from tests.conftest import Account, Browsers, Change
from tests.helpers.form_browser import PASSWORD, FormBrowser, redirect_path

NEW = "another long password"


async def changed(browser: FormBrowser, old: str, new: str, again: str) -> str:
    """What the form for another password says or where it leads."""
    answer = await browser.send("/account/password", on="/account", password=old, new=new, repeated=again)
    return redirect_path(answer) if answer.status_code == 303 else answer.text


@pytest.mark.asyncio
async def test_a_name_is_changed_and_greets(browsers: Browsers, account: Account) -> None:
    await account(name="Ada")
    browser = browsers()
    await browser.sign_in()
    assert 'value="Ada"' in (await browser.open("/account")).text
    told = await browser.send("/account/name", on="/account", name="Ada & Co")
    assert redirect_path(told) == "/account?told=name"
    assert 'value="Ada &amp; Co"' in (await browser.open("/account")).text
    hidden = await browser.send("/account/name", on="/account", name="a\u200bb")
    assert hidden.status_code == 422
    assert "cannot be seen" in hidden.text


@pytest.mark.asyncio
async def test_another_password_needs_the_old_one_and_ends_every_other_session(
    browsers: Browsers, account: Account
) -> None:
    await account()
    here, there = browsers(), browsers()
    await here.sign_in()
    await there.sign_in()
    before = here.session()
    assert "not your password" in await changed(here, "a wrong password", NEW, NEW)
    assert "differ" in await changed(here, PASSWORD, NEW, "else")
    assert "at least 12" in await changed(here, PASSWORD, "short", "short")
    assert await changed(here, PASSWORD, NEW, NEW) == "/account?told=password"
    assert here.session() not in {None, before}, "the session was rotated"
    assert (await here.open("/account")).status_code == 200
    assert redirect_path(await there.open("/account")) == "/sign-in?next=%2Faccount"
    assert (await there.sign_in()).status_code == 403
    assert (await there.sign_in(password=NEW)).status_code == 303


@pytest.mark.asyncio
async def test_browsers_are_listed_and_ended_one_or_all(browsers: Browsers, account: Account) -> None:
    await account()
    here, phone, third = browsers(), browsers(), browsers()
    phone.client.headers["user-agent"] = "Mozilla/5.0 (Android 15; Mobile) Firefox/140.0"
    for browser in (here, phone, third):
        await browser.sign_in()
    page = (await here.open("/account")).text
    assert "Firefox on Android" in page
    assert page.count("this browser") == 1
    listed = page.partition("Firefox on Android")[2]
    found = re.search("/account/sessions/ses_[0-9a-z]{26}/end", listed)
    assert found
    assert redirect_path(await here.send(found[0], on="/account")) == "/account?told=ended"
    assert (await phone.open("/account")).status_code == 303
    assert (await third.open("/account")).status_code == 200
    ended = await here.send("/account/sessions/end-others", on="/account")
    assert redirect_path(ended) == "/account?told=others"
    assert (await third.open("/account")).status_code == 303
    assert (await here.open("/account")).status_code == 200


@pytest.mark.asyncio
async def test_an_operator_s_new_password_signs_everybody_out(
    browser: FormBrowser, ada: str, account: Account, change: Change
) -> None:
    hashed = user_queries.hash_password(NEW)

    def unit(tx: Transaction) -> None:
        user_queries.set_password(tx, ada, hashed, actor="operator")

    await change(unit)
    assert (await browser.open("/account")).status_code == 303
