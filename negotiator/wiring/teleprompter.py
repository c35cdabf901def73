"""The teleprompter; part of the assistant's wing."""

from negotiator.teleprompter.cues.catalogue import cue_catalogue
from negotiator.teleprompter.cues.matcher import matcher_of
from negotiator.teleprompter.hearing.ear import Ear
from negotiator.teleprompter.listening import Listening
from negotiator.teleprompter.routes import Teleprompter
from negotiator.teleprompter.sessions.schemas import EngineView
from negotiator.teleprompter.sessions.view import Views
from negotiator.teleprompter.speech.choose import make_recognizer
from negotiator.teleprompter.speech.recognizer import Caps
from negotiator.teleprompter.streams.bus import Here
from negotiator.teleprompter.streams.following import Log
from negotiator.teleprompter.taught.heads import Heads
from negotiator.wiring.ground import Ground
from negotiator.wiring.memory import Remembering, models_folder


def teleprompter(ground: Ground, remembered: Remembering) -> Teleprompter:
    """Make the slice."""
    store = ground.store
    log = Log(store, Here())
    listening = Listening(store, _ear(ground, remembered), log)
    views = Views(ground.settings.base_url, _shown(make_recognizer(ground.settings).caps))
    return Teleprompter(store, ground.cursors, listening, views, ground.doorway.guard.still)


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
