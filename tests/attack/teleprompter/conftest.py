"""Sockets without patience, heard by phrases, of sound that is read."""

import pytest

from negotiator.teleprompter.websocket_context import WebSocketTimeouts
from tests.helpers.fake_recognizer import FakeRecognizer
from tests.helpers.fake_recognizer import fake_recognizer as fake_recognizer
from tests.helpers.memory_client import hashing_embedder as hashing_embedder
from tests.helpers.phrase_analyser import phrase_analyser as phrase_analyser
from tests.helpers.teleprompter_client import caller as caller
from tests.helpers.teleprompter_client import new_caller as new_caller

HASTY = WebSocketTimeouts(auth=0.3, idle=0.6, renewal=0.5, believed=0.05, look=0.02, goodbye=0.5)


@pytest.fixture(autouse=True)
def short_timeouts(
    monkeypatch: pytest.MonkeyPatch, hashing_embedder: None, phrase_analyser: None, fake_recognizer: FakeRecognizer
) -> None:
    del hashing_embedder, phrase_analyser, fake_recognizer
    monkeypatch.setattr("negotiator.compose.assistant.WebSocketTimeouts", lambda: HASTY)
