"""A remote service fails in its own ways; the call goes on, or says that it does not."""

import pytest

from negotiator.base.errors import Unavailable
from negotiator.runtime.circuit_breaker import COOL_DOWN_SECONDS
from negotiator.teleprompter.speech.events import AudioGap, RecognitionEvent, RecognitionProblem
from negotiator.teleprompter.speech.transcription_api import TranscriptionApiRecognizer
from tests.helpers.synthetic_speech import check_event_order, finals, heard, sentences, synthesise
from tests.live.speech.fake_speech_services import KEY, MODEL, fake_transcriptions

pytestmark = pytest.mark.asyncio

SAID = ("your price is too high for us", "we need ten percent less")


def problems(events: list[RecognitionEvent]) -> list[str]:
    return [event.code for event in events if isinstance(event, RecognitionProblem)]


def recognizer_for(url: str, key: str = KEY) -> TranscriptionApiRecognizer:
    return TranscriptionApiRecognizer(url, key=key, model=MODEL, hangover_ms=500, streams=2)


async def test_the_operator_s_model_is_asked_in_the_caller_s_language() -> None:
    async with fake_transcriptions() as service:
        recognizer = recognizer_for(service.url)
        events = await heard(await recognizer.open("de-CH"), sentences(SAID[0]))
        await recognizer.close()
    assert service.forms == [{"model": MODEL, "language": "de", "response_format": "json"}]
    assert finals(events)[0].text.startswith("heard")
    assert recognizer.caps.third_party == "127.0.0.1"


async def test_an_utterance_that_was_not_answered_is_named_and_the_next_is_heard() -> None:
    async with fake_transcriptions() as service:
        service.failures = 1
        recognizer = recognizer_for(service.url)
        pcm = sentences(*SAID)
        events = await heard(await recognizer.open("en"), pcm)
        await recognizer.close()
    check_event_order(events, len(pcm) // 32)
    assert problems(events) == ["utterance_lost"]
    assert [bool(final.text) for final in finals(events)] == [False, True]


async def test_a_service_that_answers_nothing_is_given_up() -> None:
    async with fake_transcriptions() as service:
        recognizer = recognizer_for(service.url, key="wrong")
        assert recognizer.fault == ""
        events = await heard(await recognizer.open("en"), sentences(*SAID, *SAID))
        with pytest.raises(Unavailable) as refused:
            await recognizer.open("en")
        assert refused.value.retry_after == COOL_DOWN_SECONDS
        assert recognizer.fault == "the speech service does not answer"
        await recognizer.close()
    assert problems(events) == ["utterance_lost"] * 2 + ["engine_failed"]
    assert service.times == 3
    check_event_order(events, 60_000)


async def test_who_speaks_on_and_on_is_sent_in_pieces() -> None:
    pcm = synthesise("we have been told by our board that the price which you quoted last week is far too high") * 3
    async with fake_transcriptions() as service:
        recognizer = recognizer_for(service.url)
        events = await heard(await recognizer.open("en"), pcm)
        await recognizer.close()
    assert len(finals(events)) >= 3
    assert service.longest_ms <= 6_400
    assert not [event for event in events if isinstance(event, AudioGap)]
