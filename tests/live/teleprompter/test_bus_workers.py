"""Viewers on any worker are told at once, over every bus."""

import asyncio
import json
import time
from contextlib import suppress
from statistics import median
from typing import Any, Final

import pytest

from negotiator.config.settings import Settings
from negotiator.teleprompter import event_log
from tests.conftest import connect as client_of
from tests.conftest import running
from tests.helpers.asgi_websocket import connect
from tests.helpers.live_server import Server
from tests.helpers.phrase_analyser import phrase_analyser as phrase_analyser
from tests.live.teleprompter.socket_client import TeleprompterUser, bound, let_in

_VIEWERS: Final = 8
_SENTENCES: Final = 6
_AT_ONCE: Final = 1.0
"""Seconds that news takes, by the median: a single one may wait for the processor of a busy machine."""
_NEVER: Final = 3600.0


@pytest.mark.asyncio
async def test_everybody_is_told_within_a_second(two_workers: Server) -> None:
    caller = await bound(two_workers)
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

    async with two_workers.connect() as client:
        one = await caller.open(client)
        await caller.say(client, one, "warm", "Good morning.")
        said["warm"] = float("inf")
        viewers = [await caller.socket(one, 0) for _ in range(_VIEWERS)]
        looking = [asyncio.create_task(look(viewer)) for viewer in viewers]
        for number in range(_SENTENCES):
            name = f"u{number}"
            await caller.say(client, one, name, "Sentence", final=False)
            said[name] = time.monotonic()
            await caller.say(client, one, name, f"Sentence {number}.")
        await client.post(f"{one}/end", headers=caller.headers)
        await asyncio.wait_for(asyncio.gather(*looking), 10)
    assert len(late) == _VIEWERS * (_SENTENCES + 1)
    assert median(late) < _AT_ONCE
    assert partials >= _VIEWERS, "what is still said reaches other workers too"


@pytest.mark.asyncio
async def test_another_process_is_told_within_a_second(
    on_each_bus: Settings, phrase_analyser: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two whole applications that share nothing but what two processes would; neither looks unless it is told."""
    del phrase_analyser
    monkeypatch.setattr(event_log, "POLL_SECONDS", _NEVER)
    settings = on_each_bus
    async with running(settings) as here, running(settings) as there, client_of(here) as client:
        caller = TeleprompterUser(settings.base_url, await let_in(client, settings))
        one = await caller.open(client)
        path, headers = f"{one}/stream", caller.headers
        async with connect(there, path, headers=headers, query="after=0") as viewer:
            await viewer.until("ready")
            took: list[float] = []
            for number in range(4):
                name, began = f"u{number}", time.monotonic()
                partial = None
                while partial is None:  # a word before the connections are open is lost
                    await caller.say(client, one, name, "Half a", final=False)
                    with suppress(TimeoutError):
                        partial = await asyncio.wait_for(viewer.until("transcript.partial"), 1)
                    assert partial or number == 0
                    assert time.monotonic() < began + 20
                assert partial["text"] == "Half a"
                await caller.say(client, one, name, "Half a sentence.")
                await viewer.until("transcript.final", utterance_id=name)
                took.append(time.monotonic() - began)
            assert median(took[1:]) < _AT_ONCE, "the first word opens the connections"
