"""The categories: 19 top ones, each with a closed list of subcategories (reference: one question each).

Which category an entry is most likely of that came without one: by the words it shares with the taxonomy.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from negotiator.search_terms import stemmed_terms


@dataclass(frozen=True, slots=True)
class Category:
    """A category; `position` counts from 1, `subcategories` maps slugs to names.

    `crosswalk` names the drawers of other directories that hold the same, by directory.
    """

    slug: str
    name: str
    description: str
    position: int
    subcategories: Mapping[str, str]
    crosswalk: Mapping[str, tuple[str, ...]]


def load_taxonomy(path: Path) -> dict[str, Category]:
    """The categories of a TOML file by slug, in the file's order."""
    entries = tomllib.loads(path.read_text())["category"]
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


TAXONOMY: Final = load_taxonomy(Path(__file__).parent / "content" / "taxonomy.toml")
SUBCATEGORIES: Final = frozenset(
    slug for category in TAXONOMY.values() for slug in category.subcategories
)
"""Every subcategory's slug; each belongs to one category."""


_SAYS_NOTHING: Final = (
    "mcp server servers tool tools api apis model context protocol search data agent agents"
)
_FALLBACK: Final = "agents-orchestration"


def category_of(text: str) -> str:
    """The category whose names share most words with the text; of none, the one where servers for agents belong."""
    said = set(stemmed_terms(text)).difference(stemmed_terms(_SAYS_NOTHING))
    scores = {slug: len(said & words) for slug, words in _vocabulary().items()}
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
        ).difference(stemmed_terms(_SAYS_NOTHING))
        for slug, category in TAXONOMY.items()
    }
