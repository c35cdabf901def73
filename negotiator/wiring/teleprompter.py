"""The teleprompter; part of the assistant's wing."""

from negotiator.teleprompter.hearing.ear import Ear
from negotiator.teleprompter.listening import Listening
from negotiator.teleprompter.routes import Teleprompter
from negotiator.teleprompter.sessions.view import TEXT_ENGINE, Views
from negotiator.teleprompter.streams.bus import Here
from negotiator.teleprompter.streams.following import Log
from negotiator.wiring.ground import Ground
from negotiator.wiring.memory import Remembering


def teleprompter(ground: Ground, remembered: Remembering) -> Teleprompter:
    """Make the slice."""
    store = ground.store
    log = Log(store, Here())
    listening = Listening(store, Ear(remembered.embedder), log)
    views = Views(ground.settings.base_url, TEXT_ENGINE)
    return Teleprompter(store, ground.cursors, listening, views, ground.doorway.guard.still)
