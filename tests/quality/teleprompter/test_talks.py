"""On whole talks few cards are shown, and where they help."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from negotiator.memory.embedding.embedder_selection import choose_embedder
from negotiator.memory.embedding.minilm_embedder import find_minilm_files
from tests.conftest import MODELS
from tests.helpers.missing_tools import MODEL, missing
from tests.quality.teleprompter.measure_talks import (
    CUES_OF_MOVE,
    Turn,
    as_text,
    talk_figures,
    walk_all,
)

CORPUS: Final = Path(__file__).with_name("talks")


@pytest.fixture(scope="module")
def talks() -> Iterator[list[list[Turn]]]:
    """Every talk of the corpus, walked through."""
    if not any(CORPUS.glob("*.json")):
        pytest.skip(f"{CORPUS.name} has no talks")
    if find_minilm_files() is None:
        missing(MODEL)
    embedder = choose_embedder("", key="", model="", models=MODELS)
    yield walk_all(CORPUS, embedder)
    asyncio.run(embedder.close())


def test_ordinary_talk_stays_quiet_and_cards_come_where_they_help(
    talks: list[list[Turn]],
) -> None:
    got = talk_figures(talks)
    assert got.false <= 0.04
    assert got.precision >= 0.75
    assert got.per_minute <= 2.5
    for move in CUES_OF_MOVE:
        assert got.recognised[move] >= 0.60


def test_a_talk_is_written_with_the_cards_that_were_shown(talks: list[list[Turn]]) -> None:
    talk = next(each for each in talks if any(turn.shown for turn in each))
    text = as_text(talk)
    shown = [card for turn in talk for card in turn.shown]
    assert text.count("[card]") == len(shown)
    assert all(card.say in text for card in shown)
