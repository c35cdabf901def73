"""Texts that are made up in five languages: both readers find what a careful reader does, or nothing."""

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.numbers.read import number_runs, number_tokens
from negotiator.numbers.written import read_amount

LANGUAGES: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("careful_reader.toml").read_text("utf-8"))
UNKNOWN: Final = st.text("bcdfghjklmnprstvwz", min_size=4, max_size=8)


class Said(NamedTuple):
    """A figure in words and signs, every value that a careful reader may find in it, and where it stands."""

    text: str
    values: frozenset[Decimal]
    frame: str


def _digits(language: dict[str, Any], whole: int, decimals: str) -> tuple[str, frozenset[Decimal]]:
    text = f"{whole:,}".replace(",", language["group"]) + (f"{language['point']}{decimals}" if decimals else "")
    values = {Decimal(f"{whole}.{decimals or 0}")}
    if not decimals and 1000 <= whole < 1_000_000:  # `1.250`, a stranger's decimals
        values.add(Decimal(whole) / 1000)
    return text, frozenset(values)


@st.composite
def said(draw: st.DrawFn) -> Said:
    """A figure with a scale, a share, a part more, a multiple or a currency beside it."""
    language = LANGUAGES[draw(st.sampled_from([*LANGUAGES]))]
    whole = draw(st.integers(2, 999) | st.integers(2, 9_999_999))
    text, values = _digits(language, whole, draw(st.sampled_from(["", "", "5", "25", "75"])))
    scale, power = draw(st.sampled_from([("", 0), *language["scales"].items()]))
    kind = draw(st.sampled_from(["plain", "plain", "share", "more", "times"]))
    factor = Decimal(10) ** power
    if kind == "share":
        share, part = draw(st.sampled_from([*language["shares"].items()]))
        one, power = draw(st.sampled_from([*language["one"].items()]))
        text, values = f"{share} {one}", frozenset([Decimal(str(part)) * Decimal(10) ** power])
    else:
        text, values = f"{text} {scale}".strip(), frozenset(value * factor for value in values)
    if kind == "more":
        more, part = draw(st.sampled_from([*language["more"].items()]))
        text, values = f"{text} {more}", frozenset(value + Decimal(str(part)) * factor for value in values)
    if kind == "times":
        times, multiple = draw(st.sampled_from([*language["times"].items()]))
        text, values = f"{times} {text}", frozenset(value * multiple for value in values)
    frame = draw(st.sampled_from(language["frames"]))
    if scale == "mil" and frame == "{}":  # a million in English
        values |= {value * 1000 for value in values}
    money = draw(st.sampled_from(["{}", "{} €", "€{}", "{} EUR", "{} euros"]))
    return Said(money.format(text), values, frame)


def _written(text: str) -> Decimal | None:
    try:
        return read_amount(text, "EUR").value
    except ValueError:
        return None


def _check(figure: Said, unknown: str) -> None:
    assert _written(figure.text) in {None, *figure.values}, figure.text
    for text in (f"{figure.text} {unknown}", f"{unknown} {figure.text}"):
        assert _written(text) is None, text
    heard = [run.value for run in number_runs(number_tokens(figure.frame.format(figure.text)))]
    assert len(heard) <= 1, figure
    assert {*heard} <= figure.values, (figure, heard)


@settings(max_examples=300, deadline=None)
@given(said(), UNKNOWN)
def test_no_reader_finds_another_number_than_a_careful_one(figure: Said, unknown: str) -> None:
    _check(figure, unknown)


@pytest.mark.long
@settings(max_examples=100_000, deadline=None)
@given(said(), UNKNOWN)
def test_of_a_hundred_thousand_texts_none_is_read_as_another_number(figure: Said, unknown: str) -> None:
    _check(figure, unknown)
