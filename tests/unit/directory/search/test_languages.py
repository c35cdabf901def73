"""Queries in German, French and Spanish are read as English ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.directory.catalogue_index import LANGUAGES_FILE
from negotiator.directory.search.languages import QueryTranslator, load_translator

ENGLISH = frozenset(["notion", "pdf", "invoices", "email", "image", "chat", "agent", "the", "for", "notes"])


@pytest.fixture(scope="module")
def translator() -> QueryTranslator:
    """The words of the content."""
    return load_translator(LANGUAGES_FILE)


@pytest.mark.parametrize(
    ("text", "language", "english"),
    [
        ("Briefe schreiben", "de", "letter write"),
        ("Kundendatenbank", "de", "customer database"),
        ("eine Rechnungssoftware für Firmen", "de", "invoice company"),
        ("traduire une page", "fr", "translate page"),
        ("générateur d'images", "fr", "image generation"),
        ("base de datos vectorial", "es", "vector database"),
        ("mi correo en Notion", "es", "email notion"),
        ("PDF übersetzen", "de", "pdf translate"),
    ],
)
def test_words_are_read_in_any_inflection(translator: QueryTranslator, text: str, language: str, english: str) -> None:
    assert translator.translate(text, ENGLISH.__contains__) == (language, english)


def test_english_stays_as_it_is(translator: QueryTranslator) -> None:
    for text in ("invoices for notes", "chat agent", "image", "notion", "", "zzzz qqqq"):
        assert translator.translate(text, ENGLISH.__contains__) is None


@given(st.text(max_size=120))
def test_any_text_can_be_read(text: str) -> None:
    translated = load_translator(LANGUAGES_FILE).translate(text, lambda _: False)
    assert translated is None or translated.language in ("de", "fr", "es")
