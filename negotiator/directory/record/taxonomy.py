"""The categories: 19 top ones, each with a closed list of subcategories (reference: one question each)."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final


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


def load(path: Path) -> dict[str, Category]:
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


TAXONOMY: Final = load(Path(__file__).parents[1] / "content" / "taxonomy.toml")
SUBCATEGORIES: Final = frozenset(
    slug for category in TAXONOMY.values() for slug in category.subcategories
)
"""Every subcategory's slug; each belongs to one category."""
