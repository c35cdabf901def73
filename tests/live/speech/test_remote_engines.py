"""Remote services fail in their own ways; the call goes on, or says that it does not."""

import asyncio

import pytest

from negotiator.base.errors import Unavailable
from negotiator.runtime.circuit_breaker import COOL_DOWN_SECONDS
from negotiator.teleprompter.speech import deepgram
from negotiator.teleprompter.speech.deepgram import DeepgramRecognizer
from negotiator.teleprompter.speech.events import AudioGap, FinalTranscript, RecognitionEvent, RecognitionProblem
from negotiator.teleprompter.speech.recognizer import StreamConfig
from negotiator.teleprompter.speech.transcription_api import TranscriptionApiRecognizer
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
from tests.live.speech.fake_speech_services import KEY, MODEL, fake_deepgram, fake_transcriptions

SAID = ("your price is too high for us", "we need ten percent less")


def problems(events: list[RecognitionEvent]) -> list[str]:
    return [event.code for event in events if isinstance(event, RecognitionProblem)]


def over_http(url: str, key: str = KEY) -> TranscriptionApiRecognizer:
    return TranscriptionApiRecognizer(url, key=key, model=MODEL, hangover_ms=500, streams=2)


def over_socket(url: str, key: str = KEY) -> DeepgramRecognizer:
    return DeepgramRecognizer(url, key=key, model=MODEL, hangover_ms=500, streams=2)


@pytest.mark.asyncio
async def test_the_operator_s_model_is_asked_in_the_caller_s_language() -> None:
    async with fake_transcriptions() as service:
        recognizer = over_http(service.url)
        events = await heard(await recognizer.open(StreamConfig("de-CH")), sentences(SAID[0]))
        await recognizer.close()
    assert service.forms == [{"model": MODEL, "language": "de", "response_format": "json"}]
    assert finals(events)[0].text.startswith("heard")
    assert recognizer.caps.third_party == "127.0.0.1"


@pytest.mark.asyncio
async def test_an_utterance_that_was_not_answered_is_named_and_the_next_is_heard() -> None:
    async with fake_transcriptions() as service:
        service.failures = 1
        recognizer = over_http(service.url)
        pcm = sentences(*SAID)
        events = await heard(await recognizer.open(StreamConfig()), pcm)
        await recognizer.close()
    check_event_order(events, len(pcm) // 32)
    assert problems(events) == ["utterance_lost"]
    assert [bool(final.text) for final in finals(events)] == [False, True]


@pytest.mark.asyncio
async def test_a_service_that_answers_nothing_is_given_up() -> None:
    async with fake_transcriptions() as service:
        recognizer = over_http(service.url, key="wrong")
        assert recognizer.fault == ""
        events = await heard(await recognizer.open(StreamConfig()), sentences(*SAID, *SAID))
        with pytest.raises(Unavailable) as refused:
            await recognizer.open(StreamConfig())
        assert refused.value.retry_after == COOL_DOWN_SECONDS
        assert recognizer.fault == "the speech service does not answer"
        await recognizer.close()
    assert problems(events) == ["utterance_lost"] * 2 + ["engine_failed"]
    assert service.times == 3
    check_event_order(events, 60_000)


@pytest.mark.asyncio
async def test_who_speaks_on_and_on_is_sent_in_pieces() -> None:
    pcm = synthesise("we have been told by our board that the price which you quoted last week is far too high") * 3
    async with fake_transcriptions() as service:
        recognizer = over_http(service.url)
        events = await heard(await recognizer.open(StreamConfig()), pcm)
        await recognizer.close()
    assert len(finals(events)) >= 3
    assert service.longest_ms <= 6_400
    assert not [event for event in events if isinstance(event, AudioGap)]


@pytest.mark.asyncio
async def test_the_service_is_told_what_comes_and_when_it_is_over() -> None:
    async with fake_deepgram() as service:
        recognizer = over_socket(service.url)
        await heard(await recognizer.open(StreamConfig("en-GB")), sentences(SAID[0]))
        await recognizer.close()
    (asked,) = service.forms
    assert asked["language"] == "en-GB"
    assert (asked["encoding"], asked["sample_rate"], asked["channels"]) == ("linear16", "16000", "1")
    assert (asked["model"], asked["endpointing"], asked["interim_results"]) == (MODEL, "500", "true")
    assert service.texts == ["CloseStream"]


@pytest.mark.asyncio
async def test_a_dropped_connection_is_made_again_and_times_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deepgram, "_PAUSE_SECONDS", 0.001)
    pcm = sentences(*SAID)
    async with fake_deepgram() as service:
        recognizer = over_socket(service.url)
        whole = finals(await heard(await recognizer.open(StreamConfig()), pcm))
        service.drop_after = 40
        events = await heard(await recognizer.open(StreamConfig()), pcm)
        await recognizer.close()
    assert service.times == 3
    check_event_order(events, len(pcm) // 32)
    assert problems(events) == ["engine_restarted"]
    got = finals(events)
    assert [len(final.words) for final in got] == pytest.approx([len(final.words) for final in whole], abs=2)
    assert [final.end_ms for final in got] == pytest.approx([one.end_ms for one in whole], abs=200)


@pytest.mark.asyncio
async def test_a_service_that_is_gone_for_good_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deepgram, "_PAUSE_SECONDS", 0.001)
    async with fake_deepgram() as service:
        recognizer = over_socket(service.url)
        recognition = await recognizer.open(StreamConfig())
        reading = asyncio.create_task(collected(recognition))
        await feed(recognition, synthesise(SAID[0])[:64_000])
    events = await reading
    assert problems(events) == ["engine_restarted"] * 3 + ["engine_failed"]
    check_event_order(events, 2_000)
    await recognizer.close()


@pytest.mark.asyncio
async def test_a_key_that_is_refused_is_said_when_the_channel_is_opened() -> None:
    async with fake_deepgram() as service:
        with pytest.raises(Unavailable, match="cannot be used") as refused:
            await over_socket(service.url, key="wrong").open(StreamConfig())
    assert "401" in refused.value.detail
    assert "wrong" not in refused.value.detail


@pytest.mark.asyncio
async def test_a_quiet_channel_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deepgram, "_QUIET_SECONDS", 0.01)
    async with fake_deepgram() as service:
        recognizer = over_socket(service.url)
        recognition = await recognizer.open(StreamConfig())
        await recognition.push(silence(100))
        while len(service.texts) < 2:
            await asyncio.sleep(0.005)
        await recognition.finish()
        assert not [event for event in await collected(recognition) if isinstance(event, FinalTranscript)]
        await recognizer.close()
    assert set(service.texts) == {"KeepAlive", "CloseStream"}
