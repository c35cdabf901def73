"""The taxonomy as it goes out: every category with how many tools it has."""

from typing import TYPE_CHECKING, Any

from negotiator import values
from negotiator.directory.record.taxonomy import TAXONOMY

if TYPE_CHECKING:
    from negotiator.directory.search.index import Index


def counted(index: "Index") -> dict[str, Any]:
    """The categories in their order (reference §2.2), under both names that lists have."""
    tools, parts = index.counts("category"), index.counts("subcategory")
    listed = [
        {
            "slug": slug,
            "name": category.name,
            "description": category.description,
            "position": category.position,
            "tool_count": tools.get(slug, 0),
            "subcategories": [
                {"slug": part, "name": name, "tool_count": parts.get(part, 0)}
                for part, name in category.subcategories.items()
            ],
            "updated_at": values.timestamp_or_none(index.newest("category", slug) or None),
        }
        for slug, category in TAXONOMY.items()
    ]
    return {"categories": listed, "items": listed, "total": len(listed), "next_cursor": None}
