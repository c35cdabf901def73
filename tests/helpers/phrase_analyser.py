"""An analyser that knows phrases only: it trains nothing, so that tests of the socket are quick."""

from typing import Any, Final

import pytest

from negotiator.teleprompter.cues.catalogue import Speaker, cue_catalogue
from negotiator.teleprompter.cues.matcher import build_matcher
from negotiator.teleprompter.redaction import redact
from negotiator.teleprompter.utterance_analyser import UtteranceAnalyser, UtteranceAnalysis

OBJECTION: Final = "Honestly, that is way over our budget."
MATCHER: Final = build_matcher(cue_catalogue())


async def _by_phrase(
    _analyser: UtteranceAnalyser, _owner: str, text: str, speaker: Speaker, **_about: Any
) -> UtteranceAnalysis:
    plain = redact(text)
    return UtteranceAnalysis(plain, MATCHER.match_rules(plain, speaker))


def _matcher(_catalogue: Any) -> Any:
    return MATCHER


@pytest.fixture
def phrase_analyser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("negotiator.compose.assistant.build_matcher", _matcher)
    monkeypatch.setattr(UtteranceAnalyser, "listen", _by_phrase)
