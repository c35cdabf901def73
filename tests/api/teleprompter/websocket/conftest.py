"""Sockets of sessions, heard by phrases alone and without patience."""

import pytest

from negotiator.teleprompter.websocket_context import WebSocketTimeouts
from tests.helpers.fake_recognizer import reader as reader
from tests.helpers.phrase_analyser import quick_ear as quick_ear

HASTY = WebSocketTimeouts(auth=0.3, idle=0.6, renewal=0.5, believed=0.05, look=0.02, goodbye=0.5)


@pytest.fixture(autouse=True)
def by_phrase(quick_ear: None) -> None:
    """Every test here."""
    del quick_ear


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """The application that is made next waits for nobody."""
    monkeypatch.setattr("negotiator.compose.assistant.WebSocketTimeouts", lambda: HASTY)
