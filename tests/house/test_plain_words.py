"""What people read has none of the words that belong to the engine, and calls nobody "he"."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

PACKAGE: Final = Path(__file__).parents[2] / "negotiator"
SURFACES: Final = (
    "console/templates/*.html",
    "console/guides/*.md",
    "discovery/templates/*.html",
    "discovery/skill_texts/*.md",
    "advice/plans/case_templates/*.toml",
    "advice/tactics/built_in/*.toml",
    "advice/words/*.jinja",
    "advice/words/*.toml",
)
FOR_PEOPLE: Final = ("console/templates/*.html", "advice/plans/case_templates/*.toml")
NOBODY_IS: Final = r"\b(?:he|him|his|himself|she|hers|herself)\b"
INNER: Final = r"\b(?:utilit(?:y|ies)|alpha|zopa|batna|reservation value|package utility|anew)\b"
_CODE: Final = re.compile(
    r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<(script|style)\b.*?</\1>|<[^>]*>|```.*?```|`[^`]*`|^#.*?$",
    re.DOTALL | re.MULTILINE,
)


def texts(patterns: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Each page with the text that a reader sees, without code, tags and placeholders."""
    for pattern in patterns:
        found = sorted(PACKAGE.glob(pattern))
        assert found, pattern
        for path in found:
            yield str(path.relative_to(PACKAGE)), _CODE.sub(" ", path.read_text("utf-8"))


@pytest.mark.parametrize(("patterns", "words"), [(SURFACES, NOBODY_IS), (FOR_PEOPLE, INNER)])
def test_pages_have_none_of_these_words(patterns: tuple[str, ...], words: str) -> None:
    hits = [
        f"{page}: {text[max(0, found.start() - 40) : found.end() + 40]!r}"
        for page, text in texts(patterns)
        for found in re.finditer(words, text, re.IGNORECASE)
    ]
    assert hits == []
