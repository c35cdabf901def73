"""Guessing at an account: slow for whoever guesses, from one address or from many, and never a lock for its owner."""

import asyncio
import time
from collections.abc import AsyncGenerator
from http.cookies import SimpleCookie

import pytest
import pytest_asyncio
from starlette.applications import Starlette

from negotiator.config.settings import Settings
from negotiator.console.people import sign_in_pages
from negotiator.users import user_queries
from tests.conftest import Account, Change, connect, make_settings, running
from tests.helpers.form_browser import FormBrowser, redirect_path

NEW = "another long password"
DEVICE = "__Host-negotiator-device"


@pytest_asyncio.fixture
async def limited_application(settings: Settings, account: Account) -> AsyncGenerator[Starlette]:
    """An application with the limits that are the default, and an account."""
    await account()
    made = make_settings(settings.data_dir, settings.keys_dir, sign_in_limit_address=300)
    async with running(made) as application:
        yield application


@pytest.fixture
def delay(monkeypatch: pytest.MonkeyPatch) -> float:
    """How long a try waits, shortened."""
    monkeypatch.setattr(sign_in_pages, "_DELAY", 0.5)
    return 0.5


async def guess(application: Starlette, address: str, email: str = "ada@example.com") -> int:
    """One wrong password from this address; the status of its answer."""
    async with connect(application, address) as client:
        return (await FormBrowser(client).sign_in(email, "a wrong guess")).status_code


async def exhaust(application: Starlette, email: str = "ada@example.com") -> None:
    """Use up what all addresses together may try at an account without delay."""
    for number in range(10):
        assert await guess(application, f"198.51.100.{number}", email) == 403


@pytest.mark.asyncio
async def test_an_attacker_s_thousand_failures_keep_the_owner_out_of_nothing(
    limited_application: Starlette, delay: float
) -> None:
    async with connect(limited_application, "203.0.113.1") as home:
        owner = FormBrowser(home)
        assert redirect_path(await owner.sign_in()) == "/"
        async with connect(limited_application, "198.51.100.66") as client:
            attacker = FormBrowser(client)
            token = await attacker.token("/sign-in")
            data = {"csrf": token, "email": "ada@example.com", "password": "a wrong guess"}
            statuses = [(await client.post("/sign-in", data=data)).status_code for _ in range(1000)]
            assert statuses.count(403) <= 15, "ten at once, then one a minute"
            assert statuses.count(429) == 1000 - statuses.count(403)
        assert redirect_path(await owner.sign_in()) == "/", "a known device"
        async with connect(limited_application, "203.0.113.2") as elsewhere:
            assert redirect_path(await FormBrowser(elsewhere).sign_in()) == "/", "a new address"


@pytest.mark.asyncio
async def test_guessers_at_many_addresses_wait_and_hold_up_nobody_else(
    limited_application: Starlette, delay: float
) -> None:
    async with connect(limited_application, "203.0.113.1") as home:
        owner = FormBrowser(home)
        await owner.sign_in()
        await exhaust(limited_application)
        began = time.monotonic()
        guesses = [asyncio.create_task(guess(limited_application, f"192.0.2.{number}")) for number in range(20)]
        await asyncio.sleep(delay / 2)
        assert (await home.get("/api/health")).status_code == 200
        assert not any(each.done() for each in guesses), "all of them wait, and the server serves"
        assert set(await asyncio.gather(*guesses)) == {403}
        assert time.monotonic() - began >= delay
        assert redirect_path(await owner.sign_in()) == "/"
        async with connect(limited_application, "203.0.113.9") as elsewhere:
            assert redirect_path(await FormBrowser(elsewhere).sign_in()) == "/", "later, never refused"


@pytest.mark.asyncio
async def test_an_account_that_does_not_exist_is_delayed_as_one_that_does(
    limited_application: Starlette, delay: float
) -> None:
    for email in ("ada@example.com", "nobody@example.com"):
        await exhaust(limited_application, email)
        began = time.monotonic()
        assert await guess(limited_application, "192.0.2.1", email) == 403
        assert time.monotonic() - began >= delay


@pytest.mark.asyncio
async def test_a_bounded_number_waits_and_beyond_it_nobody_is_locked_out(
    limited_application: Starlette, delay: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_in_pages, "_DELAY", 4 * delay)
    monkeypatch.setattr(sign_in_pages, "_MOST_WAITING", 3)
    await exhaust(limited_application)
    waiting = [asyncio.create_task(guess(limited_application, f"192.0.2.{n}")) for n in range(3)]
    await asyncio.sleep(delay)
    async with connect(limited_application, "203.0.113.9") as elsewhere:
        assert redirect_path(await FormBrowser(elsewhere).sign_in()) == "/"
    await asyncio.gather(*waiting)


@pytest.mark.asyncio
async def test_one_address_has_few_tries_waiting(
    limited_application: Starlette, delay: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_in_pages, "_DELAY", 4 * delay)
    await exhaust(limited_application)
    statuses = await asyncio.gather(*(guess(limited_application, "192.0.2.1") for _ in range(8)))
    assert sorted(statuses) == [403] * 4 + [429] * 4


@pytest.mark.asyncio
async def test_a_stolen_device_cookie_guesses_no_faster_than_anybody(limited_application: Starlette) -> None:
    async with connect(limited_application, "203.0.113.1") as home, connect(limited_application, "192.0.2.1") as thief:
        owner, other = FormBrowser(home), FormBrowser(thief)
        await owner.sign_in()
        thief.cookies.set(DEVICE, home.cookies[DEVICE])
        statuses = [(await other.sign_in(password="a wrong guess")).status_code for _ in range(12)]
        assert statuses == [403] * 10 + [429] * 2
        assert redirect_path(await other.open("/agents")).startswith("/sign-in"), "it opens nothing"


@pytest.mark.asyncio
async def test_a_device_is_its_user_s_only_until_the_password_changes_and_not_for_ever(
    limited_application: Starlette, delay: float, account: Account, change: Change
) -> None:
    await account("bob@example.com")
    await exhaust(limited_application)

    async def is_delayed(browser: FormBrowser, **more: str) -> bool:
        began = time.monotonic()
        assert (await browser.sign_in(**more)).status_code == 303
        return time.monotonic() - began >= delay

    async with connect(limited_application, "203.0.113.1") as home, connect(limited_application, "203.0.113.2") as away:
        owner, bob = FormBrowser(home), FormBrowser(away)
        assert await is_delayed(owner), "unknown at first"
        first = home.cookies[DEVICE]
        await bob.sign_in("bob@example.com")
        bobs = away.cookies[DEVICE]
        for planted in (bobs, first[:-1], first.partition(".")[0], "x" * 5000, "."):
            async with connect(limited_application, "203.0.113.3") as client:
                client.cookies.set(DEVICE, planted)
                assert await is_delayed(FormBrowser(client)), planted[:20]
        hashed = user_queries.hash_password(NEW)
        user = await change(lambda tx: user_queries.by_email(tx, "ada@example.com"))
        await change(lambda tx: user_queries.set_password(tx, user.id, hashed, actor="operator"))
        assert await is_delayed(owner, password=NEW), "the old cookie is worth nothing"
        assert home.cookies[DEVICE] != first


@pytest.mark.asyncio
async def test_the_device_cookie_is_out_of_reach_and_names_nobody(limited_application: Starlette) -> None:
    async with connect(limited_application) as client:
        answer = await FormBrowser(client).sign_in()
    (cookie,) = (each for each in answer.headers.get_list("set-cookie") if DEVICE in each)
    attributes = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"secure", "httponly", "samesite=lax", "path=/"} <= attributes
    assert "usr_" not in SimpleCookie(cookie)[DEVICE].value
