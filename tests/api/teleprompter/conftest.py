"""Calls, with the embedder that needs no model, and with what it has learned."""

import asyncio

import pytest

from negotiator.memory.embedding.embedder import HashingEmbedder
from negotiator.teleprompter import classifier_training
from negotiator.teleprompter.cues.catalogue import cue_catalogue
from negotiator.teleprompter.websocket_context import WebSocketTimeouts
from tests.conftest import MODELS
from tests.helpers.fake_recognizer import fake_recognizer as fake_recognizer
from tests.helpers.memory_client import hashing_embedder as hashing_embedder
from tests.helpers.phrase_analyser import phrase_analyser as phrase_analyser
from tests.helpers.teleprompter_client import caller as caller
from tests.helpers.teleprompter_client import new_caller as new_caller

SHORT_TIMEOUTS = WebSocketTimeouts(auth=0.3, idle=0.6, renewal=0.5, believed=0.05, look=0.02, goodbye=0.5)


@pytest.fixture(scope="session")
def lessons() -> None:
    """The shipped lessons, learned once on this machine, so that no test hears by patterns alone."""
    embedder, book = HashingEmbedder(), cue_catalogue()
    file = classifier_training.shipped_file(MODELS, book, embedder.model)
    if classifier_training.read_shipped(file) is None:

        async def run() -> classifier_training.ShippedClassifiers:
            them, me = [
                await embedder.embed([text for text, _ in book.examples(speaker)]) for speaker in ("them", "me")
            ]
            return classifier_training.train_shipped(book, {"them": them, "me": me})

        classifier_training.write_shipped(file, asyncio.run(run()))


@pytest.fixture(autouse=True)
def use_hashing_embedder(hashing_embedder: None, lessons: None) -> None:
    del hashing_embedder, lessons


@pytest.fixture
def short_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The application that is made next closes idle sockets within a second."""
    monkeypatch.setattr("negotiator.compose.assistant.WebSocketTimeouts", lambda: SHORT_TIMEOUTS)
