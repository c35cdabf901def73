"""Calls, with the embedder that needs no model, and with what it has learned."""

import asyncio

import pytest

from negotiator.memory.embedding.hashed import Hashed
from negotiator.teleprompter.cues.catalogue import cue_catalogue
from negotiator.teleprompter.taught import learned
from tests.conftest import MODELS
from tests.notebook import hashed as hashed
from tests.prompter import desk as desk
from tests.prompter import new_desk as new_desk


@pytest.fixture(scope="session")
def lessons() -> None:
    """The shipped lessons, learned once on this machine, so that no test hears by patterns alone."""
    embedder, book = Hashed(), cue_catalogue()
    file = learned.file_of(MODELS, book, embedder.model)
    if learned.read(file) is None:

        async def run() -> learned.Shipped:
            them, me = [
                await embedder.embed([text for text, _ in book.examples(speaker)])
                for speaker in ("them", "me")
            ]
            return learned.shipped_of(book, {"them": them, "me": me})

        learned.write(file, asyncio.run(run()))


@pytest.fixture(autouse=True)
def quick(hashed: None, lessons: None) -> None:
    """Every test here."""
    del hashed, lessons
