"""Words of other languages become English, English stays, and a query word brings its synonyms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.memory.glossary import glossary


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Wie hoch ist der Rabatt für die Lieferung?", "high discount delivery"),
        ("Kündigungsfrist", "notice period"),
        ("Kuendigungsfrist", "notice period"),
        ("Preiserhöhung", "price increase"),
        ("Vertragsverlängerung", "contract renewal"),
        ("quel est le prix de la livraison", "price delivery"),
        ("¿cuál es el plazo de la entrega?", "deadline delivery"),
    ],
)
def test_what_the_glossary_knows_is_translated(text: str, english: str) -> None:
    assert glossary().translate(text) == english


@pytest.mark.parametrize(
    "text",
    [
        "when must the rest of the gift be paid at the bank",
        "Rate for the firm's last order",
        "Acme",
        "Maya",
        "12,500 EUR",
        "",
    ],
)
def test_english_and_names_stay_as_they_are(text: str) -> None:
    assert glossary().translate(text) == text


def test_a_query_word_brings_its_translation_and_its_synonyms() -> None:
    [term] = glossary().query_terms("Rabatt")
    assert next(iter(term)) == "rabatt"
    assert term["rabatt"] == term["discount"] == 1
    assert 0 < term["rebat"] < 1
    [haulier] = glossary().query_terms("haulier")
    assert 0 < haulier["transport"] < 1


def test_function_words_are_asked_for_only_when_there_is_nothing_else() -> None:
    assert [next(iter(term)) for term in glossary().query_terms("wie ist der Rabatt")] == ["rabatt"]
    assert len(glossary().query_terms("what is it")) == 3
    assert glossary().query_terms("") == []


@given(st.text(max_size=80))
def test_any_text_has_a_translation_and_terms(text: str) -> None:
    known = glossary()
    assert isinstance(known.translate(text), str)
    assert all(term and max(term.values()) == 1 for term in known.query_terms(text))
    assert known.translated_terms(text) == known.translated_terms(text)
