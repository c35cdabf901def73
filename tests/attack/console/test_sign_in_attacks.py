"""Getting in without a right to: guessing, telling accounts apart, planting a session, being sent elsewhere."""

import statistics
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette

from negotiator.config.settings import Settings
from negotiator.console.browser_sessions import local_path
from negotiator.store import audit
from negotiator.users import user_queries
from tests.conftest import Account, Browsers, Change, connect, make_settings, running
from tests.helpers.form_browser import BASE, PASSWORD, FormBrowser, redirect_path

ELSEWHERE = (
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\\/evil.example",
    "https://evil.example",
    "https:evil.example",
    "javascript:alert(1)",
    "//evil.example/%2f..",
    "/%2f/evil.example",
    "/%2F%2Fevil.example",
    "/%5cevil.example",
    "/%255cevil.example",
    "/%252fevil.example",
    "/%09/evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    " //evil.example",
    "/ /evil.example",
    "evil.example",
    "@evil.example",
    "?next=//evil.example",
    "",
    "/é",
    "/x\r\nSet-Cookie: a=b",
)


@pytest.mark.asyncio
async def test_signing_in_leads_nowhere_else(browsers: Browsers, account: Account) -> None:
    await account()
    browser = browsers()
    for target in ELSEWHERE:
        assert redirect_path(await browser.sign_in(next=target)) == "/", target
        page = await browser.client.get("/sign-in", params={"next": target})
        assert redirect_path(page) == "/", target


@given(st.text(max_size=30) | st.from_regex(r"/[/\\%0-9a-fA-F@.:\t ]{0,12}", fullmatch=True))
def test_a_path_of_ours_is_one_for_every_reader(text: str) -> None:
    path = local_path(text, otherwise="/home")
    assert path[0] == "/"
    assert path[1:2] not in {"/", "\\"}
    assert path.isascii()
    assert path.isprintable()
    assert not set(path) & {" ", "\\"}


@pytest.mark.asyncio
async def test_a_planted_session_or_door_is_never_the_one_after_signing_in(
    browsers: Browsers, account: Account
) -> None:
    await account()
    planted = "A" * 43
    for name in ("__Host-negotiator-session", "__Host-negotiator-anonymous"):
        browser, thief = browsers(), browsers()
        browser.client.cookies.set(name, planted, domain="negotiator.example")
        await browser.sign_in()
        thief.client.cookies.set("__Host-negotiator-session", planted)
        assert browser.session() not in {None, planted}
        assert (await thief.open("/agents")).status_code == 303


@pytest.mark.asyncio
@pytest.mark.parametrize("cookie", ["", "x", "A" * 43, "A" * 44, "' or 1=1 --" + "A" * 32, "é" * 43])
async def test_a_cookie_that_is_none_is_nobody(browsers: Browsers, cookie: str) -> None:
    answer = await browsers().client.get(
        "/agents", headers=[(b"cookie", f"__Host-negotiator-session={cookie}".encode())]
    )
    assert answer.status_code == 303


@pytest.mark.asyncio
async def test_cookies_are_out_of_reach_of_scripts_plain_http_and_other_sites(
    browsers: Browsers, account: Account
) -> None:
    await account()
    browser = browsers()
    door = (await browser.open("/sign-in")).headers["set-cookie"]
    entered = (await browser.sign_in()).headers.get_list("set-cookie")
    session = next(each for each in entered if each.startswith("__Host-negotiator-session="))
    for cookie in (door, session):
        attributes = {part.strip().lower() for part in cookie.split(";")[1:]}
        assert cookie.startswith("__Host-")
        assert {"secure", "httponly", "samesite=lax", "path=/"} <= attributes
        assert not any(each.startswith("domain") for each in attributes)


@pytest.mark.asyncio
async def test_a_wrong_password_an_unknown_and_a_closed_account_look_the_same(
    browsers: Browsers, account: Account, change: Change
) -> None:
    await account()
    await account("closed@example.com")
    await change(lambda tx: user_queries.disable(tx, "closed@example.com"))
    await change(lambda tx: user_queries.add(tx, "nopassword@example.com", actor="operator"))
    seen: list[str] = []
    for email, password in (
        ("ada@example.com", "a wrong password"),
        ("nobody@example.com", PASSWORD),
        ("closed@example.com", PASSWORD),
        ("nopassword@example.com", ""),
        ("nopassword@example.com", PASSWORD),
        ("no address", PASSWORD),
    ):
        browser = browsers()
        answer = await browser.sign_in(email, password)
        assert answer.status_code == 403
        token = await browser.token("/sign-in")
        seen.append(answer.text.replace(email, "E").replace(token, "T"))
    assert len(set(seen)) == 1
    refused = [
        event for event in await change(lambda tx: audit.latest_events(tx, 50)) if event.event == "user.sign_in_refused"
    ]
    assert len(refused) == 6
    assert PASSWORD not in repr(refused)


@pytest.mark.asyncio
@pytest.mark.usefixtures("costly_passwords")
async def test_how_long_it_takes_tells_no_account(browsers: Browsers, account: Account) -> None:
    await account()
    browser = browsers()
    token = await browser.token("/sign-in")

    async def taken(email: str) -> float:
        data = {"csrf": token, "email": email, "password": "a wrong password"}
        start = time.process_time()
        await browser.client.post("/sign-in", data=data)
        return time.process_time() - start

    await taken("warm@example.com")
    known = [await taken("ada@example.com") for _ in range(5)]
    unknown = [await taken(f"n{n}@example.com") for n in range(5)]
    # Without the dummy hash the unknown ones would take a tenth.
    assert statistics.median(unknown) > statistics.median(known) / 3
    assert statistics.median(known) > statistics.median(unknown) / 3


async def _tries(application: Starlette, emails: list[str]) -> list[int]:
    statuses: list[int] = []
    for email in emails:
        async with connect(application) as client:
            statuses.append((await FormBrowser(client).sign_in(email, "a wrong guess")).status_code)
    return statuses


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("limits", "emails"),
    [
        ({"sign_in_limit_address": 150}, ["ada@example.com"] * 8),
        ({"sign_in_limit_address": 150}, ["nobody@example.com"] * 8),
        ({"sign_in_limit_address": 150}, ["Ada@Example.com ", "ada@example.com"] * 4),
        ({"sign_in_limit_address": 30}, [f"u{n}@example.com" for n in range(8)]),
    ],
)
async def test_guessing_from_one_address_runs_dry_by_account_and_by_address(
    settings: Settings, limits: dict[str, Any], emails: list[str]
) -> None:
    limited = make_settings(settings.data_dir, settings.keys_dir, **limits)
    async with running(limited) as application:
        assert await _tries(application, emails) == [403] * 5 + [429] * 3


@pytest.mark.asyncio
async def test_the_right_password_does_not_help_once_the_budget_is_empty(settings: Settings, account: Account) -> None:
    await account()
    limited = make_settings(settings.data_dir, settings.keys_dir, sign_in_limit_address=150)
    async with running(limited) as application:
        await _tries(application, ["ada@example.com"] * 5)
        async with connect(application) as client:
            answer = await FormBrowser(client).sign_in()
            assert answer.status_code == 429
            assert int(answer.headers["retry-after"]) > 0
            assert answer.headers["content-type"].startswith("text/html")


@pytest.mark.asyncio
async def test_whatever_host_says_we_stay_where_we_are(browsers: Browsers, account: Account) -> None:
    await account()
    answer = await browsers().open("/agents", host="evil.example")
    assert answer.headers["location"].startswith(f"{BASE}/")


@pytest.mark.asyncio
async def test_pages_too_are_looked_at_within_a_budget(settings: Settings, account: Account) -> None:
    await account()
    limited = make_settings(settings.data_dir, settings.keys_dir, limit_baseline_rpm=6)
    async with running(limited) as application, connect(application) as client:
        browser = FormBrowser(client)
        assert redirect_path(await browser.sign_in()) == "/"
        found = [(await connected(application)) for _ in range(5)]
        assert found == [200] * 4 + [429], "four were left at this address"
        seen = [(await browser.open("/account")).status_code for _ in range(7)]
        assert seen == [200] * 6 + [429], "a session has a budget of its own"


async def connected(application: Starlette) -> int:
    """What a stranger at the same address is told."""
    async with connect(application) as client:
        answer = await client.get("/sign-in")
        assert answer.headers["content-type"].startswith("text/html")
        return answer.status_code
