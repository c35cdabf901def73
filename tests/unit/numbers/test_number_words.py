"""Number words of German, French and Spanish become values, and a text its language."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.numbers.read import number_runs, number_tokens
from negotiator.numbers.words import german_compound, language_of

ONES = [*("", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf"),
        *("dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn")]  # fmt: skip
TENS = ["", "", *("zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig")]


def german(value: int) -> str:
    """The German word of 1 to 999,999."""
    if value >= 1000:
        return german(value // 1000) + "tausend" + (german(value % 1000) if value % 1000 else "")
    if value >= 100:
        return ONES[value // 100] + "hundert" + (german(value % 100) if value % 100 else "")
    if value < 20:
        return ONES[value]
    return (ONES[value % 10] + "und" if value % 10 else "") + TENS[value // 10]


def values(text: str) -> list[Decimal]:
    return [run.value for run in number_runs(number_tokens(text))]


@given(value=st.integers(2, 999_999))
def test_every_german_compound_is_read_back(value: int) -> None:
    assert german_compound(german(value)) == value
    assert values(f"wir sagen {german(value)} und nicht mehr") == [value]


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("anderthalb Tausend und nicht mehr", "1500"),
        ("zweieinhalb Millionen für das Haus", "2500000"),
        ("fünf Komma fünf für das Kilo", "5.5"),
        ("nous disons quatre-vingt-dix-sept euros", "97"),
        ("je dis cent vingt-cinq mille", "125000"),
        ("pour dix-sept mille neuf, je signe", "17900"),
        ("soixante-dix pour vous", "70"),
        ("vingt et un pour le lot", "21"),
        ("treinta y dos mil para usted", "32000"),
        ("mil trescientos cincuenta y no se hable más", "1350"),
        ("dos millones y medio por la finca", "2500000"),
        ("cinco y medio el kilo, vale", "5.5"),
        ("te doy 13 mil", "13000"),
    ],
)
def test_numbers_in_words_are_read_in_their_language(said: str, value: str) -> None:
    assert values(said) == [Decimal(value)]


@pytest.mark.parametrize(
    "said", ["un piso para la familia", "ein Haus für uns", "c'est un prix", "once more", "an elf", "a cent"]
)
def test_articles_and_english_words_are_no_numbers(said: str) -> None:
    assert values(said) == []


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("how about twelve hundred", "en"),
        ("for once we agree", "en"),
        ("1400 is the lowest", "en"),
        ("wie wäre es mit dreihundert", "de"),
        ("mille deux cents par mois", "fr"),
        ("once mil y cerramos", "es"),
    ],
)
def test_a_text_has_the_language_of_most_of_its_words(said: str, language: str) -> None:
    assert language_of(said.split()) == language


@given(st.text(max_size=300))
def test_any_text_is_read_in_every_language(text: str) -> None:
    for language in ("de", "fr", "es"):
        assert all(run.first < run.last for run in number_runs(number_tokens(text, language)))
