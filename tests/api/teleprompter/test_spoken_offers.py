"""Figures that were heard enter the ledger unconfirmed, and bind nobody."""

from typing import Any

import pytest
from sqlmodel import col, select

from negotiator.negotiations import offers, queries
from negotiator.negotiations.event_queries import Actor
from negotiator.negotiations.tables import Negotiation
from negotiator.store.statement import Query, Transaction
from negotiator.teleprompter.detected_offers import detected_offer, record_detected_offer
from negotiator.teleprompter.figures import read_figures
from negotiator.teleprompter.spoken_figures import find_figures
from tests.conftest import Change
from tests.helpers.teleprompter_client import TeleprompterClient

pytestmark = pytest.mark.asyncio

ACTOR = Actor("agent", "agt_ear")
OWNER = Query(select(col(Negotiation.owner)), lambda row: str(row[0]))
TALK: dict[str, Any] = {
    "title": "Laptops",
    "role": "buyer",
    "currency": "EUR",
    "issues": [{"name": "price", "type": "money", "range": {"min": "800", "max": "1200"}}],
    "walk_away": {"package": {"price": "1100"}},
}


async def opened(caller: TeleprompterClient, **members: Any) -> str:
    answer = await caller.send("POST", "/api/negotiations", {**TALK, **members})
    assert answer.status_code == 201, answer.text
    name: str = answer.json()["id"]
    return name


async def hear(change: Change, talk: str, said: str, speaker: Any = "them") -> Any:
    """Let a sentence of a talk enter its ledger."""

    def unit(tx: Transaction) -> Any:
        owner = tx.one(OWNER) or ""
        session = queries.load_for_writing(tx, owner, talk)
        read = read_figures(find_figures(said), session.terms, speaker)
        offer = detected_offer(session, read, speaker=speaker, utterance_id="u1")
        assert offer is not None
        return record_detected_offer(tx, owner, offer, actor=ACTOR)

    return await change(unit)


async def read(caller: TeleprompterClient, talk: str) -> tuple[Any, list[Any]]:
    one = await caller.send("GET", f"/api/negotiations/{talk}")
    rows = await caller.send("GET", f"/api/negotiations/{talk}/offers")
    return one.json(), rows.json()["items"]


async def test_their_figure_stands_unconfirmed_and_moves_neither_state_nor_limit(
    caller: TeleprompterClient, change: Change
) -> None:
    talk = await opened(caller)
    before, _ = await read(caller, talk)
    row = await hear(change, talk, "we could do it for 1150 euros")
    after, rows = await read(caller, talk)
    assert (row["status"], row["package"], row["by"]) == ("unconfirmed", {"price": "1150.00"}, "them")
    assert [one["id"] for one in rows] == [row["id"]]
    assert [after[name] for name in ("state", "walk_away", "target", "issues")] == [
        before[name] for name in ("state", "walk_away", "target", "issues")
    ]
    accepted = {"by": "me", "kind": "acceptance", "in_reply_to": row["id"]}
    refused = await caller.send("POST", f"/api/negotiations/{talk}/offers", accepted)
    assert (refused.status_code, refused.json()["error"]) == (409, "offer_not_live")


async def test_the_same_figure_heard_again_is_one_row(caller: TeleprompterClient, change: Change) -> None:
    talk = await opened(caller)
    assert await hear(change, talk, "that would be 1050 euros")
    assert await hear(change, talk, "yes 1050 euros") is None
    assert await hear(change, talk, "then 1000 euros")
    assert len((await read(caller, talk))[1]) == 2


async def test_a_figure_that_was_misheard_and_is_said_then_is_recorded(
    caller: TeleprompterClient, change: Change
) -> None:
    talk = await opened(caller)
    row = await hear(change, talk, "that would be 1050 euros")
    denied = {"by": "them", "kind": "withdrawal", "in_reply_to": row["id"]}
    await caller.send("POST", f"/api/negotiations/{talk}/offers", denied)
    assert await hear(change, talk, "that would be 1050 euros")


async def test_my_own_figure_past_my_floor_is_refused_and_the_call_goes_on(
    caller: TeleprompterClient, change: Change
) -> None:
    talk = await opened(caller)
    assert await hear(change, talk, "we could pay 1150 euros", "me") is None
    row = await hear(change, talk, "we could pay 1050 euros", "me")
    assert row["status"] == "unconfirmed"
    assert (await read(caller, talk))[0]["state"] == "draft"


async def test_what_needs_approval_is_held_when_it_is_confirmed_and_not_when_it_is_heard(
    caller: TeleprompterClient, change: Change
) -> None:
    talk = await opened(caller, authority={"limit": "1000"})
    row = await hear(change, talk, "we could pay 1050 euros", "me")
    assert (row["status"], (await read(caller, talk))[0]["state"]) == ("unconfirmed", "draft")
    offer = {"by": "me", "package": {"price": "1050"}, "confirms": row["id"]}
    confirmed = await caller.send("POST", f"/api/negotiations/{talk}/offers", offer)
    assert confirmed.json()["status"] == "awaiting_approval"
    assert await hear(change, talk, "or 1020 euros", "me") is None
    assert await hear(change, talk, "or 1020 euros", "them")


async def test_a_talk_that_is_over_and_a_full_ledger_hear_nothing(
    caller: TeleprompterClient, change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    full, over = await opened(caller), await opened(caller)
    monkeypatch.setattr(offers, "MAX_OFFERS", 0)
    assert await hear(change, full, "that would be 1050 euros") is None
    monkeypatch.setattr(offers, "MAX_OFFERS", 10)
    ended = await caller.send("POST", f"/api/negotiations/{over}/state", {"to": "cancelled"})
    assert ended.status_code == 200, ended.text
    assert await hear(change, over, "that would be 1050 euros") is None
