"""A table of prices as people say them; what a figure means depends on the range and on what was named before."""

import tomllib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.teleprompter.cues.catalogue import Speaker
from negotiator.teleprompter.detected_offers import detected_offer
from negotiator.teleprompter.figures import EarlierFigure, read_figures, remember_figures, remembered_figures
from negotiator.teleprompter.redaction import redact
from negotiator.teleprompter.spoken_figures import find_figures
from tests.helpers.example_session import example_session

Form = tuple[str, str, str, str]
MOST_TAKEN: Final = 3
LEAST_RIGHT: Final = 0.97
LEAST_ALIKE: Final = 0.75
FORMS: Final = Path(__file__).with_name("spoken_forms.toml")


def forms() -> Iterator[Form]:
    """Style, text, range and figures of each form."""
    for style, rows in tomllib.loads(FORMS.read_text("utf-8")).items():
        for text, span, figures in rows:
            yield style, text, span, figures


def read_form(text: str, span: str) -> str:
    """The figures of money in a form, written as in the table."""
    low, high = span.split("-")
    issue = {"name": "price", "type": "money", "range": {"min": low, "max": high}}
    session = example_session(issues=[issue], walk_away=None, target=None, currency=None, role="buyer")
    read = read_figures(find_figures(redact(text)), session.terms, "them")
    offer = detected_offer(session, read, speaker="them", utterance_id="u")
    entered = None if offer is None else Decimal(str((offer.package or {})["price"]))
    said: list[str] = []
    for one in read:
        if one.figure.measure == "money":
            ends = sorted({one.figure.low, one.figure.high}) if one.figure.low != one.figure.high else [one.value]
            values = "-".join(f"{value.normalize():f}" for value in ends)
            said.append(f"{values} {one.kind}{'*' if one.is_offer and one.value == entered else ''}")
    return "; ".join(said)


def test_forms_are_read_as_people_mean_them() -> None:
    """What is read, and what of it enters the ledger; of a kind that is no offer the models need not know which."""
    read = [(read_form(text, span), figures, text) for _, text, span, figures in forms()]
    offers = [(_entered(found), _entered(meant), text) for found, meant, text in read]
    taken = [text for found, meant, text in offers if found not in ("", meant)]
    assert len(taken) <= MOST_TAKEN, taken
    assert sum(found == meant for found, meant, _ in offers) >= LEAST_RIGHT * len(offers)
    assert sum(found == meant for found, meant, _ in read) >= LEAST_ALIKE * len(read)


def _entered(figures: str) -> str:
    return "".join(one.split()[0] for one in figures.split("; ") if one.endswith("*"))


def test_the_table_has_three_hundred_forms_of_five_styles() -> None:
    rows = list(forms())
    assert len(rows) >= 300
    assert len({style for style, *_ in rows}) == 5
    assert len({text for _, text, *_ in rows}) == len(rows)


ISSUE: dict[str, Any] = {"name": "price", "type": "money", "range": {"min": "5800", "max": "6900"}}
LIST: dict[str, Any] = {"kind": "list_price", "value": "6900"}


def read(
    said: str, *earlier: tuple[int, str, str], speaker: Speaker = "them", **members: Any
) -> list[tuple[Decimal, str, str, bool]]:
    """Value, kind, owner and whether it is an offer, of each figure; `earlier` has value, owner and kind."""
    known: list[Any] = [
        EarlierFigure("price", Decimal(value), whose, kind)  # type: ignore[arg-type]
        for value, whose, kind in earlier
    ]
    session = example_session(**{"issues": [ISSUE], "walk_away": None, "target": None, "baseline": LIST, **members})
    found = read_figures(find_figures(said), session.terms, speaker, known)
    return [(one.value, one.kind, one.whose, one.is_offer) for one in found]


def test_a_figure_that_the_other_side_named_before_is_theirs_and_no_new_offer() -> None:
    theirs = (6400, "them", "offer")
    assert read("sixty-four, fine", theirs, speaker="me") == [(6400, "offer", "them", False)]
    assert read("make it 6.400 then", theirs, speaker="me") == [(6400, "offer", "them", False)]
    assert read("sixty-four it is", theirs) == [(6400, "offer", "them", True)]


def test_a_figure_of_a_rival_stays_one_until_the_speaker_offers_it() -> None:
    rival = (6300, "third", "rival")
    assert read("6300, really?", rival) == [(6300, "rival", "third", False)]
    assert read("i could do 6300", rival) == [(6300, "offer", "them", True)]


def test_a_reduction_is_taken_off_the_seller_s_last_price_or_else_the_list_price() -> None:
    assert read("i could take 200 off") == [(6700, "reduction", "them", True)]
    assert read("take 200 off", (6500, "them", "offer"), speaker="me") == [(6300, "reduction", "me", True)]
    assert read("i could take ten percent off") == [(6210, "reduction", "them", True)]
    assert read("take 200 off", baseline=None) == []


def test_a_price_named_beside_its_reduction_is_the_offer() -> None:
    assert read("take 400 off, that makes it 6.500") == [
        (6500, "reduction", "them", False),
        (6500, "offer", "them", True),
    ]


@pytest.mark.parametrize(
    ("said", "value"), [("sixty-three?", 6300), ("6.2k", 6200), ("six and a half then", 6500), ("6,450", 6450)]
)
def test_what_is_left_out_is_added_where_one_reading_fits(said: str, value: int) -> None:
    assert [one[0] for one in read(said)] == [value]


@pytest.mark.parametrize("said", ["six?", "saturday at eleven", "two of them", "in 2018", "thirty thousand"])
def test_what_is_too_small_or_too_large_is_about_something_else(said: str) -> None:
    assert read(said) == []


def test_the_list_price_is_no_offer_unless_words_make_it_one() -> None:
    assert read("6.900, as in the ad") == [(6900, "list_price", "them", False)]
    assert read("i'd do 6.900", speaker="me") == [(6900, "offer", "me", True)]


def test_without_a_range_only_what_is_surely_money_is_read() -> None:
    bare: dict[str, Any] = {"issues": [{"name": "price", "type": "money"}], "baseline": None}
    floor: dict[str, Any] = {"walk_away": {"package": {"price": "6000"}}}
    assert read("sixty-three", **bare, **floor) == []
    assert read("we could pay 6300", **bare, **floor) == [(6300, "offer", "them", True)]


def test_figures_of_a_talk_are_remembered_as_json() -> None:
    session = example_session(issues=[ISSUE], walk_away=None, target=None)
    stored: list[Any] = []
    for value in range(5800, 6900, 20):
        stored = remember_figures(stored, read_figures(find_figures(f"how about {value} euros"), session.terms, "them"))
    known = remembered_figures(stored)
    assert len(known) == 40
    assert known[-1] == EarlierFigure("price", Decimal(6880), "them", "offer", "them")


@given(text=st.text(max_size=200), value=st.integers(1, 10**9))
def test_every_value_is_a_decimal_in_reach_of_the_range(text: str, value: int) -> None:
    session = example_session(issues=[ISSUE], walk_away=None, target=None)
    for one in read_figures(find_figures(f"{text} how about {value} euros"), session.terms, "me"):
        assert isinstance(one.value, Decimal)
        assert 0 < one.value <= Decimal("2.5") * 6900
