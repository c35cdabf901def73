"""Texts that are made up in five languages: both readers find what a careful reader does, or nothing."""

import tomllib
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

import pytest

from negotiator.numbers.read import number_runs, number_tokens
from negotiator.numbers.written import read_amount

LANGUAGES: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("careful_reader.toml").read_text("utf-8"))


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


def said(chance: Random) -> Said:
    """A figure with a scale, a share, a part more, a multiple or a currency beside it."""
    language = LANGUAGES[chance.choice([*LANGUAGES])]
    whole = chance.randint(2, chance.choice([999, 9_999_999]))
    text, values = _digits(language, whole, chance.choice(["", "", "5", "25", "75"]))
    scale, power = chance.choice([("", 0), *language["scales"].items()])
    kind = chance.choice(["plain", "plain", "share", "more", "times"])
    factor = Decimal(10) ** power
    if kind == "share":
        share, part = chance.choice([*language["shares"].items()])
        one, power = chance.choice([*language["one"].items()])
        text, values = f"{share} {one}", frozenset([Decimal(str(part)) * Decimal(10) ** power])
    else:
        text, values = f"{text} {scale}".strip(), frozenset(value * factor for value in values)
    if kind == "more":
        more, part = chance.choice([*language["more"].items()])
        text, values = f"{text} {more}", frozenset(value + Decimal(str(part)) * factor for value in values)
    if kind == "times":
        times, multiple = chance.choice([*language["times"].items()])
        text, values = f"{times} {text}", frozenset(value * multiple for value in values)
    frame = chance.choice(language["frames"])
    if scale == "mil" and frame == "{}":  # a million in English
        values |= {value * 1000 for value in values}
    money = chance.choice(["{}", "{} €", "€{}", "{} EUR", "{} euros"])
    return Said(money.format(text), values, frame)


def _written(text: str) -> Decimal | None:
    try:
        return read_amount(text, "EUR").value
    except ValueError:
        return None


def _check(seed: int) -> tuple[bool, bool]:
    """Hold both readers against a figure; whether the written and the spoken one found it."""
    chance = Random(seed)  # noqa: S311  no secret
    figure, unknown = said(chance), "".join(chance.choices("bcdfghjklmnprstvwz", k=chance.randint(4, 8)))
    assert _written(figure.text) in {None, *figure.values}, figure.text
    for text in (f"{figure.text} {unknown}", f"{unknown} {figure.text}"):
        assert _written(text) is None, text
    heard = [run.value for run in number_runs(number_tokens(figure.frame.format(figure.text)))]
    assert len(heard) <= 1, figure
    assert {*heard} <= figure.values, (figure, heard)
    return _written(figure.text) is not None, bool(heard)


def test_no_reader_finds_another_number_than_a_careful_one() -> None:
    found = [_check(seed) for seed in range(400)]
    assert sum(written for written, _ in found) > 100
    assert sum(spoken for _, spoken in found) > 100


@pytest.mark.long
def test_of_a_hundred_thousand_texts_none_is_read_as_another_number() -> None:
    for seed in range(100_000):
        _check(seed)
