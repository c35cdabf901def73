"""The live socket (docs/contract 8.6)."""

import pytest

from negotiator.teleprompter.websocket_messages import SUBPROTOCOL
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused
from tests.helpers.asgi_websocket import WebSocketRefused
from tests.helpers.fake_recognizer import FakeRecognizer, sentence_as_audio
from tests.helpers.teleprompter_client import TeleprompterClient

pytestmark = pytest.mark.asyncio


@covers("8.6:socket")
async def test_the_stream_speaks_its_subprotocol_and_plain_http_is_told_so(caller: TeleprompterClient) -> None:
    one = await caller.open()
    plain = await caller.send("GET", f"{one}/stream")
    refused(plain, 426, "upgrade_required")
    assert plain.headers["upgrade"] == "websocket"
    assert SUBPROTOCOL == "negotiator.teleprompter.v1"
    async with caller.socket(one, subprotocols=[SUBPROTOCOL]) as socket:
        assert socket.subprotocol == SUBPROTOCOL
        await socket.send("start", after=0)
        assert {"seq", "replay_from", "audio_ms", "limits"} <= (await socket.next()).keys()


@covers("8.6:tickets")
async def test_a_ticket_opens_its_session_once(caller: TeleprompterClient) -> None:
    one = await caller.open()
    made = await caller.send("POST", f"{one}/tickets")
    assert (made.status_code, made.json()["expires_in"]) == (201, 30)
    offered = [SUBPROTOCOL, f"ticket.{made.json()['ticket']}"]
    async with caller.socket(one, headers={}, subprotocols=offered) as socket:
        assert socket.subprotocol == SUBPROTOCOL
    with pytest.raises(WebSocketRefused) as again:
        async with caller.socket(one, headers={}, subprotocols=offered):
            pass
    assert again.value.status == 401


@covers("8.6:resume")
async def test_a_client_that_reconnects_continues_after_its_last_sequence_number(caller: TeleprompterClient) -> None:
    one = await caller.open()
    for number in range(3):
        await caller.say(one, f"Sentence {number}.", f"u{number}")
    async with caller.socket(one) as socket:
        await socket.send("start", after=1)
        await socket.send("ping")
        await socket.until("transcript.final", seq=3)
        assert [each["seq"] for each in socket.said if "at" in each] == [2, 3]


@covers("8.6:close-codes")
@pytest.mark.parametrize(
    ("frame", "code"), [('{"type":"ping","x":1}', 4400), (" " * 65_537, 4413), ('{"type":"stop"}', 1000)]
)
async def test_the_close_code_says_why(caller: TeleprompterClient, frame: str, code: int) -> None:
    one = await caller.open()
    async with caller.socket(one) as socket:
        await socket.send_text(frame)
        assert await socket.closed() == code


@covers("8.6:producer")
async def test_one_connection_sends_sound_and_the_newest_is_it(
    fake_recognizer: FakeRecognizer, caller: TeleprompterClient
) -> None:
    one, them = await caller.open(source="audio"), [{"id": "them"}]
    async with caller.socket(one) as first, caller.socket(one) as second:
        await first.send("start", channels=them)
        await first.until("ready")
        await second.send("start", channels=them)
        assert await first.closed() == 4409
        await second.send_bytes(b"\0" + sentence_as_audio("Hello there"))
        await second.send("flush")
        assert (await second.until("transcript.final"))["text"] == "Hello there"
    assert len(fake_recognizer.opened) == 2
