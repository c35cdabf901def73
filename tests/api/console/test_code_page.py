"""The page of a new delegation code: what it tells an agent works, and it follows what becomes of the code."""

import re
from html import unescape
from typing import Any

import httpx2
import orjson
import pytest

from negotiator.console.people.scope_words import purpose_scopes
from tests.conftest import Account, Browsers, Clock, Register
from tests.helpers.agents_page import CODE, claimed, made
from tests.helpers.form_browser import BASE, FormBrowser

BY_SCRIPT = {"HX-Request": "true"}


async def code_page(browser: FormBrowser, **fields: str) -> str:
    """The page that shows a new code."""
    told = {"purpose": "advise", "life": "600", **fields}
    page = await browser.send("/agents/codes", on="/agents", **told)
    assert page.status_code == 200, page.text
    return page.text


def state_path(page: str) -> str:
    """What the page asks for every two seconds."""
    found = re.search('hx-get="([^"]+)"', page)
    assert found, page
    return unescape(found[1])


@pytest.mark.asyncio
async def test_an_agent_that_does_what_the_text_says_is_bound_with_the_purpose(
    browser: FormBrowser, client: httpx2.AsyncClient
) -> None:
    page = await code_page(browser)
    found = re.search('<pre id="instructions"[^>]*>(.*?)</pre>', page, re.DOTALL)
    assert found
    text = unescape(found[1])
    register, claim = re.findall(r"POST to (\S+)", text)
    first, second = (orjson.loads(body) for body in re.findall(r"{.*}", text))
    agent = await client.post(register.removeprefix(BASE), json={**first, "agent_name": "scout"})
    bearer = {"Authorization": f"Bearer {agent.json()['access_token']}"}
    bound = await client.post(claim.removeprefix(BASE), json=second, headers=bearer)
    assert set(bound.json()["scopes"]) == set(purpose_scopes("advise"))
    for path in ("/mcp", "/openapi.json", "/auth.md"):
        assert f"{BASE}{path}" in text
    assert (await client.get("/auth.md")).status_code == 200
    assert (await client.get("/openapi.json")).status_code == 200


@pytest.mark.asyncio
async def test_the_page_turns_to_the_agent_by_itself_and_rests_while_nothing_changes(
    clock: Clock, browser: FormBrowser, client: httpx2.AsyncClient, register: Register
) -> None:
    page = await code_page(browser)
    assert "10 minutes left" in page
    asked = state_path(page)
    assert (await browser.open(asked, **BY_SCRIPT)).status_code == 204
    clock.advance(70)
    later = await browser.open(asked, **BY_SCRIPT)
    assert later.headers["hx-retarget"] == "#code-left"
    assert "9 minutes left" in later.text
    code = CODE.search(page)
    assert code
    await claimed(client, await register("scout <b>"), code[0])
    done = await browser.open(asked, **BY_SCRIPT)
    assert "Bound to scout &lt;b&gt;" in done.text
    assert "hx-get" not in done.text
    without_script = await browser.open(asked.partition("?")[0])
    assert "<html" in without_script.text
    assert "Bound to scout &lt;b&gt;" in without_script.text


@pytest.mark.asyncio
async def test_a_code_that_ran_out_says_so_and_asks_no_more(clock: Clock, browser: FormBrowser) -> None:
    asked = state_path(await code_page(browser))
    waits = await browser.open(asked.partition("?")[0])
    assert "Waiting for your agent" in waits.text
    assert not CODE.search(waits.text), "a code is shown once"
    clock.advance(601)
    over = await browser.open(asked, **BY_SCRIPT)
    assert "This code has expired" in over.text
    assert "hx-get" not in over.text


@pytest.mark.asyncio
async def test_a_code_of_someone_else_is_not_there(browser: FormBrowser, browsers: Browsers, account: Account) -> None:
    asked = state_path(await code_page(browser))
    await account("eve@example.com")
    other = browsers()
    await other.sign_in("eve@example.com")
    headers: list[dict[str, Any]] = [{}, BY_SCRIPT]
    for each in headers:
        assert (await other.open(asked, **each)).status_code == 404


@pytest.mark.asyncio
async def test_the_qr_code_is_part_of_the_page(browser: FormBrowser) -> None:
    page = await code_page(browser)
    assert 'class="qr-code"' in page
    assert "style=" not in page
    assert await made(browser)
