"""The Agents page: codes made, agents seen, both ended."""

import re

import httpx2
import pytest
from starlette.applications import Starlette

from negotiator.agents import registration
from negotiator.compose.application import build_application
from negotiator.config.settings import Settings
from negotiator.console.people.agents_page import PAGE_SIZE
from tests.conftest import Change, Clock, Mint, Register
from tests.helpers.agents_page import CODE, claimed, made
from tests.helpers.fake_issuer import FakeIssuer
from tests.helpers.fake_issuer import registration as registering
from tests.helpers.form_browser import FormBrowser


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"life": "60000"}, "60 to 3600 seconds"),
        ({"life": "²"}, "60 to 3600 seconds"),
        ({"label": "x" * 101}, "at most 100 characters"),
        ({"label": "a\u202eb"}, "cannot be seen"),
        ({"scope__negotiations:read": "off"}, "Choose at least one thing"),
        ({"scope__negotiations:read": "off", "scope__tools:read": "on"}, "Choose at least one thing"),
    ],
)
async def test_a_code_that_cannot_be_is_refused_on_the_page(
    browser: FormBrowser, fields: dict[str, str], said: str
) -> None:
    usual = {"label": "", "life": "600", "purpose": "own"}
    told = {**usual, "scope__negotiations:read": "on", **fields}
    page = await browser.send("/agents/codes", on="/agents", **told)
    assert page.status_code == 422
    assert said in page.text
    assert not CODE.search(page.text)


@pytest.mark.asyncio
async def test_an_agent_shows_when_it_was_last_seen_and_when_its_token_ran_out(
    clock: Clock,
    browser: FormBrowser,
    application: Starlette,
    client: httpx2.AsyncClient,
    register: Register,
    change: Change,
    settings: Settings,
) -> None:
    del application
    bound = await claimed(client, await register("scout"), await made(browser))
    credentials = build_application(settings).services.credentials
    await credentials._store.start()  # pyright: ignore[reportPrivateUsage]
    clock.advance(65)
    assert credentials.take_seen() == {}
    assert await credentials.authenticate(bound["access_token"])
    seen = credentials.take_seen()
    assert seen == {bound["client_id"]: clock()}
    assert credentials.take_seen() == {}
    await change(lambda tx: registration.mark_seen(tx, seen))
    await change(lambda tx: registration.mark_seen(tx, {bound["client_id"]: clock() - 60_000}))
    page = (await browser.open("/agents")).text
    assert "Last seen 15 January 2027, 08:01 UTC" in page
    clock.advance(3600)
    page = (await browser.open("/agents")).text
    assert "until 14 February 2027 if it stays idle" in page
    assert "14 July 2027 at the latest" in page
    clock.advance(30 * 86_400)
    await browser.sign_in()
    assert "Its token has expired" in (await browser.open("/agents")).text
    await credentials._store.close()  # pyright: ignore[reportPrivateUsage]


@pytest.mark.asyncio
async def test_long_lists_come_in_pages(
    browser: FormBrowser, client: httpx2.AsyncClient, register: Register, mint: Mint
) -> None:
    for number in range(PAGE_SIZE + 2):
        _, code = await mint("ada@example.com", label=f"label {number}.")
        await claimed(client, await register(f"agent {number}."), code)
    first = (await browser.open("/agents")).text
    assert ">agent 26.</a></h3>" in first
    assert ">agent 1.</a></h3>" not in first
    older = re.findall('href="(/agents[?][^"#]+)', first)
    assert len(older) == 2
    assert ">agent 1.</a></h3>" in (await browser.open(older[0])).text
    assert "label 0." in (await browser.open(older[1])).text
    assert "label 0." not in first


@pytest.mark.asyncio
async def test_an_agent_that_an_issuer_vouched_for_says_so(
    clock: Clock, browser: FormBrowser, idp: FakeIssuer, client: httpx2.AsyncClient, change: Change
) -> None:
    del clock, change
    assertion = idp.assertion(email="new@corp.example", email_verified=True)
    answer = await client.post("/api/agent/register", json=registering(assertion))
    assert answer.status_code == 201, answer.text
    assert idp.name not in (await browser.open("/agents")).text, "it is somebody else's"
