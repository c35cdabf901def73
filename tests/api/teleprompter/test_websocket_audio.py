"""Sound over the socket, heard by who reads what is written."""

import pytest

from negotiator.teleprompter.speech.events import AudioGap, RecognitionLag, RecognitionProblem
from tests.helpers.asgi_websocket import AsgiWebSocket
from tests.helpers.fake_recognizer import SILENCE, FakeRecognizer, sentence_as_audio
from tests.helpers.phrase_analyser import OBJECTION
from tests.helpers.teleprompter_client import TeleprompterClient

pytestmark = [pytest.mark.asyncio, pytest.mark.usefixtures("phrase_analyser")]

THEM = [{"id": "them"}]
BOTH = [{"id": "them"}, {"id": "me"}]
SECOND = bytes(32_000)


@pytest.fixture(autouse=True)
def use_fake_recognizer(fake_recognizer: FakeRecognizer) -> None:
    del fake_recognizer


async def say(socket: AsgiWebSocket, text: str, channel: int = 0) -> None:
    for word in (sentence_as_audio(text), SILENCE):
        await socket.send_bytes(bytes([channel]) + word)


async def test_what_is_heard_raises_its_card(fake_recognizer: FakeRecognizer, caller: TeleprompterClient) -> None:
    one = await caller.open(source="audio")
    async with caller.socket(one) as socket:
        await socket.send("start", channels=BOTH)
        ready = await socket.until("ready")
        assert ready["audio_ms"] == {"them": 0, "me": 0}
        await say(socket, OBJECTION)
        heard = await socket.until("transcript.final")
        assert heard["speaker"] == "them"
        assert heard["utterance_id"].startswith("them-")
        assert (heard["text"], heard["confidence"]) == (OBJECTION, 0.9)
        raised = [each["cue"]["cue"] for each in socket.said if each["type"] == "cue"]
        assert raised == ["no_budget"], "it is raised while it is still said"
        await say(socket, "Let us talk about it.", 1)
        assert (await socket.until("transcript.final"))["speaker"] == "me"
        assert {"transcript.partial"} <= {each["type"] for each in socket.said}
    assert len(fake_recognizer.opened) == 2


async def test_the_clock_of_the_sound_goes_on_after_a_lost_connection(caller: TeleprompterClient) -> None:
    one = await caller.open(source="audio")
    async with caller.socket(one) as socket:
        await socket.send("start", channels=THEM)
        await say(socket, "One.")
        first = await socket.until("transcript.final")
    async with caller.socket(one) as socket:
        await socket.send("start", channels=THEM, after=first["seq"])
        ready = await socket.until("ready")
        assert ready["audio_ms"] == {"them": 110}
        await say(socket, "Two.")
        second = await socket.until("transcript.final")
        assert second["start_ms"] >= 110
        assert second["utterance_id"] != first["utterance_id"]


async def test_what_was_said_last_is_heard_though_the_connection_is_lost(caller: TeleprompterClient) -> None:
    one = await caller.open(source="audio")
    async with caller.socket(one) as socket:
        await socket.send("start", channels=THEM)
        await socket.send_bytes(b"\0" + sentence_as_audio("One more thing"))
        await socket.until("transcript.partial")
    items = (await caller.events(one, wait=5))["items"]
    assert [each["text"] for each in items] == ["One more thing"]


async def test_sound_for_a_session_of_text_is_refused_and_then_ignored(
    fake_recognizer: FakeRecognizer, caller: TeleprompterClient
) -> None:
    one = await caller.open(source="text")
    async with caller.socket(one) as socket:
        await socket.send("start", channels=THEM)
        await say(socket, "Hello?")
        assert (await socket.until("error"))["code"] == "text_session"
        await socket.send("ping")
        await socket.until("pong")
    assert fake_recognizer.opened == []


async def test_their_side_is_not_heard_without_their_consent(
    fake_recognizer: FakeRecognizer, caller: TeleprompterClient
) -> None:
    alone = {"basis": "own_side_only", "confirmed_by": "Ada"}
    one = await caller.open(source="audio", consent=alone)
    async with caller.socket(one) as socket:
        await socket.send("start", channels=BOTH)
        assert (await socket.until("error"))["code"] == "not_consented"
        assert fake_recognizer.opened == []
        await socket.send("start", channels=[{"id": "me"}])
        await socket.until("ready")
        await say(socket, "I hear myself.")
        assert (await socket.until("transcript.final"))["speaker"] == "me"


async def test_nothing_is_heard_while_it_is_paused(fake_recognizer: FakeRecognizer, caller: TeleprompterClient) -> None:
    one = await caller.open(source="audio")
    async with caller.socket(one) as socket:
        await socket.send("start", channels=THEM)
        await socket.send_bytes(b"\0" + sentence_as_audio("Before"))
        await socket.send("pause")
        await socket.until("ack", of="pause")
        await say(socket, "Secret")
        await socket.send("resume")
        await socket.until("ack", of="resume")
        await say(socket, "After")
        after = await socket.until("transcript.final", text="After")
        assert after["start_ms"] == 210
    items = (await caller.events(one))["items"]
    said = [each["text"] for each in items if each["type"] == "transcript.final"]
    assert said == ["Before", "After"]
    assert b"Secret" not in b"".join(piece for each in fake_recognizer.opened for piece in each.taken)


async def test_flush_hears_it_to_its_end(caller: TeleprompterClient) -> None:
    one = await caller.open(source="audio")
    async with caller.socket(one) as socket:
        await socket.send("start", channels=THEM)
        await socket.send_bytes(b"\0" + sentence_as_audio("No full stop"))
        await socket.send("flush")
        await socket.until("ack", of="flush")
        items = (await caller.events(one))["items"]
        assert "No full stop" in [each.get("text") for each in items]
        # The event is sent once the bus wakes the socket: before the acknowledgement or after it.
        if "No full stop" not in [each.get("text") for each in socket.said]:
            await socket.until("transcript.final", text="No full stop")


async def test_stop_hears_what_was_sent_before_it_ends(caller: TeleprompterClient) -> None:
    one = await caller.open(source="audio")
    async with caller.socket(one) as socket:
        await socket.send("start", channels=THEM)
        await socket.send_bytes(b"\0" + sentence_as_audio("Last words"))
        await socket.send("stop")
        assert await socket.closed() == 1000
        kinds = [each["type"] for each in socket.said if "at" in each]
        assert kinds == ["transcript.final", "ended"]


async def test_trouble_with_hearing_is_told(fake_recognizer: FakeRecognizer, caller: TeleprompterClient) -> None:
    one = await caller.open(source="audio")
    async with caller.socket(one) as socket:
        await socket.send("start", channels=THEM)
        await socket.until("ready")
        for event in (
            RecognitionLag(5000),
            AudioGap(1, 2, "overrun"),
            RecognitionProblem("engine_restarted", "Again."),
        ):
            fake_recognizer.opened[0].say(event)
        told = [await socket.until("notice") for _ in range(3)]
        assert [each["code"] for each in told] == ["lag", "gap", "engine_restarted"]
        assert {each["detail"]["channel"] for each in told} == {"them"}
        # It is sent at once or not at all: the first one perhaps before the socket followed the session.
        fake_recognizer.opened[0].say(RecognitionLag(5000))
        assert (await socket.until("lag"))["behind_ms"] == 5000


async def test_sound_that_comes_faster_than_it_is_spoken_is_cut_off(caller: TeleprompterClient) -> None:
    one = await caller.open(source="audio")
    async with caller.socket(one) as socket:
        await socket.send("start", channels=THEM)
        for _ in range(12):
            await socket.send_bytes(b"\0" + SECOND)
        assert await socket.closed() == 4429
        assert "level" in {each["type"] for each in socket.said}


async def test_nobody_is_free_to_hear(
    fake_recognizer: FakeRecognizer, caller: TeleprompterClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("negotiator.teleprompter.websocket_connection._LET_GO", ())
    fake_recognizer.room = 0
    one = await caller.open(source="audio")
    async with caller.socket(one) as socket:
        await socket.send("start", channels=THEM)
        assert await socket.closed() == 1013
        assert (socket.said[-1]["code"], socket.said[-1]["retry_after"]) == ("busy", 5)
