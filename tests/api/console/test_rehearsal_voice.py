"""The practice session of a rehearsal: opened by its own user alone, kept nowhere, with cards only where asked for."""

from dataclasses import dataclass

import httpx2
import pytest
import pytest_asyncio

from tests.contract.requirements import covers
from tests.helpers.form_browser import FormBrowser


@dataclass
class Practising:
    """A signed-in user with a running rehearsal, and an agent of theirs that reads what came of it."""

    browser: FormBrowser
    client: httpx2.AsyncClient
    headers: dict[str, str]
    page: str

    async def voice(self, **fields: str) -> httpx2.Response:
        return await self.browser.send(f"{self.page}/voice", on="/account", **fields)


@pytest_asyncio.fixture
async def practising(
    browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str], golf: str
) -> Practising:
    place = f"{golf}/rehearsals"
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


@covers("8.10:page")
@pytest.mark.asyncio
async def test_a_running_rehearsal_may_use_the_microphone_and_works_without_script(practising: Practising) -> None:
    page = await practising.browser.open(practising.page)
    assert "microphone=(self)" in page.headers["permissions-policy"]
    assert f'data-voice="{practising.page}/voice"' in page.text
    assert 'id="speak"' in page.text
    script = await practising.browser.open("/rehearse.js")
    assert len(script.content) <= 12_000
