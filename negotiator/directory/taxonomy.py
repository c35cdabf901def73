"""The categories of the catalogue and their subcategories, and a guess of the category of a text."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from negotiator.base.search_terms import stemmed_terms


@dataclass(frozen=True, slots=True)
class Category:
    """A category; `position` counts from 1, `subcategories` maps slugs to names.

    `crosswalk` maps other directories to the names of their categories with the same content.
    """

    slug: str
    name: str
    description: str
    position: int
    subcategories: Mapping[str, str]
    crosswalk: Mapping[str, tuple[str, ...]]


_CONTENT: Final = Path(__file__).parent / "content"


def _categories() -> dict[str, Category]:
    """The categories by slug, in the order of the file."""
    entries = tomllib.loads((_CONTENT / "taxonomy.toml").read_text("utf-8"))["category"]
    return {
        entry["slug"]: Category(
            entry["slug"],
            entry["name"],
            entry["description"],
            place,
            {part["slug"]: part["name"] for part in entry["subcategories"]},
            {there: tuple(drawers) for there, drawers in entry.get("crosswalk", {}).items()},
        )
        for place, entry in enumerate(entries, 1)
    }


TAXONOMY: Final = _categories()
TASKS: Final[Mapping[str, str]] = tomllib.loads((_CONTENT / "tasks.toml").read_text("utf-8"))["tasks"]
"""What people want done in their words, for each subcategory."""
SUBCATEGORIES: Final = frozenset(slug for category in TAXONOMY.values() for slug in category.subcategories)
"""The slugs of all subcategories; each belongs to one category."""


_IGNORED_WORDS: Final = "mcp server servers tool tools api apis model context protocol search data agent agents"
_FALLBACK: Final = "agents-orchestration"


def category_of(text: str) -> str:
    """The category whose names share most words with the text; `agents-orchestration` when none shares any."""
    words_of_text = set(stemmed_terms(text)).difference(stemmed_terms(_IGNORED_WORDS))
    scores = {slug: len(words_of_text & words) for slug, words in _vocabulary().items()}
    best = max(scores, key=lambda slug: scores[slug])
    return best if scores[best] else _FALLBACK


@cache
def _vocabulary() -> dict[str, set[str]]:
    return {
        slug: set(
            stemmed_terms(
                " ".join(
                    (
                        *(category.name, *category.subcategories.values()),
                        *(drawer for drawers in category.crosswalk.values() for drawer in drawers),
                    )
                )
            )
        ).difference(stemmed_terms(_IGNORED_WORDS))
        for slug, category in TAXONOMY.items()
    }
