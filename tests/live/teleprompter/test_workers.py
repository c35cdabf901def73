"""Viewers on any worker are told at once, over every bus."""

import asyncio
import json
import time
from typing import Any, Final

import pytest

from tests.live.teleprompter.caller import bound
from tests.live.teleprompter.conftest import Houses

_VIEWERS: Final = 8
_SENTENCES: Final = 6
_AT_ONCE: Final = 1.0


@pytest.mark.asyncio
@pytest.mark.parametrize("bus", ["datagrams", "redis", "notify"])
async def test_everybody_is_told_within_a_second(houses: Houses, bus: str) -> None:
    server = houses(bus)
    caller = await bound(server)
    said: dict[str, float] = {}
    late: list[float] = []
    partials = 0

    async def look(connection: Any) -> None:
        nonlocal partials
        numbers: list[int] = []
        async for text in connection:
            message = json.loads(text)
            if message["type"] == "transcript.final":
                late.append(time.monotonic() - said[message["utterance_id"]])
            partials += message["type"] == "transcript.partial"
            if "at" in message:
                numbers.append(message["seq"])
        assert numbers == list(range(1, len(numbers) + 1))

    async with server.connect() as client:
        one = await caller.open(client)
        await caller.say(client, one, "warm", "Good morning.")
        said["warm"] = float("inf")
        viewers = [await caller.socket(one, 0) for _ in range(_VIEWERS)]
        looking = [asyncio.create_task(look(viewer)) for viewer in viewers]
        for number in range(_SENTENCES):
            name, path = f"u{number}", f"{one}/utterances"
            growing = {"utterance_id": name, "text": "Sentence", "final": False}
            await client.post(path, json=growing, headers=caller.headers)
            said[name] = time.monotonic()
            await caller.say(client, one, name, f"Sentence {number}.")
        await client.post(f"{one}/end", headers=caller.headers)
        await asyncio.wait_for(asyncio.gather(*looking), 10)
    assert len(late) == _VIEWERS * (_SENTENCES + 1)
    assert max(late) < _AT_ONCE
    assert partials >= _VIEWERS, "what is still said reaches other workers too"
