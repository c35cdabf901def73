"""What is said on the socket, and what comes back."""

import pytest

from tests.helpers.phrase_analyser import OBJECTION
from tests.helpers.teleprompter_client import TeleprompterClient

pytestmark = [pytest.mark.asyncio, pytest.mark.usefixtures("phrase_analyser")]


async def test_what_is_said_on_the_socket_raises_its_card(caller: TeleprompterClient) -> None:
    one = await caller.open()
    async with caller.socket(one) as socket:
        await socket.send("start")
        ready = await socket.until("ready")
        assert (ready["seq"], ready["replay_from"]) == (0, 1)
        assert ready["limits"]["frame_bytes"] == 65536
        await socket.send("text", utterance_id="u1", text=OBJECTION)
        cue = await socket.until("cue")
        assert cue["cue"]["cue"] == "no_budget"
        await socket.send("ping")
        await socket.until("pong")
        ack = next(each for each in socket.said if each["type"] == "ack")
        assert (ack["of"], ack["utterance_id"], ack["seq"]) == ("text", "u1", 1)
        assert [each["seq"] for each in socket.said if each["type"] == "transcript.final"] == [1]


async def test_socket_and_http_tell_the_same(caller: TeleprompterClient) -> None:
    one = await caller.open()
    async with caller.socket(one) as socket:
        await socket.send("start")
        await caller.say(one, OBJECTION)
        await socket.send("text", utterance_id="u2", text="Send me the contract.", speaker="me")
        await socket.send("mark", ref="here")
        await socket.until("notice", code="mark")
        await socket.send("stop")
        assert await socket.closed() == 1000
        told = [each for each in socket.said if "seq" in each and each["type"] not in _OWN]
    assert told == (await caller.events(one))["items"]


_OWN = {"ready", "ack"}


async def test_a_client_that_reconnects_receives_the_missed_events_once(caller: TeleprompterClient) -> None:
    one = await caller.open()
    for number in range(5):
        await caller.say(one, f"Sentence {number}.", f"u{number}")
    async with caller.socket(one, query="after=2") as socket:
        assert (await socket.next())["replay_from"] == 3
        assert [(await socket.next())["seq"] for _ in range(3)] == [3, 4, 5]
        await caller.say(one, "One more.", "u9")
        assert (await socket.next())["seq"] == 6


async def test_an_utterance_that_grows_is_shown_and_not_kept(caller: TeleprompterClient) -> None:
    one = await caller.open()
    async with caller.socket(one) as socket:
        await socket.send("start")
        await socket.send("text", utterance_id="u1", text="Mail ada@example.com", final=False)
        shown = await socket.until("transcript.partial")
        assert (shown["utterance_id"], shown["speaker"]) == ("u1", "them")
        assert shown["text"] == "Mail [email]"
        assert "seq" not in shown
    assert (await caller.events(one))["items"] == []


async def test_a_refusal_is_a_message_and_the_socket_stays(caller: TeleprompterClient) -> None:
    one = await caller.open(consent={"basis": "own_side_only", "confirmed_by": "Ada"})
    async with caller.socket(one) as socket:
        await socket.send("start")
        await socket.send("text", utterance_id="u1", text="Hello", speaker="them")
        said = await socket.until("error")
        assert (said["code"], said["of"], said["utterance_id"]) == ("not_consented", "text", "u1")
        await socket.send("pause")
        await socket.until("ack", of="pause")
        await socket.send("text", utterance_id="u2", text="Hello", speaker="me")
        assert (await socket.until("error"))["code"] == "session_paused"
        await socket.send("resume")
        await socket.send("text", utterance_id="u2", text="x" * 2001, speaker="me")
        said = await socket.until("error")
        assert (said["code"], said["errors"][0]["pointer"]) == ("validation_failed", "/text")
        await socket.send("text", utterance_id="u2", text="Hello", speaker="me")
        await socket.until("transcript.final")
        await socket.send("ping")
        await socket.until("pong")


async def test_a_session_that_is_erased_closes_its_sockets(caller: TeleprompterClient) -> None:
    one = await caller.open()
    async with caller.socket(one, query="after=0") as socket:
        await socket.until("ready")
        await caller.send("DELETE", one)
        assert await socket.closed() == 1000


async def test_eight_may_look_on(caller: TeleprompterClient) -> None:
    one = await caller.open()

    async def crowd(left: int) -> None:
        async with caller.socket(one, query="after=0") as socket:
            if left:
                await socket.until("ready")
                await crowd(left - 1)
            else:
                assert await socket.closed() == 1013
                assert socket.said[-1]["code"] == "full"
                assert socket.said[-1]["retry_after"] >= 1

    await crowd(8)
