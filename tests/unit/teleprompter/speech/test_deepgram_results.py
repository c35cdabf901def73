"""A Deepgram-style service's messages become utterances."""

from typing import Any

import pytest

from negotiator.teleprompter.speech.deepgram import DeepgramResults
from negotiator.teleprompter.speech.events import (
    FinalTranscript,
    PartialTranscript,
    RecognitionEvent,
    SpeechEnd,
    SpeechStart,
)
from negotiator.teleprompter.speech.utterance_events import UtteranceEventQueue
from tests.helpers.synthetic_speech import check_event_order


def result(start: float, text: str, *, final: bool = False, pause: bool = False) -> dict[str, Any]:
    """A Results message over a second of audio, one word after another."""
    words = [
        {"word": word, "start": start + place / 10, "end": start + (place + 1) / 10, "confidence": 0.9}
        for place, word in enumerate(text.split())
    ]
    alternative = {"transcript": text, "confidence": 0.9, "words": words}
    return {
        "type": "Results",
        "channel_index": [0, 1],
        "start": start,
        "duration": 1.0,
        "is_final": final,
        "speech_final": pause,
        "channel": {"alternatives": [alternative]},
    }


async def told(*messages: dict[str, Any], at_ms: int = 0, interim: bool = True) -> list[RecognitionEvent]:
    telling = UtteranceEventQueue()
    results = DeepgramResults(telling)
    results.connected(at_ms)
    for message in messages:
        results.on(message, interim=interim)
    results.over()
    telling.end()
    events = [event async for event in telling.events()]
    check_event_order(events, at_ms + 10_000)
    return events


@pytest.mark.asyncio
async def test_settled_segments_make_one_utterance_up_to_the_pause() -> None:
    events = await told(
        result(0, ""),
        result(1, "your price"),
        result(1, "your price is", final=True),
        result(2, "too high", final=True, pause=True),
        at_ms=500,
    )
    assert events[0] == SpeechStart("u1", 1500)
    assert events[1] == PartialTranscript("u1", 1, "your price", 1500, 1700)
    assert events[2] == SpeechEnd("u1", 2700)
    assert isinstance(final := events[3], FinalTranscript)
    assert final.text == "your price is too high"
    assert (final.start_ms, final.end_ms, final.confidence) == (1500, 2700, 0.9)
    assert [word.text for word in final.words] == final.text.split()


@pytest.mark.asyncio
async def test_an_utterance_end_closes_what_no_pause_did() -> None:
    events = await told(
        result(0, "hello", final=True),
        {"type": "UtteranceEnd", "channel": [0, 1], "last_word_end": 0.1},
        {"type": "UtteranceEnd", "channel": [0, 1], "last_word_end": 0.1},
        result(3, "again", final=True, pause=True),
    )
    assert [event.text for event in events if isinstance(event, FinalTranscript)] == ["hello", "again"]


@pytest.mark.asyncio
async def test_silence_and_news_make_no_utterance() -> None:
    assert not await told(
        result(0, "", final=True, pause=True),
        {"type": "SpeechStarted", "channel": [0], "timestamp": 0.1},
        {"type": "Metadata", "request_id": "x"},
    )


@pytest.mark.asyncio
async def test_words_that_were_settled_survive_a_new_connection() -> None:
    telling = UtteranceEventQueue()
    results = DeepgramResults(telling)
    results.on(result(0, "we need", final=True), interim=True)
    assert results.settled_ms == 1000
    results.connected(1000)
    results.on(result(0, "a discount", final=True, pause=True), interim=True)
    telling.end()
    events = [event async for event in telling.events()]
    assert [event.text for event in events if isinstance(event, FinalTranscript)] == ["we need a discount"]
    check_event_order(events, 2000)


@pytest.mark.asyncio
async def test_what_lags_or_is_not_wanted_has_no_partials() -> None:
    events = await told(result(0, "one"), result(0, "one two", final=True, pause=True), interim=False)
    assert not any(isinstance(event, PartialTranscript) for event in events)
