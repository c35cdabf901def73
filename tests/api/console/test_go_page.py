"""One search over pages, negotiations, tools, what the user knows, and guides; only over what is theirs."""

import httpx2
import pytest

from tests.conftest import Account, Browsers, Register, bearer
from tests.helpers.agents_page import claimed, made
from tests.helpers.form_browser import FormBrowser
from tests.helpers.memory_client import hashing_embedder as hashing_embedder

PAGE = "/go"
TERMS = {
    "title": "Crane hire for the harbour",
    "role": "buyer",
    "currency": "EUR",
    "counterparty": {"organisation": "Hoist"},
    "issues": [{"name": "price", "type": "money", "range": {"min": 10, "max": 20}}],
}


@pytest.mark.asyncio
async def test_everything_of_the_user_s_is_found_and_nothing_of_others(
    browsers: Browsers, account: Account, register: Register, client: httpx2.AsyncClient, hashing_embedder: None
) -> None:
    del hashing_embedder
    await account()
    await account("grace@example.com")
    ada, grace = browsers(), browsers()
    await ada.sign_in()
    await grace.sign_in("grace@example.com")
    scopes = ("negotiations:read", "negotiations:write", "memories:read", "memories:write")
    code = await made(ada, **{f"scope__{scope}": "on" for scope in scopes})
    headers = bearer(await claimed(client, await register("scout"), code))
    opened = await client.post("/api/negotiations", json=TERMS, headers=headers)
    assert opened.status_code == 201, opened.text
    note = {"text": "Hoist gives the crane for less on Mondays."}
    assert (await client.post("/api/memories", json=note, headers=headers)).status_code == 201
    found = (await ada.open(f"{PAGE}?q=crane")).text
    assert f'href="/negotiations/{opened.json()["id"]}"' in found
    assert "Hoist · Being prepared" in found
    assert "Hoist gives the crane for less on Mondays." in found
    theirs = (await grace.open(f"{PAGE}?q=crane")).text
    assert "Hoist" not in theirs
    assert "neg_" not in theirs


@pytest.mark.asyncio
async def test_pages_and_guides_are_found_and_the_box_gets_results_alone(
    browser: FormBrowser, account: Account
) -> None:
    whole = await browser.open(f"{PAGE}?q=agents")
    assert "<h1>Go to</h1>" in whole.text
    assert 'href="/agents"' in whole.text
    assert 'href="/docs/guides/agents"' in whole.text
    part = (await browser.open(f"{PAGE}?q=agents", **{"HX-Request": "true"})).text
    assert "<h1>" not in part
    assert 'href="/docs/guides/agents"' in part
    assert "Prepare a negotiation" in (await browser.open(PAGE)).text
    assert "Nothing has these words" in (await browser.open(f"{PAGE}?q=zzqx")).text
    assert 'href="/admin"' not in (await browser.open(f"{PAGE}?q=admin")).text
    asked = (await browser.open(f"{PAGE}?q=erase", **{"HX-Request": "true"})).text
    assert 'href="/docs/guides/account"' in asked
    assert "<h2>Tools</h2>" not in asked
    long = await browser.open(f"{PAGE}?q={'x' * 3000}&q=%00")
    assert long.status_code == 200


@pytest.mark.asyncio
async def test_visitors_sign_in_first(browsers: Browsers) -> None:
    answer = await browsers().open(f"{PAGE}?q=agents")
    assert answer.headers["location"].endswith("/sign-in?next=%2Fgo%3Fq%3Dagents")
