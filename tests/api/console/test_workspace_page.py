"""The page of a negotiation: what it shows equals what the API answers, and its forms change the same data."""

import re
from html import unescape
from typing import Any

import httpx2
import pytest

from tests.conftest import Account, Browsers, Register
from tests.helpers.agents_page import claimed, made
from tests.helpers.form_browser import FormBrowser

GOLF: dict[str, Any] = {
    "title": "Used VW Golf",
    "role": "buyer",
    "currency": "EUR",
    "counterparty": "Jens",
    "issues": [
        {"name": "price", "label": "Price", "type": "money", "range": {"min": 11000, "max": 15000}}
    ],
    "target": {"package": {"price": 12500}},
    "walk_away": {"package": {"price": 14000}},
}


async def opened(
    browser: FormBrowser, register: Register, client: httpx2.AsyncClient
) -> tuple[str, dict[str, str]]:
    """A negotiation of the browser's user that their agent opened; its id and the agent's headers."""
    code = await made(
        browser,
        **{
            "scope__negotiations:write": "on",
            "scope__ai:tactics": "on",
            "scope__memories:read": "on",
        },
    )
    bound = await claimed(client, await register(), code)
    headers = {"Authorization": f"Bearer {bound['access_token']}"}
    answer = await client.post("/api/negotiations", json=GOLF, headers=headers)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"], headers


@pytest.mark.asyncio
async def test_the_page_says_the_advice_of_the_api_and_records_what_was_said(
    browsers: Browsers, account: Account, register: Register, client: httpx2.AsyncClient
) -> None:
    await account()
    browser = browsers()
    await browser.sign_in()
    negotiation, headers = await opened(browser, register, client)
    page = f"/negotiations/{negotiation}"
    recorded = await browser.send(f"{page}/offers", on=page, by="them", **{"issue:price": "14900"})
    assert recorded.status_code == 303
    move = (await client.post(f"/api{page}/next-move", json={}, headers=headers)).json()
    shown = unescape((await browser.open(page)).text)
    assert move["say"] in shown
    assert f"Propose: €{float(move['offer']['price']):,.0f}" in shown
    assert all(reason in shown for reason in move["reasons"][:3])
    [offer] = (await client.get(f"/api{page}/offers", headers=headers)).json()["items"]
    assert (offer["by"], offer["package"], offer["status"]) == (
        "them",
        {"price": "14900.00"},
        "live",
    )
    [event, *_] = (await client.get(f"/api{page}/events", headers=headers)).json()["items"]
    assert event["actor"]["kind"] == "user"


@pytest.mark.asyncio
async def test_a_refused_offer_keeps_what_was_typed(
    browsers: Browsers, account: Account, register: Register, client: httpx2.AsyncClient
) -> None:
    await account()
    browser = browsers()
    await browser.sign_in()
    negotiation, headers = await opened(browser, register, client)
    page = f"/negotiations/{negotiation}"
    refused = await browser.send(f"{page}/offers", on=page, by="me", **{"issue:price": "14800"})
    assert refused.status_code == 409
    assert 'value="14800"' in refused.text
    assert 'role="alert"' in refused.text
    assert not (await client.get(f"/api{page}/offers", headers=headers)).json()["items"]


@pytest.mark.asyncio
async def test_a_plan_is_made_and_read_on_the_page(
    browsers: Browsers, account: Account, register: Register, client: httpx2.AsyncClient
) -> None:
    await account()
    browser = browsers()
    await browser.sign_in()
    negotiation, headers = await opened(browser, register, client)
    page = f"/negotiations/{negotiation}"
    assert (await browser.send(f"{page}/plan", on=page)).status_code == 303
    shown = (await browser.open(page)).text
    assert "At a glance" in shown
    assert "Make it anew" in shown
    assert not re.search(r"engine:|utility|undominated", shown)
    plans = (await client.get(f"/api{page}/battle-plans", headers=headers)).json()["items"]
    assert len(plans) == 1


@pytest.mark.asyncio
async def test_another_s_negotiation_is_not_found(
    browsers: Browsers, account: Account, register: Register, client: httpx2.AsyncClient
) -> None:
    await account()
    browser = browsers()
    await browser.sign_in()
    other = await register()
    answer = await client.post(
        "/api/negotiations",
        json=GOLF,
        headers={"Authorization": f"Bearer {other['access_token']}"},
    )
    page = f"/negotiations/{answer.json()['id']}"
    assert (await browser.open(page)).status_code == 404
    assert (await browser.send(f"{page}/plan", on="/agents")).status_code == 404
