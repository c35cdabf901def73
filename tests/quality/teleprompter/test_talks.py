"""On whole talks few cards are shown, and where they help."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from negotiator.memory.embedding.minilm_embedder import choose_embedder, find_minilm_files
from tests.conftest import MODELS
from tests.helpers.neighbours import MODEL, missing
from tests.quality.teleprompter.measure_talks import CUES_OF_MOVE, Turn, as_text, talk_figures, walk_all

CORPUS: Final = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Floors:
    """What a part of the corpus must reach; `false` and `per_minute` are ceilings."""

    false: float
    precision: float
    per_minute: float
    recognised: Mapping[str, float]


FLOORS: Final = {
    "tuned": Floors(0.04, 0.75, 2.5, dict.fromkeys(CUES_OF_MOVE, 0.60)),
    "held_out": Floors(0.07, 0.75, 2.5, {"refusal": 0.6, "doubt": 0.33, "acceptance": 0.45}),
}
"""What guided nobody is heard worse; these hold what was reached."""


@pytest.fixture(scope="module", params=FLOORS)
def part(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def talks(part: str) -> Iterator[list[list[Turn]]]:
    """Every talk of a part of the corpus, walked through."""
    if find_minilm_files() is None:
        missing(MODEL)
    embedder = choose_embedder("", key="", model="", models=MODELS)
    yield walk_all(CORPUS / part / "talks", embedder)
    asyncio.run(embedder.close())


def test_ordinary_talk_stays_quiet_and_cards_come_where_they_help(part: str, talks: list[list[Turn]]) -> None:
    got, floors = talk_figures(talks), FLOORS[part]
    assert got.false <= floors.false
    assert got.precision >= floors.precision
    assert got.per_minute <= floors.per_minute
    for move in CUES_OF_MOVE:
        assert got.recognised[move] >= floors.recognised[move], move


def test_a_talk_is_written_with_the_cards_that_were_shown(talks: list[list[Turn]]) -> None:
    talk = next(each for each in talks if any(turn.shown for turn in each))
    text = as_text(talk)
    shown = [card for turn in talk for card in turn.shown]
    assert text.count("[card]") == len(shown)
    assert all(card.say in text for card in shown)
