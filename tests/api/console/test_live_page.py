"""The pages of a call without script: begun under a consent, typed, judged, confirmed, summed up and erased."""

import re
from dataclasses import dataclass
from html import unescape
from typing import Any, Final

import httpx2
import pytest
import pytest_asyncio

from tests.contract.requirements import covers
from tests.helpers.form_browser import FormBrowser, redirect_path

LIVE: Final = "/live"
GOLF: Final[dict[str, Any]] = {
    "title": "Used VW Golf",
    "role": "buyer",
    "currency": "EUR",
    "counterparty": "Jens",
    "issues": [{"name": "price", "label": "Price", "type": "money", "range": {"min": 11000, "max": 16000}}],
    "target": {"package": {"price": 12500}},
    "walk_away": {"package": {"price": 13870}},
}
OBJECTION: Final = "That is way over our budget."
INNER_WORDS: Final = re.compile(
    r"utility|alpha|package|engine:|neg_|undominated|batna|walk_away|override", re.IGNORECASE
)


@dataclass
class Caller:
    """A signed-in user with a negotiation, and an agent of theirs that reads what came of it."""

    browser: FormBrowser
    client: httpx2.AsyncClient
    headers: dict[str, str]
    negotiation: str

    async def read(self, path: str) -> Any:
        answer = await self.client.get(f"/api{path}", headers=self.headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def begun(self, **fields: str) -> str:
        """The path of a new call."""
        form = {"hears": "typing", "basis": "all_parties", "agreed": "on", "language": "en"}
        named = {"negotiation": self.negotiation, "keep": "session"}
        answer = await self.browser.send(LIVE, on=LIVE, **{**form, **named, **fields})
        return redirect_path(answer)

    async def said(self, call: str, text: str, speaker: str = "them") -> str:
        """The page of the call after a typed line."""
        answer = await self.browser.send(f"{call}/words", on=call, speaker=speaker, text=text)
        assert redirect_path(answer) == f"{call}#words"
        return unescape((await self.browser.open(call)).text)


@pytest_asyncio.fixture
async def caller(browser: FormBrowser, client: httpx2.AsyncClient, headers: dict[str, str]) -> Caller:
    answer = await client.post("/api/negotiations", json=GOLF, headers=headers)
    assert answer.status_code == 201, answer.text
    return Caller(browser, client, headers, answer.json()["id"])


def session_of(call: str) -> str:
    return f"/teleprompter/sessions/{call.rsplit('/', 1)[-1]}"


@pytest.mark.asyncio
async def test_the_page_teaches_and_reads_the_notice_of_the_api(caller: Caller) -> None:
    page = unescape((await caller.browser.open(LIVE)).text)
    assert "None yet. Afterwards each call has a summary" in page
    call = await caller.begun()
    view = await caller.read(session_of(call))
    assert view["notice_text"] in page
    assert "dieses Gespräch" in page
    assert (view["source"], view["consent"]["basis"], view["keep"]) == (*("text", "all_parties"), "session")
    assert view["negotiation_id"] == caller.negotiation


@covers("8.9:consent")
@pytest.mark.asyncio
async def test_nothing_is_heard_before_everybody_agreed(caller: Caller) -> None:
    form = {"hears": "typing", "basis": "all_parties", "language": "de", "keep": "30_days"}
    refused = await caller.browser.send(LIVE, on=LIVE, negotiation=caller.negotiation, **form)
    assert refused.status_code == 422
    assert "Read the notice to them" in refused.text
    assert '<option value="de" selected>' in refused.text
    assert '<option value="30_days" selected>' in refused.text
    assert f'<option value="{caller.negotiation}" selected>' in refused.text
    assert (await caller.read("/teleprompter/sessions"))["items"] == []


@pytest.mark.asyncio
async def test_a_typed_line_shows_the_card_of_the_api_with_its_words(caller: Caller) -> None:
    call = await caller.begun()
    page = await caller.said(call, OBJECTION)
    events = (await caller.read(f"{session_of(call)}/events"))["items"]
    [card] = [event["cue"] for event in events if event["type"] == "cue"]
    assert f"data-say>{card['say']}</p>" in page
    assert f"<q data-quote>{card['evidence']['quote']}</q>" in page
    assert f"<span data-text>{OBJECTION}</span>" in page
    assert f'data-after="{events[-1]["seq"]}"' in page
    judged = await caller.browser.send(f"{call}/cards", on=call, cue=card["id"], action="used")
    assert redirect_path(judged) == call
    assert f'data-cue="{card["id"]}"' not in (await caller.browser.open(call)).text
    events = (await caller.read(f"{session_of(call)}/events"))["items"]
    assert [event["action"] for event in events if event["type"] == "cue.feedback"] == ["used"]


@pytest.mark.asyncio
async def test_figures_that_were_named_are_confirmed_or_were_not_so(caller: Caller) -> None:
    call = await caller.begun()
    ledger = f"/negotiations/{caller.negotiation}/offers"
    page = await caller.said(call, "I could let it go for 14,900 euros.")
    assert "Jens said €14,900" in page
    [heard] = (await caller.read(ledger))["items"]
    kept = await caller.browser.send(f"{call}/figures", on=call, offer=heard["id"], word="confirm")
    assert redirect_path(kept) == f"{call}#figures"
    page = await caller.said(call, "All right, 14,400 euros then.")
    assert page.index("Jens said €14,900") < page.index("Jens said €14,400")
    assert page.count(">Confirmed</span>") == 1
    wrong = (await caller.read(ledger))["items"][0]
    await caller.browser.send(f"{call}/figures", on=call, offer=wrong["id"], word="misheard")
    rows = (await caller.read(ledger))["items"]
    assert [(row["kind"], row["status"]) for row in rows] == [
        *(("withdrawal", "recorded"), ("offer", "dismissed")),
        *(("offer", "live"), ("offer", "confirmed")),
    ]
    assert rows[2]["confirms"] == heard["id"]
    assert rows[2]["package"] == {"price": "14900.00"}


@pytest.mark.asyncio
async def test_figures_confirmed_in_another_order_stand_as_they_were_said(caller: Caller) -> None:
    call = await caller.begun()
    ledger = f"/negotiations/{caller.negotiation}/offers"
    await caller.said(call, "I could let it go for 14,900 euros.")
    await caller.said(call, "I could pay 12,900 euros.", "me")
    await caller.said(call, "All right, 14,400 euros then.")
    for heard in (await caller.read(ledger))["items"]:
        form = {"offer": heard["id"], "word": "confirm"}
        await caller.browser.send(f"{call}/figures", on=call, **form)
    rows = (await caller.read(ledger))["items"]
    live = {row["by"]: row["package"]["price"] for row in rows if row["status"] == "live"}
    assert live == {"them": "14400.00", "me": "12900.00"}
    page = unescape((await caller.browser.open(f"/negotiations/{caller.negotiation}")).text)
    assert "Wait for their answer" not in page
    table = page[page.index("All offers, the newest first") :]
    said = re.findall(r"<tr><td>(.*?)<br>", table)
    assert said == ["Jens offered €14,400", "You offered €12,900", "Jens offered €14,900"]
    assert "Heard on the call: “" in table
    assert "Heard in" not in table


@pytest.mark.asyncio
async def test_a_figure_that_was_heard_and_not_confirmed_answers_no_offer(caller: Caller) -> None:
    own = {"by": "me", "package": {"price": "12900"}}
    offers = f"/api/negotiations/{caller.negotiation}/offers"
    recorded = await caller.client.post(offers, json=own, headers=caller.headers)
    assert recorded.status_code == 201, recorded.text
    await caller.said(await caller.begun(), "I could let it go for 14,900 euros.")
    page = unescape((await caller.browser.open(f"/negotiations/{caller.negotiation}")).text)
    assert "Wait for their answer to your offer: €12,900" in page
    assert ">I said this</button>" not in page


@covers("8.9:limits")
@pytest.mark.asyncio
async def test_nothing_on_the_page_shows_the_limit(caller: Caller) -> None:
    call = await caller.begun()
    for text in ("It is 14,900 euros.", "What is your limit?", "I go down to 14,000 euros."):
        page = await caller.said(call, text)
        assert not re.search(r"13[.,  ]?870|12[.,  ]?500", page)
    await caller.said(call, "I could pay 13,900 euros.", "me")
    await caller.browser.send(f"{call}/state", on=call, to="end")
    summary = (await caller.browser.open(call)).text
    assert not re.search(r"13[.,  ]?870", summary)
    shown = re.sub(r"<[^>]+>", " ", summary + (await caller.browser.open(LIVE)).text)
    assert not INNER_WORDS.search(shown)


@pytest.mark.asyncio
async def test_a_paused_call_takes_nothing_and_keeps_the_line(caller: Caller) -> None:
    call = await caller.begun()
    await caller.browser.send(f"{call}/state", on=call, to="pause")
    refused = await caller.browser.send(f"{call}/words", on=call, speaker="them", text="Hello?")
    assert refused.status_code == 409
    assert 'value="Hello?"' in refused.text
    assert "Paused" in refused.text
    await caller.browser.send(f"{call}/state", on=call, to="resume")
    assert (await caller.read(session_of(call)))["state"] == "live"


@covers("8.9:lessons")
@pytest.mark.asyncio
async def test_afterwards_only_what_is_ticked_is_kept_and_all_can_be_erased(caller: Caller) -> None:
    call = await caller.begun()
    await caller.said(call, OBJECTION)
    await caller.said(call, "It is 14,900 euros, take it or leave it.")
    await caller.browser.send(f"{call}/state", on=call, to="end")
    page = unescape((await caller.browser.open(call)).text)
    assert "Jens named €14,900 (not confirmed yet)." in page
    names = re.findall(r'name="(keep:[^"]+)"', page)
    assert names
    assert (await caller.read("/memories"))["items"] == []
    await caller.browser.send(f"{call}/lessons", on=call, own="Ask for the service book.")
    told = {names[0].replace(":", "__"): "on"}
    await caller.browser.send(f"{call}/lessons", on=call, **told)
    kept = (await caller.read("/memories"))["items"]
    assert len(kept) == 2
    assert kept[1]["text"] == "Ask for the service book."
    assert kept[0]["text"].startswith("Jens ")
    assert kept[0]["text"] in page
    page = unescape((await caller.browser.open(call)).text)
    assert f"Kept</span> {kept[0]['text']}" in page
    assert f'name="{names[0]}"' not in page
    note = unescape((await caller.browser.open(f"/memories/{kept[0]['id']}")).text)
    assert "Used: you kept it from a call" in note
    assert (kept[0]["kind"], kept[0]["counterparty"]) == ("counterparty", "Jens")
    assert f'href="/live/{call.rsplit("/", 1)[-1]}"' in (await caller.browser.open(LIVE)).text
    erased = await caller.browser.send(f"{call}/erase", on=call)
    assert redirect_path(erased) == "/live?told=erased"
    assert (await caller.read("/teleprompter/sessions"))["items"] == []
    assert (await caller.browser.open(call)).status_code == 404


@pytest.mark.asyncio
async def test_a_practice_call_offers_no_figure_and_no_lesson(caller: Caller) -> None:
    call = await caller.begun(basis="test", agreed="")
    page = await caller.said(call, "We could do it for 15,000 euros, take it or leave it.")
    assert "Practice: Used VW Golf" in page
    assert "no figure becomes an offer" in page
    assert "Figures that were named" not in page
    assert (await caller.read(f"/negotiations/{caller.negotiation}/offers"))["items"] == []
    await caller.browser.send(f"{call}/state", on=call, to="end")
    after = unescape((await caller.browser.open(call)).text)
    assert "no figure became an offer" in after
    assert 'name="keep:' not in after


@pytest.mark.asyncio
async def test_only_the_pages_of_a_call_may_use_a_microphone(caller: Caller) -> None:
    call = await caller.begun()
    policies = [(await caller.browser.open(path)).headers["permissions-policy"] for path in (LIVE, call, "/account")]
    assert ["microphone=(self)" in policy for policy in policies] == [True, True, False]
    assert "microphone=()" in policies[2]
    for name in ("live.js", "live_audio.js", "live_link.js"):
        script = await caller.browser.open(f"/{name}")
        assert script.headers["content-type"].startswith("text/javascript")
        assert len(script.content) < 26_500
