"""The practice session of a rehearsal: opened by its own user alone, kept nowhere, with cards only where asked for."""

from dataclasses import dataclass
from typing import Any, Final

import httpx2
import pytest
import pytest_asyncio

from tests.conftest import Account, Browsers, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.agents_page import claimed, made
from tests.helpers.form_browser import FormBrowser

GOLF: Final[dict[str, Any]] = {
    "title": "Used VW Golf",
    "role": "buyer",
    "currency": "EUR",
    "issues": [{"name": "price", "label": "Price", "type": "money", "range": {"min": 11000, "max": 16000}}],
    "target": {"package": {"price": 12500}},
    "walk_away": {"package": {"price": 13870}},
}
SCOPES: Final = ("negotiations:write", "teleprompter:stream", "ai:tactics")


@dataclass
class Practising:
    """A signed-in user with a running rehearsal, and an agent of theirs that reads what came of it."""

    browser: FormBrowser
    client: httpx2.AsyncClient
    headers: dict[str, str]
    page: str

    async def voice(self, browser: FormBrowser | None = None, **fields: str) -> httpx2.Response:
        return await (browser or self.browser).send(f"{self.page}/voice", on="/account", **fields)


@pytest_asyncio.fixture
async def practising(
    browsers: Browsers, account: Account, register: Register, client: httpx2.AsyncClient
) -> Practising:
    await account()
    browser = browsers()
    await browser.sign_in()
    code = await made(browser, **{f"scope__{scope}": "on" for scope in SCOPES})
    headers = bearer(await claimed(client, await register(), code))
    opened = await client.post("/api/negotiations", json=GOLF, headers=headers)
    place = f"/negotiations/{opened.json()['id']}/rehearsals"
    begun = await client.post(f"/api{place}", json={}, headers=headers)
    assert begun.status_code == 201, begun.text
    return Practising(browser, client, headers, f"{place}/{begun.json()['id']}")


@covers("8.10:page")
@pytest.mark.asyncio
@pytest.mark.parametrize(("cards", "cues"), [("on", True), ("", False)])
async def test_the_session_is_practice_kept_nowhere_with_cards_where_asked_for(
    practising: Practising, cards: str, cues: bool
) -> None:
    answer = await practising.voice(cards=cards)
    assert answer.status_code == 200, answer.text
    made = answer.json()
    path = f"/api/teleprompter/sessions/{made['session']}"
    assert made["socket"] == f"{path}/stream"
    view = (await practising.client.get(path, headers=practising.headers)).json()
    assert view["negotiation_id"] in practising.page
    assert {name: view[name] for name in ("practice", "cues", "keep", "source")} == {
        "practice": True,
        "cues": cues,
        "keep": "none",
        "source": "text",
    }
    assert view["consent"]["basis"] == "test"


@pytest.mark.asyncio
async def test_nobody_else_opens_it_and_no_form_without_its_token(
    practising: Practising, browsers: Browsers, account: Account
) -> None:
    await account("grace@example.com")
    other = browsers()
    await other.sign_in("grace@example.com")
    assert (await practising.voice(other)).status_code == 404
    bare = await practising.browser.client.post(f"{practising.page}/voice", data={})
    assert bare.status_code == 403
    listed = await practising.client.get("/api/teleprompter/sessions", headers=practising.headers)
    assert listed.json()["items"] == []


@covers("8.10:page")
@pytest.mark.asyncio
async def test_a_running_rehearsal_may_use_the_microphone_and_works_without_script(practising: Practising) -> None:
    page = await practising.browser.open(practising.page)
    assert "microphone=(self)" in page.headers["permissions-policy"]
    assert f'data-voice="{practising.page}/voice"' in page.text
    assert 'id="speak"' in page.text
    script = await practising.browser.open("/rehearse.js")
    assert len(script.content) <= 12_000
