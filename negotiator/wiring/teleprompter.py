"""The teleprompter; part of the assistant's wing."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from negotiator.teleprompter.cues.catalogue import cue_catalogue
from negotiator.teleprompter.cues.matcher import matcher_of
from negotiator.teleprompter.feedback import Judging
from negotiator.teleprompter.hearing.ear import Ear
from negotiator.teleprompter.life import Sessions
from negotiator.teleprompter.listening import Listening
from negotiator.teleprompter.routes import Teleprompter
from negotiator.teleprompter.sessions.schemas import EngineView
from negotiator.teleprompter.sessions.view import Views
from negotiator.teleprompter.speech.choose import make_recognizer
from negotiator.teleprompter.speech.recognizer import Caps
from negotiator.teleprompter.streams.buses.choose import make_bus, tell_revocations
from negotiator.teleprompter.streams.entry.routes import STREAM, Streaming
from negotiator.teleprompter.streams.entry.tickets import Tickets
from negotiator.teleprompter.streams.following import Log
from negotiator.teleprompter.streams.socket.door import Door
from negotiator.teleprompter.streams.socket.floor import Floor, Patience
from negotiator.teleprompter.streams.sound.voices import Stage
from negotiator.teleprompter.taught.heads import Heads
from negotiator.wiring.ground import Ground
from negotiator.wiring.memory import Remembering, models_folder
from negotiator.wiring.wing import Slice


@dataclass(frozen=True, slots=True)
class Prompting:
    """The slices, the sockets by their paths, and what they let go of when the process ends, in this order."""

    slices: tuple[Slice, ...]
    sockets: Mapping[str, ASGIApp]
    closes: tuple[Callable[[], Awaitable[None]], ...]


def teleprompter(ground: Ground, remembered: Remembering) -> Prompting:
    """Make them."""
    chosen, store = ground.settings, ground.store
    recognizer = make_recognizer(chosen)
    bus, ear, guard = make_bus(chosen), _ear(ground, remembered), ground.doorway.guard
    tell_revocations(store, bus)
    listening = Listening(store, ear, Log(store, bus, guard))
    views = Views(chosen.base_url, _shown(recognizer.caps))
    prompter = Teleprompter(store, listening)
    sessions = Sessions(store, ground.cursors, listening, views)
    streaming = Streaming(Tickets(store, guard))
    stage = Stage(listening, recognizer)
    floor = Floor(ground.doorway, listening, streaming.tickets, stage, patience=Patience())
    origins = (_origin(chosen.base_url), *chosen.trusted_origins)
    return Prompting(
        (prompter, sessions, Judging(store, listening, ear.heads), streaming),
        {STREAM: Door(floor, streaming.stream, origins=origins)},
        (stage.close, listening.silences.close, bus.close, ear.close),
    )


def _origin(base: str) -> str:
    parts = urlsplit(base)
    return f"{parts.scheme}://{parts.netloc}"


def _ear(ground: Ground, remembered: Remembering) -> Ear:
    matcher, embeds = matcher_of(cue_catalogue()), remembered.embedder
    folder = models_folder(ground.settings)
    heads = Heads(ground.store, embeds, catalogue=matcher.catalogue, folder=folder)
    return Ear(matcher, heads, embeds, remembered.recall)


def _shown(caps: Caps) -> EngineView:
    return {
        "id": caps.id,
        "interim": caps.interim,
        "processor": caps.third_party or None,
        "quality_note": caps.quality_note,
    }
