"""Traces of live sessions: from a message or from speech to the cards on another machine, over every bus."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from negotiator.config.settings import Settings
from negotiator.teleprompter import event_log
from negotiator.teleprompter.speech.events import SpeechEnd, SpeechStart
from tests.conftest import connect as client_of
from tests.conftest import make_settings, running
from tests.helpers.asgi_websocket import AsgiWebSocket, connect
from tests.helpers.fake_recognizer import SILENCE, FakeRecognizer, sentence_as_audio
from tests.helpers.fake_recognizer import fake_recognizer as fake_recognizer
from tests.helpers.live_server import Server
from tests.helpers.phrase_analyser import OBJECTION
from tests.helpers.phrase_analyser import phrase_analyser as phrase_analyser
from tests.helpers.synthetic_speech import sentences
from tests.helpers.trace_collector import TraceCollector, collecting, only, span_attributes
from tests.live.speech.fake_speech_services import KEY, MODEL, fake_transcriptions
from tests.live.teleprompter.socket_client import PATIENCE, TeleprompterUser, let_in

_NEVER = 3600.0


@asynccontextmanager
async def two_applications(settings: Settings) -> AsyncGenerator[tuple[TeleprompterUser, str, Starlette, Starlette]]:
    """A user with an open session, its path, and two applications that share what two machines would."""
    async with running(settings) as here, running(settings) as there, client_of(here) as client:
        caller = TeleprompterUser(settings.base_url, await let_in(client, settings))
        yield caller, await caller.open(client, source="audio"), here, there


@asynccontextmanager
async def viewing(caller: TeleprompterUser, session: str, application: Starlette) -> AsyncGenerator[AsgiWebSocket]:
    """A socket that follows the session."""
    stream = connect(application, f"{session}/stream", headers=caller.headers, query="after=0")
    async with stream as viewer:
        await viewer.until("ready")
        yield viewer


def tree(spans: list[Any], root: Any) -> set[str]:
    """Every span below the root, as the names on the way to it."""
    below: set[str] = set()
    for span in spans:
        if span.parent_span_id == root.span_id:
            below |= {span.name, *(f"{span.name} > {each}" for each in tree(spans, span))}
    return below


def with_traces(settings: Settings, collector: TraceCollector, **more: Any) -> Settings:
    wanted = {"traces_url": collector.url, "traces_sample": 1.0, **more}
    return settings.model_copy(update=wanted)


@pytest.mark.asyncio
async def test_a_message_is_one_trace_from_the_socket_to_the_viewers_of_another_process(
    on_each_bus: Settings, phrase_analyser: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    del phrase_analyser
    monkeypatch.setattr(event_log, "POLL_SECONDS", _NEVER)
    with collecting() as collector:
        async with (
            two_applications(with_traces(on_each_bus, collector)) as (caller, one, here, there),
            viewing(caller, one, there) as viewer,
            connect(here, f"{one}/stream", headers=caller.headers) as speaker,
        ):
            for name in ("first", "second"):  # the first opens the connections of the bus
                await speaker.send("text", utterance_id=name, text=OBJECTION)
                await viewer.until("cue" if name == "first" else "transcript.final")
                await speaker.until("ack", utterance_id=name)
            await speaker.send("mark", ref="our-secret")
            await speaker.until("ack", of="mark")
    messages = [span for span in collector.spans if span.name == "stream_session text"]
    assert len({span.trace_id for span in messages}) == len(messages) == 2
    first, second = messages
    assert {first.parent_span_id, second.parent_span_id} == {b""}
    below = tree(collector.spans, second)
    assert {"analysis", "write", "bus", "bus > read"} <= below
    inside = [span for span in collector.spans if span.trace_id == second.trace_id]
    assert span_attributes(only(inside, "analysis")) == {"negotiator.cues": 1}
    # The speaker follows here, the viewer there.
    assert len([span for span in inside if span.name == "bus"]) == 2
    sent = b"".join(collector.bodies)
    for private in (OBJECTION, one.rsplit("/", 1)[1], "our-secret"):
        assert private.encode() not in sent


@pytest.mark.asyncio
async def test_speech_is_one_trace_from_its_first_sound_to_its_cards(
    settings: Settings, fake_recognizer: FakeRecognizer, phrase_analyser: None
) -> None:
    del phrase_analyser
    with collecting() as collector:
        async with (
            two_applications(with_traces(settings, collector)) as (caller, one, here, there),
            viewing(caller, one, there) as viewer,
            connect(here, f"{one}/stream", headers=caller.headers) as speaker,
        ):
            await speaker.send("start", channels=[{"id": "them"}])
            await speaker.until("ready")
            [heard] = fake_recognizer.opened
            heard.say(SpeechStart("u1", 0))
            await speaker.send_bytes(b"\0" + sentence_as_audio(OBJECTION))
            await viewer.until("transcript.partial")
            heard.say(SpeechEnd("u1", 90))
            await speaker.send_bytes(b"\0" + SILENCE)
            await viewer.until("transcript.final")
            # The connection is lost in the middle of the next utterance, whose end no words follow.
            heard.say(SpeechStart("u2", 200))
    whole, unfinished = [span for span in collector.spans if span.name == "utterance"]
    below = tree(collector.spans, whole)
    assert {"speech", "recognition", "partial > analysis", "analysis", "write", "bus"} <= below
    assert "partial > bus" in below
    stages = {span.name: span for span in collector.spans if span.parent_span_id == whole.span_id}
    assert stages["speech"].end_time_unix_nano <= stages["recognition"].start_time_unix_nano
    assert stages["recognition"].end_time_unix_nano <= stages["analysis"].start_time_unix_nano
    assert (whole.status.code, unfinished.status.code) == (0, 2)
    assert tree(collector.spans, unfinished) == {"speech"}
    assert OBJECTION.encode() not in b"".join(collector.bodies)


async def speak_to_service(settings: Settings, pcm: bytes, *, until: Callable[[], bool] = lambda: True) -> None:
    """Send sound to a session on a server with these settings, until its words are final and `until` is true."""
    async with running(settings) as here, client_of(here) as client:
        caller = TeleprompterUser(settings.base_url, await let_in(client, settings))
        one = await caller.open(client, source="audio")
        async with (
            viewing(caller, one, here) as viewer,
            connect(here, f"{one}/stream", headers=caller.headers) as speaker,
        ):
            await speaker.send("start", channels=[{"id": "them"}])
            await speaker.until("ready")
            piece = 6_400
            for at in range(0, len(pcm), piece):
                await speaker.send_bytes(b"\0" + pcm[at : at + piece])
            await viewer.until("transcript.final")
            async with asyncio.timeout(PATIENCE):
                while not until():
                    await asyncio.sleep(0.01)


@pytest.mark.asyncio
async def test_a_call_to_a_transcription_service_is_a_span_of_its_utterance(settings: Settings) -> None:
    with collecting() as collector:
        async with fake_transcriptions() as service:
            service.failures = 1
            remote = {"speech_engine": "openai", "speech_url": service.url, "speech_key": KEY}
            chosen = with_traces(settings, collector, **remote, speech_model=MODEL)
            await speak_to_service(chosen, sentences("your price is too high", "we need ten percent less"))
    utterances = [span for span in collector.spans if span.name == "utterance"]
    lost, whole = [span for span in collector.spans if span.name == "transcription"]
    assert [lost.parent_span_id, whole.parent_span_id] == [each.span_id for each in utterances]
    assert (lost.status.code, span_attributes(lost)) == (2, {"error.type": "ValueError"})
    assert (whole.status.code, span_attributes(whole), whole.kind) == (0, {}, 3)
    # The service can add spans of its own to the trace.
    assert [each.split("-")[1:3] for each in service.traceparents] == [
        [span.trace_id.hex(), span.span_id.hex()] for span in (lost, whole)
    ]
    assert MODEL.encode() not in b"".join(collector.bodies)


@pytest.mark.asyncio
async def test_what_is_not_recorded_is_not_recorded_elsewhere_either(settings: Settings, phrase_analyser: None) -> None:
    del phrase_analyser
    with collecting() as collector:
        async with (
            two_applications(with_traces(settings, collector, traces_sample=0.0)) as parts,
            viewing(parts[0], parts[1], parts[3]) as viewer,
            connect(parts[2], f"{parts[1]}/stream", headers=parts[0].headers) as speaker,
        ):
            await speaker.send("text", utterance_id="u1", text=OBJECTION)
            await viewer.until("transcript.final")
    assert collector.bodies == []


@pytest.mark.asyncio
async def test_one_trace_crosses_two_machines(postgres: Callable[[], str], redis_url: str, tmp_path: Path) -> None:
    """Two servers that share PostgreSQL and Redis; a request to one is followed at the other."""
    shared = {
        "base_url": "http://negotiator.test",
        "database_url": postgres(),
        "redis_url": redis_url,
        "secret": "the pepper of both machines",
    }
    keys = tmp_path / "keys"
    operator = make_settings(tmp_path / "operator", keys, **shared)
    with collecting() as collector:
        machines: list[Server] = []
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            settings = {**shared, "keys_dir": str(keys), "traces_url": collector.url}
            settings["traces_sample"] = "1"
            machines.append(Server(tmp_path / name, workers=1, settings=settings))
        try:
            for machine in machines:
                await asyncio.to_thread(machine.start)
            await _speak_and_view(machines, operator)
        finally:
            for machine in machines:
                machine.stop()
    [(speaker, heard)] = [each for each in collector.spans_by_process if each[1].name == "hear_utterance"]
    viewers = [
        (process, span)
        for process, span in collector.spans_by_process
        if span.name == "bus" and span.trace_id == heard.trace_id
    ]
    [(viewer, told)] = viewers
    assert viewer != speaker
    assert "read" in tree(collector.spans, told)


async def _speak_and_view(machines: Sequence[Server], operator: Settings) -> None:
    one, two = machines
    async with one.connect() as client:
        caller = TeleprompterUser(one.base, await let_in(client, operator))
        session = await caller.open(client)
        async with caller.socket(session, 0, base=two.base) as viewer:
            await caller.say(client, session, "u1", OBJECTION)
            async with asyncio.timeout(PATIENCE):
                async for text in viewer:
                    if json.loads(text)["type"] == "transcript.final":
                        return


def test_without_traces_a_session_has_the_same_parts_as_before() -> None:
    """The classes themselves, and none of the modules that record spans."""
    script = (
        "import sys\n"
        "from negotiator.compose import assistant\n"
        "local, *others = assistant._session_parts(None)\n"
        "print(*(kind.__name__ for kind in (type(local), type(local.codec), *others)))\n"
        "print([name for name in sys.modules if 'session_traces' in name or 'opentelemetry' in name])\n"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True).stdout
    assert printed == ("LocalBus BusMessageCodec UtteranceAnalyser AudioReader MessageHandler\n[]\n")
