"""The words of a debrief: short talks, each amount to be checked on paper."""

import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from negotiator.rehearsals.debrief_words import DebriefWords
from negotiator.rehearsals.stored import RehearsalState
from tests.helpers.rehearsal_examples import TALK, Row, car_debrief, owner, seats_debrief

DEBRIEFS: Final = tomllib.loads(Path(__file__).with_name("debriefs.toml").read_text("utf-8"))


def test_one_price_is_told_in_plain_differences() -> None:
    words = DebriefWords(car_debrief())
    assert words.sentences() == (
        "You opened at €10,800, at your target, and agreed on €12,400; that is €1,600 short of your target.",
        "At the very end they would have signed at €11,500: you left €900 on the table.",
        "€500 of it went in turn 7, when you accepted €12,400 while your own offer was €11,900.",
    )
    assert words.try_next() == (
        "Make one more offer before you accept, €12,200 for example, and give a reason with it."
    )
    assert words.lesson() == (
        "Before I accept, I make one more offer and give a reason with it (from a rehearsal: Used VW Golf)."
    )


def test_a_unit_price_is_told_for_one_unit_and_in_all() -> None:
    assert DebriefWords(seats_debrief()).sentences() == (
        "You agreed on €52 per seat and month and a term of 24 months (80 seats × €52 × 24 months = €99,840).",
        "With all else as agreed they would have signed €47 per seat and month and a term of 24 months "
        "(80 seats × €47 × 24 months = €90,240): you left €5 per seat and month "
        "(80 seats × €5 × 24 months = €9,600) on the table.",
        "All of it went in turn 3, when you offered €52 per seat and month instead of €45 and a term of 24 months "
        "instead of 12 months.",
    )


def test_a_tactic_that_went_unanswered_is_told_with_what_it_cost() -> None:
    found = car_debrief(ploys={6: "deadline_bluff"})
    words = DebriefWords(found)
    assert [words.unanswered(one)["words"] for one in found.unanswered] == [
        "In turn 6 they called their offer final; you accepted and gave €500 in turn 7 without a question or a reason."
    ]
    assert words.try_next() == (
        "When they call an offer final, ask what happens after that, or stay silent, before you move."
    )


@pytest.mark.parametrize("talk", DEBRIEFS["talk"])
def test_what_was_to_be_had_and_what_to_try_next(talk: dict[str, Any]) -> None:
    rows: list[Row] = [*TALK[: talk["begins"]], *((by, action, price or None) for by, action, price in talk["then"])]
    words = DebriefWords(car_debrief(rows, talk["state"], person=owner(talk["floor"])))
    assert words.sentences()[1] == talk["to_be_had"]
    assert words.try_next() == talk["advice"]


def test_the_lesson_has_no_figure_of_the_other_side() -> None:
    beyond: list[Row] = [*TALK[:4], ("me", "offer", "12800"), ("them", "accept", "12800")]
    for rows in (TALK, TALK[:2], beyond):
        state: RehearsalState = "agreed" if rows[-1][1] == "accept" else "left_by_them"
        assert not any(mark.isdigit() for mark in DebriefWords(car_debrief(rows, state)).lesson())
