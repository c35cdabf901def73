"""Sockets without patience, heard by phrases, of sound that is read."""

import pytest

from negotiator.teleprompter.websocket_context import WebSocketTimeouts
from tests.helpers.fake_recognizer import FakeRecognizer
from tests.helpers.fake_recognizer import reader as reader
from tests.helpers.memory_client import hashed as hashed
from tests.helpers.phrase_analyser import quick_ear as quick_ear
from tests.helpers.teleprompter_client import desk as desk
from tests.helpers.teleprompter_client import new_desk as new_desk

HASTY = WebSocketTimeouts(auth=0.3, idle=0.6, renewal=0.5, believed=0.05, look=0.02, goodbye=0.5)


@pytest.fixture(autouse=True)
def hasty(
    monkeypatch: pytest.MonkeyPatch, hashed: None, quick_ear: None, reader: FakeRecognizer
) -> None:
    """Every application here waits for nobody."""
    del hashed, quick_ear, reader
    monkeypatch.setattr("negotiator.compose.assistant.WebSocketTimeouts", lambda: HASTY)
