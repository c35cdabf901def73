"""What is heard in the user's words: measured on sentences as people say them, also terse and misspelt ones."""

import time
import tomllib
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from negotiator.rehearsals.counterpart.remarks import REMARKS, Remark, remarks_in

LABELLED: Final[dict[str, list[str]]] = tomllib.loads(Path(__file__).with_name("remarks.toml").read_text())
"""Sentences by what is said in them, the names of remarks set apart by a blank."""
LEAST: Final = 0.9


def labelled() -> list[tuple[str, frozenset[str]]]:
    return [(sentence, frozenset(remarks.split())) for remarks, sentences in LABELLED.items() for sentence in sentences]


@cache
def measured() -> list[tuple[frozenset[Remark], frozenset[str]]]:
    """What is heard in each sentence, and what is said in it."""
    return [(remarks_in(text), expected) for text, expected in labelled()]


@pytest.mark.parametrize("remark", REMARKS)
def test_a_remark_is_heard_where_it_is_made_and_nowhere_else(remark: Remark) -> None:
    pairs = [(remark in heard, remark in expected) for heard, expected in measured()]
    both = pairs.count((True, True))
    precision = both / max(1, sum(found for found, _ in pairs))
    recall = both / sum(made for _, made in pairs)
    assert precision >= LEAST, precision
    assert recall >= LEAST, recall


def test_the_table_is_large_and_names_known_remarks() -> None:
    texts = [text for text, _ in labelled()]
    assert len(texts) == len(set(texts)) >= 200
    assert {name for _, names in labelled() for name in names} == set(REMARKS)


def test_case_and_apostrophes_make_no_difference() -> None:
    said = "What's your best price? I don't see why you can't go lower, that's final."
    heard = remarks_in(said)
    assert heard >= {"question_limit", "question_why"}
    for text in (said.upper(), said.replace("'", ""), said.replace("'", "\u2019")):
        assert remarks_in(text) == heard


@pytest.mark.parametrize(
    "piece",
    [
        "because ",
        "you said it was final and ",
        "can you do any better than what the other suppliers offer ",
        "what is your ",
        "?",
        "'",
        "l'",
        "\ufdfa",
        "a",
        "or i ",
    ],
)
def test_a_long_text_takes_no_more_time_than_its_length(piece: str) -> None:
    remarks_in("")
    text = (piece * 2_000)[:2_000]
    began = time.process_time()
    remarks_in(text)
    assert time.process_time() - began < 0.25


def test_the_end_of_a_long_text_is_heard() -> None:
    plain = " ".join(LABELLED[""] * 5)[:1_900].rpartition(". ")[0]
    assert remarks_in(f"{plain}.") == frozenset()
    assert remarks_in(f"{plain}. You idiot, what's your lowest price?") == {"rude", "question_limit"}


def test_a_plain_fact_is_a_reason_unless_it_is_something_else() -> None:
    assert remarks_in("The warranty runs out next month.") == {"reason"}
    assert remarks_in("The dealer next door has another one.") == {"alternative"}
    assert remarks_in("My number is still 72,000 for now.") == frozenset()
