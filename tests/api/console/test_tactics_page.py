"""The pages of tactics: the shelf, what words of the other side are, and the user's own tactics."""

import re
from html import unescape

import httpx2
import pytest

from tests.helpers.form_browser import FormBrowser, redirect_path
from tests.helpers.memory_client import hashing_embedder as hashing_embedder

PAGE = "/tactics"
OWN = {
    "name": "Coffee first",
    "summary": "Talk about anything else for a while.",
    "family": "relationship",
    "gain": "relationship",
    "ethics": "fine",
    "risk": "0",
    "lines": "Shall we have a coffee?\nHow was the trip?",
    "use_when": "You hardly know them",
    "phase_open": "on",
}


@pytest.fixture(autouse=True)
def use_hashing_embedder(hashing_embedder: None) -> None:
    """Every test here."""
    del hashing_embedder


async def added(browser: FormBrowser) -> str:
    """An own tactic that was typed; answers its id."""
    answer = await browser.send(f"{PAGE}/new", on=f"{PAGE}/new", **OWN)
    return redirect_path(answer).removeprefix(f"{PAGE}/").partition("?")[0]


@pytest.mark.asyncio
async def test_words_of_the_other_side_are_named_and_answered_as_the_api_does(
    browser: FormBrowser, headers: dict[str, str], client: httpx2.AsyncClient
) -> None:
    said = "This price is only good until Friday, take it or leave it."
    body = {"utterance": said, "limit": 3}
    found = (await client.post("/api/tactics/suggest", json=body, headers=headers)).json()
    assert found["recognised"]
    page = unescape((await browser.open(f"{PAGE}?said={said}")).text)
    shown = page[page.index('id="heard"') : page.index('id="shelf"')]
    for move in found["recognised"]:
        assert move["tactic"]["name"] in shown
        assert f"“{move['quote']}”" in shown
    for item in found["items"]:
        assert item["tactic"]["name"] in shown
        assert item["say"] in shown
    quiet = unescape((await browser.open(f"{PAGE}?said=The weather is nice.")).text)
    assert "No known move in these words" in quiet


@pytest.mark.asyncio
async def test_the_shelf_is_read_by_phase_and_by_words(
    browser: FormBrowser, headers: dict[str, str], client: httpx2.AsyncClient
) -> None:

    async def listed(**query: str) -> set[str]:
        params = {"limit": "100", **query}
        answer = (await client.get("/api/tactics", params=params, headers=headers)).json()
        found = {one["id"] for one in answer["items"]}
        if answer["next_cursor"]:
            found |= await listed(**{**query, "cursor": answer["next_cursor"]})
        return found

    for query in ({}, {"phase": "close"}, {"query": "silence"}):
        page = (await browser.open(f"{PAGE}?{'&'.join('='.join(one) for one in query.items())}")).text
        assert set(re.findall(r"/tactics/(tac_\w+)", page)) == await listed(**query)
    article = unescape((await browser.open(f"{PAGE}/tac_first_anchor")).text)
    for words in ("Ambitious first offer", "What to say", "What answers it", "many studies agree"):
        assert words in article
    trick = (await browser.open(f"{PAGE}/tac_exploding_offer")).text
    assert "Deceptive: know it, do not use it" in trick
    assert "data-copy" not in trick
    assert (await browser.open(f"{PAGE}/tac_exploding_offer/edit")).status_code == 403
    assert (await browser.open(f"{PAGE}/tac_nothing")).status_code == 404


@pytest.mark.asyncio
async def test_an_own_tactic_is_added_used_edited_and_deleted(
    browser: FormBrowser, headers: dict[str, str], client: httpx2.AsyncClient
) -> None:
    key = await added(browser)
    place, api = f"{PAGE}/{key}", f"/api/tactics/{key}"
    view = (await client.get(api, headers=headers)).json()
    assert [line["text"] for line in view["lines"]] == OWN["lines"].splitlines()
    assert (view["phases"], view["effect"]["on"]) == (["open"], "relationship")
    tested = {"use_when": [{"text": "They opened", "fact": "their_offers", "at_least": 1}]}
    assert (await client.patch(api, json=tested, headers=headers)).status_code == 200
    win = {
        "currency": "EUR",
        "counterparty": "Relatio",
        "baseline": {"amount": "10"},
        "achieved": {"amount": "9"},
        "tactics_used": [{"tactic_id": key, "helped": 2}],
    }
    assert (await client.post("/api/wins", json=win, headers=headers)).status_code == 201
    uses = (await client.get(f"{api}/uses", headers=headers)).json()
    assert [one["counterparty"] for one in uses["wins"]] == ["Relatio"]
    page = unescape((await browser.open(place)).text)
    assert "Relatio</a>" in page
    assert "it decided" in page
    revised = {**OWN, "name": "Tea first", "use_when": "They opened\nIt is cold", "revision": "2"}
    saved = await browser.send(f"{place}/edit", on=f"{place}/edit", **revised)
    assert redirect_path(saved) == f"{place}?told=saved"
    after = (await client.get(api, headers=headers)).json()
    assert after["name"] == "Tea first"
    assert after["use_when"] == [*tested["use_when"], {"text": "It is cold"}], "a test is kept"
    late = await browser.send(f"{place}/edit", on=f"{place}/edit", **revised)
    assert late.status_code == 412
    empty = await browser.send(f"{PAGE}/new", on=f"{PAGE}/new", **{**OWN, "name": ""})
    assert empty.status_code == 422
    assert 'id="name-error"' in empty.text
    assert "Shall we have a coffee?" in empty.text
    assert "for good?" in (await browser.send(f"{place}/delete", on=place)).text
    await browser.send(f"{place}/delete", on=place, sure="yes")
    assert (await client.get(api, headers=headers)).status_code == 404
