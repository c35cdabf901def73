"""The Agents page as the contract wants it: make, see, revoke; codes and agents (docs/contract 2.6)."""

import re

import httpx2
import pytest

from negotiator.base.scopes import ASSISTANT
from negotiator.console.people.scope_words import WORDS
from tests.conftest import Account, Browsers, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.agents_page import CLAIM, CODE, claimed, made
from tests.helpers.form_browser import redirect_path


@pytest.mark.asyncio
@covers("2.6:console")
async def test_a_user_makes_a_code_sees_what_it_bound_and_cuts_it_off_at_once(
    client: httpx2.AsyncClient, browsers: Browsers, account: Account, register: Register
) -> None:
    await account()
    browser = browsers()
    await browser.sign_in()
    assert "No agent works for you yet" in (await browser.open("/agents")).text
    code = await made(browser)
    page = (await browser.open("/agents")).text
    assert code not in page, "a code is shown once"
    assert "the laptop" in page
    assert '<span class="state open">open</span>' in page
    bound = await claimed(client, await register("scout"), code)
    assert bound["scopes"] == ["negotiations:read"]
    page = (await browser.open("/agents")).text
    assert '<span class="state used">used</span>' in page
    assert ">scout</a></h3>" in page
    assert f"<li>{WORDS['negotiations:read']}</li>" in page.partition("Connect an agent")[0]
    assert (await client.get("/api/negotiations", headers=bearer(bound))).status_code == 200
    ended = await browser.send(f"/agents/{bound['client_id']}/revoke", on="/agents")
    assert redirect_path(ended) == "/agents?told=agent"
    assert (await client.get("/api/negotiations", headers=bearer(bound))).status_code == 401
    page = (await browser.open("/agents?told=agent")).text
    assert ">scout</a></h3>" not in page
    assert "The agent is ended." in page


@pytest.mark.asyncio
@covers("2.6:console")
async def test_a_revoked_code_binds_nobody(
    client: httpx2.AsyncClient, browsers: Browsers, account: Account, register: Register
) -> None:
    await account()
    browser = browsers()
    await browser.sign_in()
    code = await made(browser)
    found = re.search("/agents/codes/dlg_[0-9a-z]{26}/revoke", (await browser.open("/agents")).text)
    assert found
    assert redirect_path(await browser.send(found[0], on="/agents")) == "/agents?told=code"
    page = (await browser.open("/agents?told=code")).text
    assert '<span class="state revoked">revoked</span>' in page
    agent = await register()
    answer = await client.post(CLAIM, json={"claim_token": code}, headers=bearer(agent))
    assert (answer.status_code, answer.json()["error"]) == (410, "claim_revoked")
    assert (await browser.send(found[0], on="/agents")).status_code == 404


@pytest.mark.asyncio
@covers("2.6:purpose")
@covers("2.6:handover")
@pytest.mark.parametrize(
    ("purpose", "granted"),
    [
        ("advise", {"negotiations:read", "memories:read", "ai:tactics"}),
        (
            "negotiate",
            {*("negotiations:read", "negotiations:write", "ai:tactics"), *("memories:read", "memories:write")},
        ),
        ("everything", set(ASSISTANT)),
    ],
)
async def test_a_code_grants_what_its_purpose_needs_and_its_page_follows_it(
    client: httpx2.AsyncClient,
    browsers: Browsers,
    account: Account,
    register: Register,
    purpose: str,
    granted: set[str],
) -> None:
    await account()
    browser = browsers()
    await browser.sign_in()
    # What is ticked below another choice does not count.
    ticked = {"purpose": purpose, "scope__openid": "on", "life": "600"}
    page = (await browser.send("/agents/codes", on="/agents", **ticked)).text
    code, state = CODE.search(page), re.search("/agents/codes/dlg_[0-9a-z]{26}", page)
    assert code
    assert state
    bound = await claimed(client, await register("scout"), code[0])
    assert set(bound["scopes"]) == granted
    assert "Bound to scout" in (await browser.open(state[0], **{"HX-Request": "true"})).text


@pytest.mark.asyncio
@covers("2.6:calls")
@covers("2.6:renew")
async def test_an_agent_s_page_shows_its_calls_and_renews_it(
    client: httpx2.AsyncClient, browsers: Browsers, account: Account, register: Register
) -> None:
    await account()
    browser = browsers()
    await browser.sign_in()
    bound = await claimed(client, await register("scout"), await made(browser))
    refused = await client.post("/api/memories", json={"text": "x"}, headers=bearer(bound))
    assert refused.status_code == 403
    page = f"/agents/{bound['client_id']}"
    shown = (await browser.open(page)).text
    assert "Refused" in shown
    assert "What to do." in shown
    assert redirect_path(await browser.send(f"{page}/renew", on=page)) == f"{page}?told=renewed"
