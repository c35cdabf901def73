"""The teleprompter; part of the assistant's wing."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from negotiator.teleprompter.hearing.ear import Ear
from negotiator.teleprompter.listening import Listening
from negotiator.teleprompter.routes import Teleprompter
from negotiator.teleprompter.sessions.view import TEXT_ENGINE, Views
from negotiator.teleprompter.streams.bus import Here
from negotiator.teleprompter.streams.entry.routes import STREAM, Streaming
from negotiator.teleprompter.streams.entry.tickets import Tickets
from negotiator.teleprompter.streams.following import Log
from negotiator.teleprompter.streams.socket.door import Door
from negotiator.teleprompter.streams.socket.floor import Floor
from negotiator.wiring.ground import Ground
from negotiator.wiring.memory import Remembering
from negotiator.wiring.wing import Slice


@dataclass(frozen=True, slots=True)
class Prompting:
    """The slices, and the socket by its path."""

    slices: tuple[Slice, ...]
    sockets: Mapping[str, ASGIApp]


def teleprompter(ground: Ground, remembered: Remembering) -> Prompting:
    """Make them."""
    store, base = ground.store, ground.settings.base_url
    log = Log(store, Here())
    listening = Listening(store, Ear(remembered.embedder), log)
    views = Views(base, TEXT_ENGINE)
    prompter = Teleprompter(store, ground.cursors, listening, views, ground.doorway.guard.still)
    streaming = Streaming(Tickets(store))
    floor = Floor(ground.doorway, listening, streaming.tickets)
    origins = (_origin(base), *ground.settings.trusted_origins)
    return Prompting(
        (prompter, streaming), {STREAM: Door(floor, streaming.stream, origins=origins)}
    )


def _origin(base: str) -> str:
    parts = urlsplit(base)
    return f"{parts.scheme}://{parts.netloc}"
