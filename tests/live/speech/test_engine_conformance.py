"""One suite for every engine: what `recognizer` and `events` promise holds whoever hears."""

import asyncio
from typing import Final

import pytest

from negotiator.teleprompter.speech.events import AudioGap, PartialTranscript, RecognitionLag
from negotiator.teleprompter.speech.recognizer import RecognizerBusy
from tests.helpers.synthetic_speech import (
    check_event_order,
    collected,
    feed,
    finals,
    heard,
    sentences,
    silence,
    synthesise,
)
from tests.live.speech.conftest import STREAMS, Engines

NAMES: Final = ("pocketsphinx", "whisper", "whisper-tiny", "openai")
TWO: Final = ("your price is too high for us", "we need ten percent less")

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.parametrize("name", NAMES)]


async def test_what_is_said_comes_out_as_the_events_promise(name: str, engines: Engines) -> None:
    recognizer = await engines(name)
    pcm = sentences(*TWO)
    events = await heard(await recognizer.open("en"), pcm)
    check_event_order(events, len(pcm) // 32)
    said = finals(events)
    assert len(said) >= 2
    assert all(final.text for final in said)
    has_partials = any(isinstance(event, PartialTranscript) for event in events)
    if name == "pocketsphinx":
        assert has_partials
    else:  # it hears an open utterance only while no other sound waits
        assert recognizer.caps.interim or not has_partials
    assert not [event for event in events if isinstance(event, AudioGap | RecognitionLag)]


async def test_an_open_utterance_is_finished_with_the_channel(name: str, engines: Engines) -> None:
    recognizer = await engines(name)
    pcm = synthesise(TWO[0])[:48_000]
    events = await heard(await recognizer.open("en"), pcm)
    check_event_order(events, len(pcm) // 32)
    assert len(finals(events)) == 1


async def test_a_closed_channel_ends_at_once_and_takes_nothing(name: str, engines: Engines) -> None:
    recognizer = await engines(name)
    recognition = await recognizer.open("en")
    await recognition.push(synthesise(TWO[0])[:32_000])
    reading = asyncio.create_task(collected(recognition))
    await recognition.close()
    await recognition.close()
    await reading
    with pytest.raises(RecognizerBusy):
        await recognition.push(silence(100))


async def test_two_channels_hear_only_their_own(name: str, engines: Engines) -> None:
    recognizer = await engines(name)
    one, other = [await recognizer.open("en") for _ in range(2)]
    both = await asyncio.gather(heard(one, sentences(TWO[0])), heard(other, sentences(TWO[1])))
    texts = [[final.text for final in finals(events)] for events in both]
    if name == "pocketsphinx":
        assert texts == [[TWO[0]], [TWO[1]]]
    else:
        alone = finals(await heard(await recognizer.open("en"), sentences(TWO[1])))
        assert texts[1] == [final.text for final in alone]


async def test_half_a_sample_and_too_much_at_once_are_refused(name: str, engines: Engines) -> None:
    recognition = await (await engines(name)).open("en")
    with pytest.raises(ValueError, match="even"):
        await recognition.push(b"\x00")
    with pytest.raises(RecognizerBusy):
        await recognition.push(silence(8_100))
    await recognition.close()


async def test_more_channels_than_the_operator_allowed_are_refused(name: str, engines: Engines) -> None:
    recognizer = await engines(name)
    taken = [await recognizer.open("en") for _ in range(STREAMS if name != "pocketsphinx" else 0)]
    if taken:
        with pytest.raises(RecognizerBusy):
            await recognizer.open("en")
    for recognition in taken:
        await recognition.close()
    after = await recognizer.open("en")
    await feed(after, silence(200))
    await after.finish()
    assert all(not final.text for final in finals(await collected(after)))


async def test_the_engine_says_what_it_is_good_for(name: str, engines: Engines) -> None:
    caps = (await engines(name)).caps
    assert caps.quality_note.endswith(".")
    assert bool(caps.third_party) == (name == "openai")
    assert caps.third_party in caps.quality_note
