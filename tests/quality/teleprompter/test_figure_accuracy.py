"""Figures on texts of readers who never saw the words: `measure_figures` says how they are counted."""

from pathlib import Path
from typing import Final

import pytest

from tests.quality.teleprompter.measure_figures import measure_forms, measure_talks, read_corpus

CORPUS: Final = Path(__file__).parent
"""Has folders with `forms.json` and `talks/*.json`."""


@pytest.mark.parametrize(
    "folder", sorted(one.parent for one in CORPUS.rglob("forms.json")), ids=str
)
def test_forms_are_read_right_and_only_offers_enter_the_ledger(folder: Path) -> None:
    forms, _ = read_corpus(folder)
    score = measure_forms(forms)
    assert score.share("value money") >= 0.95
    assert score.share("no other number is a price") >= 0.95
    assert score.share("offer precision") >= 0.95
    assert score.share("offer recall") >= 0.90


@pytest.mark.parametrize("folder", sorted(one.parent for one in CORPUS.rglob("talks")), ids=str)
def test_prices_of_a_talk_are_found_and_the_ledger_holds_what_was_offered(folder: Path) -> None:
    _, talks = read_corpus(folder)
    score = measure_talks(talks)
    assert score.share("price found") >= 0.98
    assert score.share("ledger precision") >= 0.90
    assert score.share("ledger recall") >= 0.85
