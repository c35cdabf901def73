"""The held-out wordings are kept apart, and the cues answer them no worse than when they were measured."""

import asyncio
import tomllib
from collections.abc import Iterator

import pytest

from negotiator.memory.embedding.minilm_embedder import choose_embedder, find_minilm_files
from negotiator.teleprompter.cues.catalogue import cue_catalogue
from negotiator.teleprompter.cues.matcher import build_matcher
from negotiator.teleprompter.cues.policy import PolicySettings
from tests.conftest import MODELS
from tests.helpers.neighbours import MODEL, missing
from tests.quality.teleprompter.measure_cues import FILE, Answer, answers, figures, taught, unlike_every_phrasing


@pytest.fixture(scope="module")
def found() -> Iterator[list[Answer]]:
    if find_minilm_files() is None:
        missing(MODEL)
    embedder = choose_embedder("", key="", model="", models=MODELS)
    yield answers(build_matcher(cue_catalogue()), taught(embedder), embedder)
    asyncio.run(embedder.close())


def test_the_held_out_set_covers_every_cue_that_is_said_and_shares_no_wording() -> None:
    page = tomllib.loads(FILE.read_text("utf-8"))
    book = cue_catalogue()
    assert {row["id"] for row in page["cue"]} == {cue.id for cue in book.cues.values() if cue.phrasings}
    assert all(len(row["said"]) >= 6 for row in page["cue"])
    assert sum(len(texts) for texts in page["neutral"].values()) >= 80
    held = {text for row in page["cue"] for text in row["said"]}
    shipped = {text for cue in book.cues.values() for text in cue.phrasings}
    assert not held & shipped
    ordinary = {text for texts in book.neutral.values() for text in texts}
    assert not ordinary & {text for texts in page["neutral"].values() for text in texts}


def test_the_right_card_is_found_and_shown_and_ordinary_talk_stays_quiet(found: list[Answer]) -> None:
    got = figures(found, PolicySettings())
    assert got.first_three >= 0.86
    assert got.shown >= 0.65
    assert got.false <= 0.02
    assert got.wrong <= 0.12


def test_wordings_unlike_every_phrasing_are_answered_nearly_as_well(found: list[Answer]) -> None:
    got = figures(unlike_every_phrasing(found), PolicySettings())
    assert got.first_three >= 0.85
    assert got.shown >= 0.62
