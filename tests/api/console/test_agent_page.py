"""The page of one agent: what it did, what it was refused and what to do about it, until when it may work."""

from html import unescape
from typing import Any

import httpx2
import pytest

from negotiator.console.people.scope_words import WORDS
from tests.conftest import Clock, Register
from tests.helpers.agents_page import CODE, claimed
from tests.helpers.form_browser import FormBrowser, redirect_path

LAPTOPS: dict[str, Any] = {
    "title": "Forty laptops",
    "role": "buyer",
    "currency": "EUR",
    "issues": [{"name": "price", "type": "money", "range": {"min": 800, "max": 1200}}],
}


async def bound(
    browser: FormBrowser, client: httpx2.AsyncClient, register: Register, purpose: str
) -> tuple[str, dict[str, str]]:
    """An agent that a code for this purpose bound: its page and its header."""
    page = await browser.send("/agents/codes", on="/agents", purpose=purpose, life="600")
    code = CODE.search(page.text)
    assert code
    agent = await claimed(client, await register("scout"), code[0])
    return f"/agents/{agent['client_id']}", {"Authorization": f"Bearer {agent['access_token']}"}


@pytest.mark.asyncio
async def test_the_page_shows_what_was_refused_and_what_to_do_about_it(
    browser: FormBrowser, client: httpx2.AsyncClient, register: Register
) -> None:
    page, bearer = await bound(browser, client, register, "advise")
    assert "None yet. Ask it" in (await browser.open(page)).text
    for _ in range(3):
        refused = await client.post("/api/memories", json={"text": "x"}, headers=bearer)
        assert refused.status_code == 403
    assert (await client.get("/api/negotiations", headers=bearer)).status_code == 200
    assert (await client.get("/api/tactics/tac_none", headers=bearer)).status_code == 404
    shown = unescape((await browser.open(page)).text)
    assert "Remember something" in shown
    assert "3 times in all" in shown
    assert f"It lacks: {WORDS['memories:write'].lower()}." in shown
    assert "If you want it to, connect it again with a new code." in shown
    assert 'href="/agents?purpose=negotiate#new"' in shown
    assert "<strong>Read a tactic</strong>" in shown
    assert "Nothing, unless you deleted it by mistake" in shown
    assert "Look through your negotiations" in shown
    chosen = (await browser.open("/agents?purpose=everything")).text
    assert 'value="everything" checked' in chosen


@pytest.mark.asyncio
async def test_the_page_shows_the_negotiations_and_memories_that_it_touched(
    browser: FormBrowser, client: httpx2.AsyncClient, register: Register
) -> None:
    page, bearer = await bound(browser, client, register, "negotiate")
    made = (await client.post("/api/negotiations", json=LAPTOPS, headers=bearer)).json()
    text = "Acme gives way on price in the last week of a quarter."
    kept = await client.post("/api/memories", json={"kind": "fact", "text": text}, headers=bearer)
    assert kept.status_code == 201, kept.text
    shown = unescape((await browser.open(page)).text)
    assert f'href="/negotiations/{made["id"]}">Forty laptops</a>' in shown
    assert text in shown
    await client.delete(f"/api/negotiations/{made['id']}", headers=bearer)
    assert "Forty laptops" not in (await browser.open(page)).text


@pytest.mark.asyncio
async def test_renewing_gives_it_the_time_that_it_had_when_it_was_bound(
    clock: Clock, browser: FormBrowser, client: httpx2.AsyncClient, register: Register
) -> None:
    page, _ = await bound(browser, client, register, "advise")
    assert "Until 14 February 2027 if it stays idle, 14 July 2027" in (await browser.open(page)).text
    clock.advance(20 * 86_400)
    await browser.sign_in()
    assert redirect_path(await browser.send(f"{page}/renew", on=page)) == f"{page}?told=renewed"
    assert "Until 6 March 2027 if it stays idle, 3 August 2027" in (await browser.open(page)).text
    clock.advance(31 * 86_400)
    await browser.sign_in()
    assert "Nothing now: its access has ended" in (await browser.open(page)).text
    assert (await browser.send(f"{page}/renew", on=page)).status_code == 409


@pytest.mark.asyncio
async def test_an_ended_agent_keeps_its_page_and_nothing_else(
    browser: FormBrowser, client: httpx2.AsyncClient, register: Register
) -> None:
    page, bearer = await bound(browser, client, register, "advise")
    await client.get("/api/negotiations", headers=bearer)
    await browser.send(f"{page}/revoke", on=page)
    shown = (await browser.open(page)).text
    assert "Ended " in shown
    assert "Look through your negotiations" in shown
    assert "/revoke" not in shown
    assert "/renew" not in shown
