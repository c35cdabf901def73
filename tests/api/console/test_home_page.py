"""The home page and the list of negotiations: what waits, what runs, what was won, by the API's own figures."""

import re
from html import unescape

import httpx2
import pytest

from tests.conftest import Account, Browsers, Clock, Register
from tests.contract.requirements import covers
from tests.helpers.form_browser import FormBrowser, redirect_path, text_of
from tests.helpers.negotiating_agent import offer_price, open_golf


@pytest.mark.asyncio
@covers("6.2:example")
async def test_a_new_user_sees_two_doors_and_an_example_that_is_erased_again(
    browser: FormBrowser, headers: dict[str, str], client: httpx2.AsyncClient
) -> None:
    shown = text_of(await browser.open("/"))
    assert "Prepare a negotiation" in shown
    assert "Connect an agent" in shown
    workspace = redirect_path(await browser.send("/example", on="/"))
    assert redirect_path(await browser.send("/example", on="/")) == workspace, "there is one"
    [example] = (await client.get("/api/negotiations", headers=headers)).json()["items"]
    assert example["example"] is True
    assert len((await client.get(f"/api{workspace}/offers", headers=headers)).json()["items"]) == 3
    win = {
        "negotiation_id": example["id"],
        "currency": "EUR",
        "baseline": {"amount": "58"},
        "achieved": {"amount": "47"},
    }
    refused = await client.post("/api/wins", json=win, headers=headers)
    assert (refused.status_code, refused.json()["error"]) == (409, "example_negotiation")
    home = text_of(await browser.open("/"))
    assert "Example" in home
    assert "Connect an agent" in home, "an example is no negotiation of one's own"
    await browser.send(f"{workspace}/erase", on="/")
    assert (await client.get("/api/negotiations", headers=headers)).json()["items"] == []


@pytest.mark.asyncio
@covers("6.1:latest")
async def test_home_says_the_last_offer_and_its_gap_to_the_target(
    browser: FormBrowser, headers: dict[str, str], client: httpx2.AsyncClient
) -> None:
    view = await open_golf(client, headers)
    await offer_price(client, headers, view["id"], 14900)
    await offer_price(client, headers, view["id"], 12300, by="me")
    [listed] = (await client.get("/api/negotiations?latest=true&phase=running", headers=headers)).json()["items"]
    assert listed["latest"]["theirs"]["package"] == {"price": "14900.00"}
    assert listed["latest"]["mine"]["package"] == {"price": "12300.00"}
    assert listed["latest"]["plan"] is None
    shown = text_of(await browser.open("/"))
    assert "Jens · You offered €12,300" in shown
    assert "Their offer is €2,400 above your target" in shown
    await client.post(f"/api/negotiations/{view['id']}/battle-plans", json={}, headers=headers)
    assert "changed since its plan" not in text_of(await browser.open("/"))
    await offer_price(client, headers, view["id"], 14300)
    [listed] = (await client.get("/api/negotiations?latest=true", headers=headers)).json()["items"]
    assert listed["latest"]["plan"] == {"version": 1, "stale": True}
    assert "changed since its plan" in text_of(await browser.open("/"))
    await browser.send(f"/negotiations/{view['id']}/plan", on="/")
    [listed] = (await client.get("/api/negotiations?latest=true", headers=headers)).json()["items"]
    assert listed["latest"]["plan"] == {"version": 2, "stale": False}


@pytest.mark.asyncio
async def test_the_last_offer_is_the_one_recorded_last_also_by_a_machine_whose_clock_is_behind(
    clock: Clock, browser: FormBrowser, headers: dict[str, str], client: httpx2.AsyncClient
) -> None:
    view = await open_golf(client, headers)
    await offer_price(client, headers, view["id"], 14900)
    clock.advance(-2)
    await offer_price(client, headers, view["id"], 12300, by="me")
    [listed] = (await client.get("/api/negotiations?latest=true", headers=headers)).json()["items"]
    assert listed["latest"]["mine"]["at"] < listed["latest"]["theirs"]["at"]
    assert listed["latest"]["mine"]["seq"] > listed["latest"]["theirs"]["seq"]
    assert "Jens · You offered €12,300" in text_of(await browser.open("/"))


@pytest.mark.asyncio
@covers("7.5:totals")
async def test_home_adds_up_what_was_won_by_currency(
    browser: FormBrowser, headers: dict[str, str], client: httpx2.AsyncClient
) -> None:
    for currency, achieved in (("EUR", "90"), ("EUR", "70.50"), ("USD", "80")):
        win = {"currency": currency, "baseline": {"amount": "100"}, "achieved": {"amount": achieved}}
        assert (await client.post("/api/wins", json=win, headers=headers)).status_code == 201
    totals = (await client.get("/api/wins/totals", headers=headers)).json()["items"]
    assert [(one["currency"], one["deals"], one["savings"]) for one in totals] == [
        ("EUR", 2, "39.50"),
        ("USD", 1, "20.00"),
    ]
    shown = text_of(await browser.open("/"))
    assert "€39.50 saved in 2 deals" in shown
    assert "$20 in 1 deal" in shown


@pytest.mark.asyncio
async def test_home_counts_memories_and_shows_agents_that_ask(
    browser: FormBrowser, browsers: Browsers, account: Account, register: Register, client: httpx2.AsyncClient
) -> None:
    asked = await client.post(
        "/api/agent/register",
        json={
            "agent_name": "scout",
            "identity_type": "identity_assertion",
            "assertion_type": "verified_email",
            "assertion": "ada@example.com",
        },
    )
    assert asked.status_code == 201, asked.text
    page = await browser.open("/")
    assert "scout asks to work for you" in text_of(page)
    link = re.search(r'href="(/approvals/[^"]+)"', page.text)
    assert link
    assert "scout" in text_of(await browser.open(link[1]))
    granted = await browser.send(link[1], on=link[1], **{"purpose": "own", "scope__negotiations:read": "on"})
    assert granted.status_code == 200
    assert (await browser.open(link[1])).status_code == 410
    assert "asks to work for you" not in text_of(await browser.open("/"))
    other = browsers()
    await account("eve@example.com")
    await other.sign_in("eve@example.com")
    assert (await other.open(link[1])).status_code == 410


@pytest.mark.asyncio
async def test_the_list_searches_filters_sorts_and_goes_on(
    browser: FormBrowser, headers: dict[str, str], client: httpx2.AsyncClient
) -> None:
    for number in range(21):
        await open_golf(client, headers, title=f"Car {number:02}")
    late = await open_golf(client, headers, title="Rent", deadline="2099-01-01T00:00:00Z")
    await client.post(f"/api/negotiations/{late['id']}/state", json={"to": "lost"}, headers=headers)
    first = await browser.open("/negotiations")
    assert "Rent" in text_of(first)
    assert "Car 01" not in text_of(first)
    following = re.search(r'href="([^"]*after=[^"]*)"', first.text)
    assert following
    assert "Car 01" in text_of(await browser.open(unescape(following[1])))
    assert "Rent" not in text_of(await browser.open("/negotiations?state=running"))
    ended = text_of(await browser.open("/negotiations?state=lost"))
    assert "Rent" in ended
    assert "Car 07" not in ended
    assert "Car 07" in text_of(await browser.open("/negotiations?query=car+07"))
    assert "Nothing fits" in text_of(await browser.open("/negotiations?query=boat"))
    by_deadline = (await client.get("/api/negotiations?sort=deadline&limit=5", headers=headers)).json()
    again = await client.get(
        f"/api/negotiations?sort=deadline&limit=100&cursor={by_deadline['next_cursor']}", headers=headers
    )
    titles = [one["title"] for one in (*by_deadline["items"], *again.json()["items"])]
    assert len(titles) == len(set(titles)) == 22
    changed = (await client.get("/api/negotiations?sort=changed&limit=1", headers=headers)).json()
    assert changed["items"][0]["title"] == "Rent"
    other = await client.get(f"/api/negotiations?sort=changed&cursor={by_deadline['next_cursor']}", headers=headers)
    assert other.json()["error"] == "invalid_cursor"
