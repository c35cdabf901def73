"""What is not said: their silence after my figure, my own long talk."""

import asyncio
from typing import Any

import pytest

from negotiator.teleprompter import utterances
from tests.helpers.teleprompter_client import TeleprompterClient

FIGURE = "We could pay forty thousand euros a year."


async def families(teleprompter_client: TeleprompterClient, session: str, *, wait: float = 0) -> list[str]:
    """The families of the cards so far, waiting for the first after the last event."""
    if wait:
        last = (await teleprompter_client.events(session))["last_seq"]
        await teleprompter_client.events(session, after=last, wait=wait)
    events = (await teleprompter_client.events(session))["items"]
    return [event["cue"]["family"] for event in events if event["type"] == "cue"]


@pytest.mark.asyncio
async def test_their_silence_after_my_figure_is_told_while_it_lasts(
    teleprompter_client: TeleprompterClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(utterances, "SILENCE_SECONDS", 0.05)
    one = await teleprompter_client.open()
    await teleprompter_client.say(one, FIGURE, speaker="me")
    assert "silence" in await families(teleprompter_client, one, wait=5)


@pytest.mark.asyncio
async def test_whoever_speaks_ends_the_wait(
    teleprompter_client: TeleprompterClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(utterances, "SILENCE_SECONDS", 0.3)
    one = await teleprompter_client.open()
    await teleprompter_client.say(one, FIGURE, speaker="me")
    await teleprompter_client.say(one, "Let me see.", "u2", final=False)
    await asyncio.sleep(0.4)
    assert "silence" not in await families(teleprompter_client, one)


@pytest.mark.asyncio
async def test_who_talks_too_long_is_told_once(clock: Any, teleprompter_client: TeleprompterClient) -> None:
    one = await teleprompter_client.open()
    for number in range(8):
        await teleprompter_client.say(one, "The office moved to the second floor.", f"u{number}", speaker="me")
        clock.advance(12)
    events = (await teleprompter_client.events(one))["items"]
    told = [event for event in events if event["type"].startswith("cue")]
    assert [event["cue"]["cue"] for event in told] == ["talking_too_long"]
    await teleprompter_client.say(one, "It is raining here.", "v1")
    for number in range(3):
        await teleprompter_client.say(one, "The train leaves at nine.", f"w{number}", speaker="me")
        clock.advance(12)
    assert len((await teleprompter_client.events(one, after=events[-1]["seq"]))["items"]) == 4
