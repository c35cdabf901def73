"""The pages of rehearsals: begun, played and ended by forms, with the figures of the API; nothing of it counts."""

import re
from dataclasses import dataclass
from html import unescape
from typing import Any, Final

import httpx2
import pytest

from tests.contract.requirements import covers
from tests.helpers.form_browser import FormBrowser, redirect_path
from tests.helpers.memory_client import hashing_embedder as hashing_embedder

CAR: Final[dict[str, Any]] = {
    "title": "Used VW Golf",
    "role": "buyer",
    "currency": "EUR",
    "counterparty": "Jens",
    "issues": [{"name": "price", "label": "Price", "type": "money", "range": {"min": 9000, "max": 16000}}],
    "target": {"package": {"price": 11000}},
    "walk_away": {"package": {"price": 13500}},
    "their_estimate": {"walk_away": {"low": "11500", "likely": "12000", "high": "12500"}},
}
INNER: Final = re.compile(r"\butilit|\bploy|\bfloor\b|\bseed\b|reservation", re.IGNORECASE)


@pytest.fixture(autouse=True)
def use_hashing_embedder(hashing_embedder: None) -> None:
    """A lesson that is kept is a memory."""
    del hashing_embedder


@dataclass
class Practice:
    """A browser of Ada's, and their agent, which reads the same by the API."""

    browser: FormBrowser
    client: httpx2.AsyncClient
    agent: dict[str, str]
    list: str = ""

    async def api(self, path: str) -> Any:
        answer = await self.client.get(f"/api{path}", headers=self.agent)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def open(self, **members: Any) -> str:
        """A negotiation; the path of its rehearsals."""
        sent = {**CAR, **members}
        answer = await self.client.post("/api/negotiations", json=sent, headers=self.agent)
        assert answer.status_code == 201, answer.text
        self.list = f"/negotiations/{answer.json()['id']}/rehearsals"
        return self.list

    async def begin(self, **fields: str) -> str:
        """A rehearsal that the form begins; its path."""
        chosen = {"kind": "fair", "hardness": "normal", **fields}
        return redirect_path(await self.browser.send(self.list, on=self.list, **chosen))

    async def shown(self, path: str) -> str:
        answer = await self.browser.open(path)
        assert answer.status_code == 200, answer.text
        return unescape(answer.text)


@pytest.fixture
def one(browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str]) -> Practice:
    """Hers."""
    return Practice(browser, client, headers)


@pytest.mark.asyncio
@covers("6.10:page")
async def test_a_rehearsal_is_played_by_forms_and_its_debrief_has_the_figures_of_the_api(one: Practice) -> None:
    page = await one.open()
    assert "What it brings" in await one.shown(page)
    place = await one.begin(kind="stubborn", hardness="hard")
    begun = await one.api(place)
    shown = await one.shown(place)
    assert (begun["kind"], begun["hardness"]) == ("stubborn", "hard")
    assert begun["says"] in shown
    assert "Practice: nothing here counts." in shown
    said = {"do": "say", "issue:price": "10.8k", "said": "Because two others ask less."}
    assert redirect_path(await one.browser.send(place, on=place, **said)) == place
    played = await one.api(place)
    assert played["my_offer"]["package"] == {"price": "10800.00"}
    assert [turn["action"] for turn in played["turns"] if turn["by"] == "me"] == ["offer"]
    shown = await one.shown(place)
    assert played["says"] in shown
    assert "€10,800" in shown
    over = redirect_path(await one.browser.send(place, on=place, do="accept"))
    assert over == f"{place}?told=over"
    debrief, shown = await one.api(f"{place}/debrief"), await one.shown(over)
    assert f"{debrief['score']} of 100 points" in shown
    for words in (*debrief["sentences"], debrief["try_next"], debrief["lesson"]):
        assert words in shown
    for member in ("deal", "best_deal", "floor", "left_on_table"):
        assert debrief[member]["words"].lower() in shown.lower()
    for row in debrief["ledger"]:
        assert row["words"] in shown
    listed = await one.shown(page)
    assert f"{debrief['score']} of 100" in listed
    assert debrief["left_on_table"]["words"] in listed
    assert not INNER.search(re.sub(r"<[^>]+>", " ", shown + listed))
    negotiation = page.removesuffix("/rehearsals")
    assert not (await one.api(f"{negotiation}/offers"))["items"]
    assert not (await one.api("/memories"))["items"]


@pytest.mark.asyncio
async def test_the_same_person_is_met_again_and_both_tries_stand_side_by_side(one: Practice) -> None:
    page = await one.open()
    first = await one.begin(kind="takes_back", hardness="easy")
    await one.browser.send(first, on=first, do="leave")
    before = await one.api(first)
    again = redirect_path(await one.browser.send(page, on=first, again=before["id"], once="a"))
    second = await one.api(again)
    for member in ("kind", "hardness", "seed"):
        assert second[member] == before[member]
    assert second["says"] == before["turns"][0]["said"]
    harder = await one.api(await one.begin(hardness="hard", person=before["id"]))
    assert (harder["seed"], harder["hardness"]) == (before["seed"], "hard")
    await one.browser.send(again, on=again, do="accept")
    shown = await one.shown(again)
    tries = shown[shown.index("With the same person") : shown.index("Keep a lesson?")]
    assert f"rehearsals/{before['id']}" in tries
    assert "this one" in tries
    assert str(before["seed"]) not in shown


@pytest.mark.asyncio
async def test_a_turn_that_cannot_be_read_keeps_what_was_typed(one: Practice) -> None:
    await one.open()
    place = await one.begin()
    typed = {"issue:price": "quite a lot", "said": "That is what I have."}
    unread = await one.browser.send(place, on=place, do="say", **typed)
    assert unread.status_code == 422
    shown = unescape(unread.text)
    assert 'value="quite a lot"' in shown
    assert "That is what I have.</textarea>" in shown
    assert 'id="answer-0-fault"' in shown
    empty = await one.browser.send(place, on=place, do="say")
    assert empty.status_code == 422
    assert "Write a figure, or what you say." in empty.text
    assert len((await one.api(place))["turns"]) == 1


@pytest.mark.asyncio
async def test_a_form_sent_twice_plays_once(one: Practice) -> None:
    await one.open()
    place = await one.begin()
    sent = {"do": "say", "said": "What matters to you?", "shown": "1"}
    for _ in range(2):
        await one.browser.send(place, on=place, **sent)
    assert [turn["by"] for turn in (await one.api(place))["turns"]] == ["them", "me", "them"]


@pytest.mark.asyncio
@covers("6.10:lesson")
async def test_a_lesson_is_kept_only_when_the_user_says_so(one: Practice) -> None:
    await one.open()
    place = await one.begin()
    await one.browser.send(place, on=place, do="accept")
    refused = await one.browser.send(f"{place}/lesson", on=place, lesson=" ")
    assert refused.status_code == 422
    assert not (await one.api("/memories"))["items"]
    kept = await one.browser.send(f"{place}/lesson", on=place, lesson="I open further out.")
    [memory] = (await one.api("/memories"))["items"]
    assert (memory["text"], memory["kind"]) == ("I open further out.", "lesson")
    assert memory["counterparty"] is None
    shown = await one.shown(redirect_path(kept))
    assert f"/memories/{memory['id']}" in shown
    assert "you kept it after practice" in await one.shown(f"/memories/{memory['id']}")


@pytest.mark.asyncio
async def test_a_rehearsal_is_deleted_after_a_second_question(one: Practice) -> None:
    page = await one.open()
    place = await one.begin()
    asked = await one.browser.send(f"{place}/delete", on=place)
    assert "Delete this rehearsal for good?" in asked.text
    assert (await one.api(page))["items"]
    assert "Deleted." in await one.shown(redirect_path(await one.browser.send(f"{place}/delete", on=place, sure="yes")))
    assert not (await one.api(page))["items"]
    assert (await one.browser.open(place)).status_code == 404


@pytest.mark.asyncio
async def test_a_script_gets_the_same_page_and_is_led_to_the_debrief(one: Practice) -> None:
    await one.open()
    place = await one.begin()

    async def send(**fields: str) -> httpx2.Response:
        token = await one.browser.token(place)
        return await one.browser.client.post(place, data={"csrf": token, **fields}, headers={"hx-request": "true"})

    empty = await send(do="say")
    assert empty.status_code == 200
    assert "Write a figure, or what you say." in empty.text
    played = await send(do="wait")
    assert "You said nothing." in played.text
    assert "data-focus" in played.text
    over = await send(do="leave")
    assert over.headers["hx-redirect"].endswith(f"{place}?told=over")


@pytest.mark.asyncio
async def test_without_a_figure_to_draw_from_the_page_says_what_to_record(one: Practice) -> None:
    page = await one.open(issues=[{"name": "price", "type": "money"}], their_estimate=None, walk_away=None)
    refused = await one.browser.send(page, on=page, kind="stubborn", hardness="hard")
    assert refused.status_code == 409
    assert "Record the first figure they named" in refused.text
    assert re.search(r'value="stubborn" checked', refused.text)
    unknown = await one.browser.send(page, on=page, kind="nobody", hardness="hard")
    assert unknown.status_code == 422


@pytest.mark.asyncio
async def test_practice_is_found_from_the_workspace_and_the_search(one: Practice) -> None:
    page = await one.open()
    assert f'href="{page}"' in await one.shown(page.removesuffix("/rehearsals"))
    for query in ("practise", "practise golf", "rehearse"):
        assert f'href="{page}"' in await one.shown(f"/go?q={query}")
    assert f'href="{page}"' not in await one.shown("/go?q=golf")
    assert "/docs/guides/practise" in await one.shown(page)
