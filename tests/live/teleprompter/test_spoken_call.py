"""A scripted call, spoken by a synthetic voice into a real server: words and cards come out of the sound."""

import asyncio
import json
from typing import Any, Final

import pytest

from tests.helpers.live_server import Server
from tests.helpers.synthetic_speech import PIECE, silence, synthesise
from tests.live.teleprompter.socket_client import TeleprompterUser, bound

SCRIPT: Final = (
    ("me", "the first two pages have not changed"),
    ("them", "honestly that is way over our budget"),
    ("me", "i have sent you the papers this morning"),
    ("them", "i have to ask my manager before i can sign"),
)
FAMILIES: Final = ["budget", "authority"]
"""Of the cards that it raises; more than two are not shown in a minute."""
CHANNELS: Final = ("me", "them")


async def speak(socket: Any) -> None:
    """Both sides, one after the other, each in pieces of 100 ms, a little faster than people do."""
    for speaker, text in SCRIPT:
        pcm = synthesise(text) + silence(900)
        number = bytes([CHANNELS.index(speaker)])
        for start in range(0, len(pcm), PIECE):
            await socket.send(number + pcm[start : start + PIECE])
            await asyncio.sleep(0.07)
    await socket.send('{"type":"flush"}')


async def collected(socket: Any) -> list[dict[str, Any]]:
    """Every message, until the last final has come."""
    said: list[dict[str, Any]] = []
    async for text in socket:
        said.append(json.loads(text))
        if sum(message["type"] == "transcript.final" for message in said) == len(SCRIPT):
            break
    async with asyncio.timeout(2):
        async for text in socket:
            said.append(json.loads(text))
            if said[-1]["type"].startswith("cue"):
                break
    return said


@pytest.mark.asyncio
async def test_a_spoken_call_raises_the_cards_of_what_is_said(two_workers: Server) -> None:
    caller: TeleprompterUser = await bound(two_workers)
    async with two_workers.connect() as client:
        one = await caller.open(client, source="audio")
        view = (await client.get(one, headers=caller.headers)).json()
        assert view["engine"]["id"] == "whisper"
        assert view["engine"]["processor"] is None
        assert "on this machine" in view["engine"]["quality_note"]
        socket = await caller.socket(one, 0)
        channels = [{"id": name} for name in CHANNELS]
        await socket.send(json.dumps({"type": "start", "channels": channels}))
        listening = asyncio.create_task(collected(socket))
        await speak(socket)
        said = await asyncio.wait_for(listening, 30)
        await socket.close()
        families = {m["cue"]["family"] for m in said if m["type"] == "cue"}
        assert families == set(FAMILIES)
        assert any(m["type"] == "transcript.partial" for m in said)
        assert any(m["type"] == "level" for m in said)
        transcript = (await client.get(f"{one}/transcript", headers=caller.headers)).json()
        words = " ".join(line["text"] for line in transcript["lines"] if line["speaker"])
        assert "budget" in words
        assert "manager" in words
        spoken = [m for m in said if m["type"] == "transcript.final"]
        assert all(0 <= m["start_ms"] < m["end_ms"] for m in spoken)
        assert [m["speaker"] for m in spoken] == [speaker for speaker, _ in SCRIPT]
        await client.delete(one, headers=caller.headers)


@pytest.mark.asyncio
async def test_the_same_call_as_text_raises_the_same_cards(two_workers: Server) -> None:
    caller: TeleprompterUser = await bound(two_workers)
    async with two_workers.connect() as client:
        one = await caller.open(client)
        for number, (speaker, text) in enumerate(SCRIPT):
            if speaker == "them":
                await caller.say(client, one, f"u{number}", text)
        events = (await client.get(f"{one}/events", headers=caller.headers)).json()["items"]
        families = [event["cue"]["family"] for event in events if event["type"] == "cue"]
        assert families == FAMILIES
