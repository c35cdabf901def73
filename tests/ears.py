"""An ear that knows phrases only: nothing is learnt before it hears, so that tests of the socket are quick."""

from typing import Any, Final

import pytest

from negotiator.teleprompter.cues.catalogue import cue_catalogue
from negotiator.teleprompter.cues.cue import Speaker
from negotiator.teleprompter.cues.matcher import matcher_of
from negotiator.teleprompter.hearing.ear import Ahead, Ear
from negotiator.teleprompter.privacy.redaction import redact

OBJECTION: Final = "Honestly, that is way over our budget."
MATCHER: Final = matcher_of(cue_catalogue())


async def _by_phrase(_ear: Ear, _owner: str, text: str, speaker: Speaker, **_about: Any) -> Ahead:
    plain = redact(text)
    return Ahead(plain.text, MATCHER.by_rule(plain.text, speaker), plain.marks)


def _matcher(_catalogue: Any) -> Any:
    return MATCHER


@pytest.fixture
def quick_ear(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hear by phrases alone."""
    monkeypatch.setattr("negotiator.wiring.teleprompter.matcher_of", _matcher)
    monkeypatch.setattr(Ear, "listen", _by_phrase)
