"""Frames that are too large, too many, or none of the protocol's."""

import pytest

from tests.helpers.asgi_websocket import AsgiWebSocket
from tests.helpers.teleprompter_client import TeleprompterClient

pytestmark = pytest.mark.asyncio

_LARGE = 64 * 1024


async def _closes(caller: TeleprompterClient, *frames: str | bytes) -> tuple[int, AsgiWebSocket]:
    one = await caller.open(source="audio")
    async with caller.socket(one) as socket:
        for frame in frames:
            if isinstance(frame, str):
                await socket.send_text(frame)
            else:
                await socket.send_bytes(frame)
        return await socket.closed(), socket


@pytest.mark.parametrize(
    "frame",
    [
        *("", "nonsense", "[]", '{"type":"explode"}', '{"type":"ping","x":1}', '{"type":"text"}'),
        *('{"type":"ping"' + "," * 5, "\ud800".encode("utf-8", "surrogatepass").hex(), "{" * 2000),
        *(b"", b"\0", b"\0\0", b"\0\0\0", b"\xff" + bytes(320)),
    ],
)
async def test_a_malformed_frame_closes_with_4400(caller: TeleprompterClient, frame: str | bytes) -> None:
    code, socket = await _closes(caller, frame)
    assert code == 4400
    assert socket.said[-1]["code"] == "bad_message"


@pytest.mark.parametrize("frame", [b"\0" + bytes(_LARGE), '{"type":"ping"}' + " " * _LARGE])
async def test_an_oversized_frame_closes_with_4413(caller: TeleprompterClient, frame: str | bytes) -> None:
    assert (await _closes(caller, frame))[0] == 4413


async def test_a_flood_of_messages_closes_with_4429(caller: TeleprompterClient) -> None:
    assert (await _closes(caller, *['{"type":"ping"}'] * 3000))[0] == 4429


async def test_who_is_refused_again_and_again_is_put_out(caller: TeleprompterClient) -> None:
    wrong = '{"type":"text","utterance_id":"u","text":"x","speaker":"nobody"}'
    assert (await _closes(caller, *[wrong] * 20))[0] == 4429


async def test_who_says_nothing_is_put_out(caller: TeleprompterClient) -> None:
    code, socket = await _closes(caller, '{"type":"start"}')
    assert code == 4408
    assert [each["type"] for each in socket.said] == ["ready"]
