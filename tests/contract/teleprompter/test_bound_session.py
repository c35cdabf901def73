"""A session bound to a negotiation: limits, offers, the plan's words, feedback (docs/contract 8.7, 8.8)."""

from typing import Any

import pytest

from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused
from tests.helpers.teleprompter_client import NewTeleprompterClient, TeleprompterClient

pytestmark = pytest.mark.asyncio

TALK: dict[str, Any] = {
    "title": "CRM",
    "role": "buyer",
    "currency": "EUR",
    "issues": [{"name": "price", "type": "money", "range": {"min": "8000", "max": "30000"}}],
    "target": {"package": {"price": "12000"}},
    "walk_away": {"package": {"price": "18000"}},
}
PRACTICE = {"basis": "test", "confirmed_by": "Ada"}
FIGURE = "We could do it for twenty five thousand euros a year."


async def bound(caller: TeleprompterClient, **members: Any) -> tuple[str, str]:
    """The paths of a negotiation and of a session about it."""
    talk = await caller.send("POST", "/api/negotiations", TALK)
    assert talk.status_code == 201, talk.text
    name = talk.json()["id"]
    return f"/api/negotiations/{name}", await caller.open(negotiation_id=name, role=None, **members)


@covers("8.7:limits", "8.7:offers")
async def test_a_figure_past_the_limit_beats_every_phrase_and_waits_in_the_ledger(caller: TeleprompterClient) -> None:
    talk, one = await bound(caller)
    assert (await caller.send("GET", one)).json()["role"] == "buyer"
    heard = await caller.say(one, f"Honestly, that is over our budget. {FIGURE}")
    [card, *_] = heard["cues"]
    assert (card["source"], card["cue"]) == ("plan", "figure:price")
    assert not any(limit in str(card) for limit in ("18000", "18,000", "12000", "12,000"))
    [offer] = (await caller.send("GET", f"{talk}/offers")).json()["items"]
    assert offer["id"] == heard["offer_id"]
    assert (offer["by"], offer["status"], offer["source"]) == ("them", "unconfirmed", "detected_in_speech")
    assert offer["package"] == {"price": "25000.00"}
    again = await caller.say(one, "Whatever.")
    assert again["offer_id"] == heard["offer_id"]
    assert len((await caller.send("GET", f"{talk}/offers")).json()["items"]) == 1
    types = [event["type"] for event in (await caller.events(one))["items"]]
    assert types[:3] == ["transcript.final", "offer", "cue"]
    floor = (await caller.send("GET", talk)).json()["walk_away"]
    assert floor["package"] == {"price": "18000.00"}, "nothing that is said moves a limit"


@covers("8.7:figures")
async def test_a_final_says_what_each_figure_is_and_whose_and_only_offers_enter_the_ledger(
    caller: TeleprompterClient,
) -> None:
    talk, one = await bound(caller)

    async def said(utterance: str, text: str, speaker: str = "them") -> list[tuple[Any, ...]]:
        heard = await caller.say(one, text, utterance, speaker=speaker)
        return [(row["value"], row["kind"], row["whose"]) for row in heard["figures"]]

    assert await said("u1", "How about sixteen five?") == [("16500.00", "offer", "them")]
    assert await said("u2", "Another firm quoted us 14.000 €.", "me") == [("14000.00", "rival", "third")]
    assert await said("u3", "16,500, hm, all right.", "me") == [("16500.00", "offer", "them")]
    assert await said("u4", "Okay, take 500 off.") == [("16000.00", "reduction", "them")]
    rows = (await caller.send("GET", f"{talk}/offers")).json()["items"]
    assert sorted((row["by"], row["package"]["price"]) for row in rows) == [("them", "16000.00"), ("them", "16500.00")]
    finals = (await caller.events(one))["items"]
    told = [event["figures"] for event in finals if event["type"] == "transcript.final"]
    assert told[0] == [{"issue": "price", "value": "16500.00", "kind": "offer", "whose": "them", "is_offer": True}]
    assert "18000" not in str(told), "a figure says nothing about a limit"


async def test_who_may_not_write_negotiations_writes_no_ledger(new_caller: NewTeleprompterClient) -> None:
    owner = await new_caller()
    talk, one = await bound(owner)
    reader = await new_caller(scopes=["teleprompter:stream", "negotiations:read"])
    heard = await reader.say(one, FIGURE)
    assert heard["cues"][0]["source"] == "plan"
    assert heard["offer_id"] is None
    blind = await new_caller(scopes=["teleprompter:stream"])
    heard = await blind.say(one, FIGURE, "u2")
    assert all(card["source"] != "plan" for card in heard["cues"])
    assert (await owner.send("GET", f"{talk}/offers")).json()["items"] == []


async def test_a_negotiation_that_went_leaves_the_call_as_it_is(caller: TeleprompterClient) -> None:
    talk, one = await bound(caller)
    assert (await caller.send("DELETE", talk)).status_code == 204
    heard = await caller.say(one, f"Honestly, that is over our budget. {FIGURE}")
    assert [card["family"] for card in heard["cues"]] == ["budget"]
    assert heard["offer_id"] is None
    gone = {"negotiation_id": talk.rpartition("/")[2], "consent": {"basis": "test", "confirmed_by": "A"}}
    refused(await caller.send("POST", "/api/teleprompter/sessions", gone), 404, "not_found")


async def test_what_may_not_be_kept_is_in_no_ledger_either(caller: TeleprompterClient) -> None:
    talk, one = await bound(caller, keep="none")
    await caller.say(one, FIGURE)
    [offer] = (await caller.send("GET", f"{talk}/offers")).json()["items"]
    assert offer["package"] == {"price": "25000.00"}
    assert offer["rationale"] is None


@covers("8.10:practice")
async def test_practice_reads_figures_and_records_and_learns_nothing(caller: TeleprompterClient) -> None:
    talk, one = await bound(caller, practice=True, consent=PRACTICE)
    view = (await caller.send("GET", one)).json()
    assert (view["practice"], view["cues"], view["notice_text"]) == (True, True, "")
    before = (await caller.send("GET", talk)).json()
    theirs = await caller.say(one, FIGURE)
    mine = await caller.say(one, "I could pay 14,000 euros.", "u2", speaker="me")
    for heard, value in ((theirs, "25000.00"), (mine, "14000.00")):
        assert [(figure["value"], figure["is_offer"]) for figure in heard["figures"]] == [(value, True)]
        assert heard["offer_id"] is None
    assert (await caller.send("GET", f"{talk}/offers")).json()["items"] == []
    assert (await caller.send("GET", talk)).json() == before
    card = (await caller.say(one, "That is way over our budget.", "u3"))["cues"][0]
    path = f"{one}/cues/{card['id']}/feedback"
    judged = await caller.send("POST", path, {"action": "wrong"})
    assert judged.json() == {"id": card["id"], "action": "wrong", "taught": False}
    kinds = [event["type"] for event in (await caller.events(one))["items"]]
    assert "offer" not in kinds
    assert kinds[-1] == "cue.feedback"


async def test_practice_begins_without_the_offers_of_the_negotiation(caller: TeleprompterClient) -> None:
    talk, one = await bound(caller, practice=True, consent=PRACTICE)
    offer = {"by": "them", "package": {"price": "15000"}}
    assert (await caller.send("POST", f"{talk}/offers", offer)).status_code == 201
    heard = await caller.say(one, "15,000 then", speaker="me")
    assert [figure["whose"] for figure in heard["figures"]] == ["me"]


@covers("8.10:cues")
async def test_without_cues_no_card_is_raised_and_the_rest_goes_on(caller: TeleprompterClient) -> None:
    talk, one = await bound(caller, cues=False)
    said = f"That is way over our budget. {FIGURE} Take it or leave it."
    heard = await caller.say(one, said)
    assert (heard["cues"], heard["maybe"]) == ([], [])
    assert heard["offer_id"] is not None
    assert heard["tactics"] != []
    events = (await caller.events(one))["items"]
    assert [event["type"] for event in events] == ["transcript.final", "offer"]
    assert (await caller.send("GET", one)).json()["cues"] is False
    assert len((await caller.send("GET", f"{talk}/offers")).json()["items"]) == 1


@covers("8.8:feedback")
async def test_a_card_that_was_marked_wrong_three_times_is_hidden_from_that_user_only(
    new_caller: NewTeleprompterClient,
) -> None:
    mine, other = (await new_caller(), await new_caller(email="grace@example.com"))
    said = "Could you sharpen your pencil a little on that quote?"
    for number in range(3):
        one = await mine.open()
        heard = await mine.say(one, said)
        if not heard["cues"]:
            break
        path = f"{one}/cues/{heard['cues'][0]['id']}/feedback"
        answer = await mine.send("POST", path, {"action": "wrong"})
        card = heard["cues"][0]["id"]
        assert answer.json() == {"id": card, "action": "wrong", "taught": True}, number
        assert (await mine.events(one))["items"][-1]["type"] == "cue.feedback"
        seq = (await mine.events(one))["last_seq"]
        assert (await mine.send("POST", path, {"action": "wrong"})).status_code == 200
        assert (await mine.events(one))["last_seq"] == seq
    assert (await mine.say(await mine.open(), said))["cues"] == []
    assert (await other.say(await other.open(), said))["cues"] != []


@pytest.mark.parametrize("name", ["cue_1", "cue_99", "cue_", "cue_x", "1", "cue_99999999999"])
async def test_feedback_on_what_is_no_card_is_404(caller: TeleprompterClient, name: str) -> None:
    one = await caller.open()
    await caller.say(one, "Honestly, that is way over our budget.")
    answer = await caller.send("POST", f"{one}/cues/{name}/feedback", {"action": "used"})
    refused(answer, 404, "not_found")
