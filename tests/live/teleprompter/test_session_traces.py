"""Traces of live sessions: of a message, of an utterance that was heard, and of a call to a speech service."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette

from negotiator.config.settings import Settings
from tests.conftest import connect as client_of
from tests.conftest import running
from tests.helpers.asgi_websocket import AsgiWebSocket, connect
from tests.helpers.fake_recognizer import SILENCE, FakeRecognizer, sentence_as_audio
from tests.helpers.fake_recognizer import fake_recognizer as fake_recognizer
from tests.helpers.phrase_analyser import OBJECTION
from tests.helpers.phrase_analyser import phrase_analyser as phrase_analyser
from tests.helpers.synthetic_speech import sentences
from tests.helpers.trace_collector import TraceCollector, collecting, only, span_attributes
from tests.live.speech.fake_speech_services import KEY, MODEL, fake_transcriptions
from tests.live.teleprompter.socket_client import PATIENCE, TeleprompterUser, let_in

pytestmark = pytest.mark.asyncio


@asynccontextmanager
async def speaking(settings: Settings) -> AsyncGenerator[tuple[AsgiWebSocket, AsgiWebSocket, str]]:
    """The socket of a speaker, that of a viewer, and the path of their session."""
    async with running(settings) as application, client_of(application) as client:
        caller = TeleprompterUser(settings.base_url, await let_in(client, settings))
        session = await caller.open(client, source="audio")
        async with (
            viewing(caller, session, application) as viewer,
            connect(application, f"{session}/stream", headers=caller.headers) as speaker,
        ):
            yield speaker, viewer, session


@asynccontextmanager
async def viewing(caller: TeleprompterUser, session: str, application: Starlette) -> AsyncGenerator[AsgiWebSocket]:
    stream = connect(application, f"{session}/stream", headers=caller.headers, query="after=0")
    async with stream as viewer:
        await viewer.until("ready")
        yield viewer


def below(spans: list[Any], root: Any) -> set[str]:
    return {each.name for each in spans if each.parent_span_id == root.span_id}


def with_traces(settings: Settings, collector: TraceCollector, **more: Any) -> Settings:
    wanted = {"traces_url": collector.url, "traces_sample": 1.0, **more}
    return settings.model_copy(update=wanted)


async def test_each_message_has_a_trace_of_its_own_without_what_was_said(
    settings: Settings, phrase_analyser: None
) -> None:
    del phrase_analyser
    with collecting() as collector:
        async with speaking(with_traces(settings, collector)) as (speaker, _, session):
            for name in ("first", "second"):
                await speaker.send("text", utterance_id=name, text=OBJECTION)
                await speaker.until("ack", utterance_id=name)
            await speaker.send("mark", ref="our-secret")
            await speaker.until("ack", of="mark")
    first, second = [span for span in collector.spans if span.name == "stream_session text"]
    assert first.trace_id != second.trace_id
    assert {first.parent_span_id, second.parent_span_id} == {b""}
    assert "write" in below(collector.spans, second)
    sent = b"".join(collector.bodies)
    for private in (OBJECTION, session.rsplit("/", 1)[1], "our-secret"):
        assert private.encode() not in sent


async def test_an_utterance_is_traced_from_its_words_to_its_cards(
    settings: Settings, fake_recognizer: FakeRecognizer, phrase_analyser: None
) -> None:
    del fake_recognizer, phrase_analyser
    with collecting() as collector:
        async with speaking(with_traces(settings, collector)) as (speaker, viewer, _):
            await speaker.send("start", channels=[{"id": "them"}])
            await speaker.until("ready")
            await speaker.send_bytes(b"\0" + sentence_as_audio(OBJECTION))
            await viewer.until("transcript.partial")
            await speaker.send_bytes(b"\0" + SILENCE)
            await viewer.until("transcript.final")
    utterance = only(collector.spans, "utterance")
    assert (utterance.parent_span_id, utterance.status.code) == (b"", 0)
    assert "write" in below(collector.spans, utterance)
    assert OBJECTION.encode() not in b"".join(collector.bodies)


async def speak_to_service(settings: Settings, pcm: bytes, *, until: Callable[[], bool]) -> None:
    """Send sound to a session on a server with these settings, until its words are final and `until` is true."""
    async with speaking(settings) as (speaker, viewer, _):
        await speaker.send("start", channels=[{"id": "them"}])
        await speaker.until("ready")
        piece = 6_400
        for at in range(0, len(pcm), piece):
            await speaker.send_bytes(b"\0" + pcm[at : at + piece])
        await viewer.until("transcript.final")
        async with asyncio.timeout(PATIENCE):
            while not until():
                await asyncio.sleep(0.01)


async def test_a_call_to_a_transcription_service_has_a_span(settings: Settings) -> None:
    with collecting() as collector:
        async with fake_transcriptions() as service:
            service.failures = 1
            remote = {"speech_engine": "openai", "speech_url": service.url, "speech_key": KEY}
            chosen = with_traces(settings, collector, **remote, speech_model=MODEL)
            pcm = sentences("your price is too high", "we need ten percent less")
            await speak_to_service(chosen, pcm, until=lambda: service.times > 1)
    lost, whole = [span for span in collector.spans if span.name == "transcription"]
    assert (lost.status.code, span_attributes(lost)) == (2, {"error.type": "ValueError"})
    assert (whole.status.code, span_attributes(whole), whole.kind) == (0, {}, 3)
    # The service can add spans of its own to the trace.
    assert [each.split("-")[1:3] for each in service.traceparents] == [
        [span.trace_id.hex(), span.span_id.hex()] for span in (lost, whole)
    ]
    assert MODEL.encode() not in b"".join(collector.bodies)


async def test_what_is_not_recorded_is_not_recorded_elsewhere_either(settings: Settings, phrase_analyser: None) -> None:
    del phrase_analyser
    with collecting() as collector:
        async with speaking(with_traces(settings, collector, traces_sample=0.0)) as (speaker, viewer, _):
            await speaker.send("text", utterance_id="u1", text=OBJECTION)
            await viewer.until("transcript.final")
    assert collector.bodies == []
