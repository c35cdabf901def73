"""Finds alternatives in the catalogue to the software that a negotiation is about.

A tool is recognised only when the texts are about software and name it; in free text a name must be capitalised.
Alternatives share the tool's category and a subcategory.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from negotiator.base.search_terms import fold_text
from negotiator.directory.catalogue_index import CatalogueIndex
from negotiator.directory.search.request import SearchRequest, ToolDocument
from negotiator.directory.taxonomy import TAXONOMY

_SOFTWARE: Final = re.compile(
    r"\b(?:saas|software|licen[cs]es?|seats?|subscriptions?|cloud|apis?|tokens?|hosting|platform|apps?|"
    r"per user|users?|workspace|crm|database|enterprise plan|renewal)\b",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"[^\W_][\w.+-]*", re.UNICODE)
_LONGEST: Final = 4
_SHORTEST: Final = 3
_MOST: Final = 5


@dataclass(frozen=True, slots=True)
class ToolAlternative:
    """An alternative: its URL, and why it is suggested."""

    id: str
    slug: str
    name: str
    url: str
    why: str


@dataclass(frozen=True, slots=True)
class ToolAlternatives:
    """Finds alternatives by searches of the catalogue."""

    catalogue_index: CatalogueIndex

    async def find(self, sellers: Sequence[str], texts: Sequence[str]) -> list[ToolAlternative]:
        """Alternatives to the tool that these texts name; empty unless one is recognised.

        `sellers` are the names of the counterparty, `texts` the title and subject of the negotiation.
        """
        if not any(_SOFTWARE.search(text) for text in (*sellers, *texts)):
            return []
        catalogue = await self.catalogue_index.snapshot()
        tool_id = catalogue.first_named(_joined_names(sellers, texts))
        if tool_id is None:
            return []
        (document,) = await self.catalogue_index.documents([tool_id])
        return await self.find_for(orjson.loads(document))

    async def find_for(self, tool: ToolDocument) -> list[ToolAlternative]:
        """Alternatives to a tool, given as its record in JSON, the most similar first."""
        others = await self._others(tool)
        return [_alternative(each, tool) for each in others][:_MOST]

    async def _others(self, tool: ToolDocument) -> list[ToolDocument]:
        """Tools of the same kind and subcategory, most similar first, without those of the same publisher."""
        parts = tool["subcategories"][:1]
        if not parts:
            return []
        words = " ".join(tool["tags"])[:256]
        request = SearchRequest(
            query=words,
            filters={"subcategory": parts, "kind": [tool["kind"]], "status": ["active"]},
            sort="relevance" if words else "proven",
            limit=4 * _MOST,
            is_plain=True,
        )
        found = await (await self.catalogue_index.snapshot()).search(request)
        ids = [hit.id for hit in found.hits if hit.id != tool["id"]]
        makers = _makers(tool)
        others = map(orjson.loads, await self.catalogue_index.documents(ids))
        return [each for each in others if makers.isdisjoint(_makers(each))]


def _joined_names(sellers: Sequence[str], texts: Sequence[str]) -> list[str]:
    """The possible names in the texts as single words, the longest first; in `texts` a name must be capitalised."""
    named = [name for text in sellers for name in _names(text)]
    named += [name for text in texts for name in _names(text) if name[0][0].isupper()]
    joined = ("".join(name).lower() for name in named)
    return sorted((word for word in joined if len(word) >= _SHORTEST), key=lambda word: -len(word))


def _names(text: str) -> list[list[str]]:
    """Every run of up to four words of a text."""
    found = [word.strip(".-+") for word in _NAME.findall(text)]
    found = [word for word in found if word]
    return [
        found[start : start + length] for length in range(1, _LONGEST + 1) for start in range(len(found) - length + 1)
    ]


def _makers(tool: ToolDocument) -> set[str]:
    """The domain and the name of the publisher."""
    publisher: dict[str, Any] = tool["publisher"] or {}
    return {fold_text(each) for each in (publisher.get("domain"), publisher.get("name")) if each}


def _alternative(other: ToolDocument, tool: ToolDocument) -> ToolAlternative:
    names = TAXONOMY[tool["category"]].subcategories
    job = names.get(tool["subcategories"][0], TAXONOMY[tool["category"]].name)
    why = f"Does the same job as {tool['name']} ({job}): {other['summary']}"
    return ToolAlternative(other["id"], other["slug"], other["name"], other["homepage_url"] or "", why)
