"""What is not said: their silence after my figure, my own long talk."""

import asyncio
from typing import Any

import pytest

from negotiator.teleprompter import utterances
from tests.helpers.teleprompter_client import TeleprompterClient

pytestmark = pytest.mark.asyncio

FIGURE = "We could pay forty thousand euros a year."


async def families(caller: TeleprompterClient, session: str, *, wait: float = 0) -> list[str]:
    """The families of the cards so far, waiting for the first after the last event."""
    if wait:
        last = (await caller.events(session))["last_seq"]
        await caller.events(session, after=last, wait=wait)
    events = (await caller.events(session))["items"]
    return [event["cue"]["family"] for event in events if event["type"] == "cue"]


async def test_their_silence_after_my_figure_is_told_while_it_lasts(
    caller: TeleprompterClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(utterances, "SILENCE_SECONDS", 0.05)
    one = await caller.open()
    await caller.say(one, FIGURE, speaker="me")
    assert "silence" in await families(caller, one, wait=5)


async def test_whoever_speaks_ends_the_wait(caller: TeleprompterClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utterances, "SILENCE_SECONDS", 0.3)
    one = await caller.open()
    await caller.say(one, FIGURE, speaker="me")
    await caller.say(one, "Let me see.", "u2", final=False)
    await asyncio.sleep(0.4)
    assert "silence" not in await families(caller, one)


async def test_who_talks_too_long_is_told_once(clock: Any, caller: TeleprompterClient) -> None:
    one = await caller.open()
    for number in range(8):
        await caller.say(one, "The office moved to the second floor.", f"u{number}", speaker="me")
        clock.advance(12)
    events = (await caller.events(one))["items"]
    told = [event for event in events if event["type"].startswith("cue")]
    assert [event["cue"]["cue"] for event in told] == ["talking_too_long"]
    await caller.say(one, "It is raining here.", "v1")
    for number in range(3):
        await caller.say(one, "The train leaves at nine.", f"w{number}", speaker="me")
        clock.advance(12)
    assert len((await caller.events(one, after=events[-1]["seq"]))["items"]) == 4
