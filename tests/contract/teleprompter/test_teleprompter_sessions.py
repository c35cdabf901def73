"""A call from its opening to its end (docs/contract 8.1)."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from negotiator.config.settings import Settings
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused
from tests.helpers.fake_recognizer import FakeRecognizer
from tests.helpers.teleprompter_client import CONSENT, PATH, NewTeleprompterClient, TeleprompterClient

pytestmark = pytest.mark.asyncio

OBJECTION = "Honestly, that is way over our budget."


@covers("8.1:teleprompter", "1.5:ids", "8.1:open")
async def test_a_session_is_opened_under_a_consent(caller: TeleprompterClient) -> None:
    answer = await caller.send("POST", PATH, {"consent": CONSENT, "keep": "30_days"})
    view = answer.json()
    assert (answer.status_code, view["state"], view["last_seq"]) == (201, "ready", 0)
    assert re.fullmatch("live_[0-9a-hjkmnp-tv-z]{26}", view["id"])
    assert view["stream_url"].startswith("wss://")
    assert view["stream_url"].endswith(f"{PATH}/{view['id']}/stream")
    assert view["events_url"].endswith(f"{PATH}/{view['id']}/events")
    assert "Is everybody fine with that?" in view["notice_text"]
    assert view["engine"] == {
        "id": "none",
        "interim": True,
        "languages": [],
        "processor": None,
        "quality_note": "You send the words; nothing is heard.",
    }
    assert (await caller.send("GET", f"{PATH}/{view['id']}")).json() == view
    assert (await caller.send("GET", PATH)).json()["items"] == [view]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/consent"),
        ({"consent": {"basis": "somehow", "confirmed_by": "Ada"}}, "/consent/basis"),
        ({"consent": {"basis": "test"}}, "/consent/confirmed_by"),
        ({"consent": CONSENT, "language": "tlh"}, "/language"),
        ({"consent": CONSENT, "source": "telepathy"}, "/source"),
        ({"consent": CONSENT, "keep": "forever"}, "/keep"),
        ({"consent": CONSENT, "invisible": True}, "/invisible"),
    ],
)
async def test_what_cannot_be_opened_is_refused_by_field(caller: TeleprompterClient, body: Any, pointer: str) -> None:
    answer = await caller.send("POST", PATH, body)
    refused(answer, 422, "validation_failed")
    assert [entry["pointer"] for entry in answer.json()["errors"]] == [pointer]


@covers("1.14:scope-stream")
async def test_the_scope_opens_and_nothing_else_does(new_caller: NewTeleprompterClient) -> None:
    without = await new_caller(scopes=["negotiations:read", "negotiations:write", "memories:read"])
    refused(await without.send("POST", PATH, {"consent": CONSENT}), 403, "insufficient_scope")
    alone = await new_caller(email="grace@example.com", scopes=["teleprompter:stream"])
    assert (await alone.say(await alone.open(), OBJECTION))["cues"]
    bound = await alone.send("POST", PATH, {"consent": CONSENT, "negotiation_id": "neg_1"})
    refused(bound, 403, "insufficient_scope")


@covers("8.3:utterances", "8.4:cue")
async def test_an_objection_is_answered_with_its_card(caller: TeleprompterClient) -> None:
    one = await caller.open()
    heard = await caller.say(one, OBJECTION)
    [cue] = heard["cues"]
    assert heard["seq"] == 1
    assert cue["evidence"] == {"utterance_id": "u1", "quote": "over our budget"}
    assert cue | {"title": "", "say": "", "why": "", "confidence": 1} == {
        "seq": 2,
        "id": "cue_2",
        "cue": "no_budget",
        "kind": "objection",
        "family": "budget",
        "title": "",
        "say": "",
        "why": "",
        "evidence": cue["evidence"],
        "confidence": 1,
        "source": "rule",
        "tactic_id": "tac_budget_probe",
        "memory_ids": [],
        "count": 1,
        "ttl_ms": 20_000,
        "stage": "final",
    }
    assert (await caller.send("GET", f"/api/tactics/{cue['tactic_id']}")).status_code == 200


@covers("8.4:few")
async def test_a_third_card_in_a_minute_is_listed_and_not_shown(caller: TeleprompterClient) -> None:
    one = await caller.open()
    said = (OBJECTION, "I have to ask my boss about that.", "Take it or leave it.")
    answers = [await caller.say(one, text, f"u{number}") for number, text in enumerate(said)]
    assert [len(answer["cues"]) for answer in answers] == [1, 1, 0]
    assert answers[2]["maybe"][0]["cue"] == "take_it_or_leave_it"


@covers("8.4:answers")
async def test_a_bare_no_is_a_refusal_after_a_request_only(caller: TeleprompterClient) -> None:
    one = await caller.open()
    cards = (await caller.say(one, "No.", "u1"))["cues"]
    assert "refusal" not in {card["cue"] for card in cards}
    await caller.say(one, "Would you take eight hundred?", "u2", speaker="me")
    [card] = (await caller.say(one, "No.", "u3"))["cues"]
    assert card["cue"] == "refusal"
    await caller.say(one, "Would you take nine hundred?", "u4", speaker="me")
    [card] = (await caller.say(one, "Okay, deal.", "u5"))["cues"]
    assert card["cue"] == "acceptance"


@covers("8.3:final-once", "8.5:events")
async def test_a_final_counts_once_and_events_are_numbered(caller: TeleprompterClient) -> None:
    one = await caller.open()
    first = await caller.say(one, OBJECTION)
    again = await caller.say(one, "Something else entirely.")
    late = await caller.say(one, OBJECTION, final=False)
    assert again["seq"] == late["seq"] == first["seq"] == 1
    assert again["cues"] == first["cues"]
    await caller.say(one, "I have to ask my boss about that.", "u2")
    page = await caller.events(one)
    assert [event["seq"] for event in page["items"]] == [1, 2, 3, 4]
    assert [event["type"] for event in page["items"]] == ["transcript.final", "cue"] * 2
    assert (page["last_seq"], page["more"], page["state"]) == (4, False, "live")
    part = await caller.events(one, after=1, limit=2)
    assert [event["seq"] for event in part["items"]] == [2, 3]
    assert part["more"] is True


async def test_one_final_sent_by_many_at_once_counts_once(caller: TeleprompterClient) -> None:
    one = await caller.open()
    answers = await asyncio.gather(*(caller.say(one, OBJECTION) for _ in range(12)))
    assert {answer["seq"] for answer in answers} == {1}
    assert len((await caller.events(one))["items"]) == 2


@covers("8.5:poll")
async def test_a_long_poll_wakes_with_the_first_event(caller: TeleprompterClient) -> None:
    one = await caller.open()
    asked = asyncio.create_task(caller.events(one, wait=20))
    await asyncio.sleep(0)
    await caller.say(one, OBJECTION)
    page = await asyncio.wait_for(asked, 5)
    assert page["items"][0]["seq"] == 1
    assert (await caller.events(one, after=2, wait=0.01))["items"] == []


@covers("8.5:sse")
async def test_the_stream_goes_on_where_the_last_one_broke(caller: TeleprompterClient) -> None:
    one = await caller.open()
    await caller.say(one, OBJECTION)
    await caller.send("POST", f"{one}/end")
    whole = await caller.stream(one)
    assert [event["seq"] for event in whole] == [1, 2, 3]
    assert whole == (await caller.events(one))["items"]
    assert await caller.stream(one, last_event_id="2") == whole[2:]
    seen = {**caller.headers, "accept": "text/event-stream", "last-event-id": str(whole[-1]["seq"])}
    over = await caller.client.get(f"{one}/events", headers=seen)
    assert (over.status_code, over.content) == (204, b"")


@covers("8.1:pause")
async def test_a_pause_marks_a_gap_and_hears_nothing(caller: TeleprompterClient) -> None:
    one = await caller.open()
    await caller.say(one, OBJECTION)
    assert (await caller.send("POST", f"{one}/pause")).json()["state"] == "paused"
    assert (await caller.send("POST", f"{one}/pause")).json()["last_seq"] == 3
    said = {"utterance_id": "u2", "text": "Between us, we would pay double."}
    refused(await caller.send("POST", f"{one}/utterances", said), 409, "session_paused")
    assert (await caller.send("POST", f"{one}/resume")).json()["state"] == "live"
    await caller.say(one, "Shall we go on?", "u3")
    lines = (await caller.send("GET", f"{one}/transcript")).json()["lines"]
    assert [line["text"] for line in lines] == [OBJECTION, "paused", "resumed", "Shall we go on?"]
    assert [line["speaker"] for line in lines] == ["them", None, None, "them"]


@covers("8.1:end", "8.1:transcript")
async def test_an_ended_session_hears_nothing_and_is_still_read(caller: TeleprompterClient) -> None:
    one = await caller.open()
    await caller.say(one, OBJECTION, start_ms=100, end_ms=1900)
    ended = (await caller.send("POST", f"{one}/end")).json()
    assert (ended["state"], ended["last_seq"]) == ("ended", 3)
    assert ended["ended_at"] < ended["forget_at"]
    assert (await caller.send("POST", f"{one}/end")).json() == ended
    said = {"utterance_id": "u2", "text": "And another thing."}
    refused(await caller.send("POST", f"{one}/utterances", said), 409, "session_ended")
    refused(await caller.send("POST", f"{one}/resume"), 409, "session_ended")
    [line] = (await caller.send("GET", f"{one}/transcript")).json()["lines"]
    assert (line["speaker"], line["text"], line["end_ms"]) == ("them", OBJECTION, 1900)


@covers("8.1:delete")
async def test_what_is_deleted_is_in_no_file(caller: TeleprompterClient, settings: Settings) -> None:
    one = await caller.open(keep="until_deleted")
    await caller.say(one, f"The zebracorn clause. {OBJECTION}")
    assert (await caller.send("DELETE", one)).status_code == 204
    refused(await caller.send("GET", one), 404, "not_found")
    refused(await caller.send("GET", f"{one}/events"), 404, "not_found")
    # A reader at that moment keeps the log from being cut; it is tried again five times a second.
    async with asyncio.timeout(10):
        while _found(settings.data_dir, b"zebracorn"):
            await asyncio.sleep(0.1)


@covers("8.2:keep")
async def test_what_may_not_be_kept_is_never_written(caller: TeleprompterClient, settings: Settings) -> None:
    one = await caller.open(keep="none")
    await caller.say(one, f"The zebracorn clause: {OBJECTION}")
    [final, cue] = (await caller.events(one))["items"]
    assert "zebracorn" in final["text"], "who follows now is told"
    assert cue["cue"]["evidence"]["quote"]
    assert _found(settings.data_dir, b"zebracorn") == []
    await caller.send("POST", f"{one}/end")
    assert (await caller.events(one))["items"][0]["text"] is None


@covers("8.2:redact")
async def test_what_nobody_needs_is_taken_out_before_it_is_kept(caller: TeleprompterClient) -> None:
    one = await caller.open()
    await caller.say(one, "Charge 4111 1111 1111 1111 and mail ada@example.com, at $52,000.")
    text = (await caller.events(one))["items"][0]["text"]
    assert text == "Charge [card] and mail [email], at $52,000."


@covers("8.1:language")
async def test_a_session_says_which_languages_are_heard_and_understood(
    fake_recognizer: FakeRecognizer, caller: TeleprompterClient
) -> None:
    wanted = {"consent": CONSENT, "source": "audio", "language": "en"}
    view = (await caller.send("POST", PATH, wanted)).json()
    assert view["engine"]["languages"] == list(fake_recognizer.caps.languages) == ["en"]
    assert view["languages"]["cards"] == view["languages"]["redaction"] == ["en"]
    assert view["languages"]["figures"] == ["en", "de", "fr", "es"]
    not_heard = await caller.send("POST", PATH, wanted | {"language": "de"})
    refused(not_heard, 422, "validation_failed")
    assert [entry["pointer"] for entry in not_heard.json()["errors"]] == ["/language"]
    written = {"consent": CONSENT, "language": "de"}
    view = (await caller.send("POST", PATH, written)).json()
    assert view["language"] == "de"
    assert "dieses Gespräch" in view["notice_text"]
    assert view["languages"]["redaction"] == ["en"]


@covers("8.1:engine")
async def test_the_list_says_who_would_hear_a_call(fake_recognizer: FakeRecognizer, caller: TeleprompterClient) -> None:
    listed = (await caller.send("GET", PATH)).json()
    assert listed["items"] == []
    assert listed["engine"]["id"] == fake_recognizer.caps.id
    assert listed["engine"]["quality_note"] == fake_recognizer.caps.quality_note


def _found(folder: Path, word: bytes) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and word in path.read_bytes()]
