"""What search needs of a tool: weighted terms, facets, quality, and what counts whatever the query is."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import log
from typing import Any, Final
from zlib import crc32

from negotiator.base.search_terms import fold_text
from negotiator.base.values import DAY
from negotiator.directory.search.request import ToolDocument
from negotiator.directory.search.terms import inner_words, joined, stem, words
from negotiator.directory.taxonomy import TASKS, TAXONOMY

SEARCHED_FIELDS: Final = ("name", "tags", "category", "summary", "description", "publisher", "package", "tasks")
FIELD_IMPACTS: Final = (0.65, 0.55, 0.45, 0.4, 0.2, 0.4, 0.2, 0.25, 0.55)
"""How much a word in each of these fields counts, 0 to 1; the last is for a word inside a word of the name."""
_INNER: Final = len(FIELD_IMPACTS) - 1


@dataclass(frozen=True, slots=True)
class SearchFacts:
    """The searchable facts of a tool: the places in `FIELD_IMPACTS` where each term is, as bits, and others."""

    terms: dict[str, int]
    surfaces: frozenset[str]
    exact: tuple[str, ...]
    facets: dict[str, list[str | None]]
    name: str
    quality: float
    status: str


def read_facts(document: ToolDocument) -> SearchFacts:
    surfaces: set[str] = set()
    terms: dict[str, int] = {}
    for place, found in enumerate((*_field_words(document), inner_words(document["name"]))):
        if place != _INNER:
            surfaces.update(found)
        for term in map(stem, found):
            terms[term] = terms.get(term, 0) | 1 << place
    return SearchFacts(
        terms=terms,
        surfaces=frozenset(surfaces),
        exact=tuple(dict.fromkeys((joined(document["name"]), joined(document["slug"])))),
        facets=facets_of(document),
        name=fold_text(document["name"]),
        quality=record_quality(document),
        status=document["status"],
    )


def field_names(bits: int) -> tuple[str, ...]:
    """The fields of these places; words inside a word of the name are in the name."""
    bits |= bits >> _INNER
    return tuple(name for place, name in enumerate(SEARCHED_FIELDS) if bits >> place & 1)


def _field_words(document: ToolDocument) -> Iterator[list[str]]:
    """The words of every field in the order of `SEARCHED_FIELDS`."""
    yield words(document["name"])
    yield words(" ".join(document["tags"]))
    category = TAXONOMY.get(document["category"])
    texts = [document["kind"].replace("_", " ")]
    if category:
        texts += [category.name]
        texts += [category.subcategories.get(each, "") for each in document["subcategories"]]
    yield words(" ".join(texts))
    yield words(document["summary"])
    yield words(document["description"] or "")
    publisher: dict[str, Any] = document["publisher"] or {}
    yield words(publisher.get("name") or "")
    yield words(" ".join(package["identifier"] for package in document["packages"]))
    yield words(" ".join(TASKS[each] for each in document["subcategories"]))


def facets_of(document: ToolDocument) -> dict[str, list[str | None]]:
    """The values for filters and facets; truth values as words, unknown ones as None."""
    publisher: dict[str, Any] = document["publisher"] or {}
    makers: Iterable[Any] = (publisher.get("domain"), publisher.get("name"))
    return {
        "category": [document["category"]],
        "subcategory": list(document["subcategories"]),
        "tag": list(document["tags"]),
        "kind": [document["kind"]],
        "interface": list(dict.fromkeys(each["type"] for each in document["interfaces"])),
        "auth": [document["auth"]["type"]],
        "pricing": [document["pricing"]["model"]],
        "licence": [document["licence"]],
        "open_source": [_truth(document["open_source"])],
        "verified": [_truth(bool(publisher.get("verified")))],
        "publisher": list(dict.fromkeys(fold_text(maker) for maker in makers if maker)),
        "status": [document["status"]],
    }


def record_quality(document: ToolDocument) -> float:
    """How much of the record is known and verified, 0 to 1; no judgement of the tool itself."""
    publisher: dict[str, Any] = document["publisher"] or {}
    health: dict[str, Any] = document["health"] or {}
    known = (
        bool(document["description"]),
        bool(document["homepage_url"]),
        bool(document["repository"] or document["docs_url"]),
        bool(document["interfaces"] or document["packages"]),
        bool(document["licence"] or document["open_source"] is not None),
        document["auth"]["type"] != "unknown",
        document["pricing"]["model"] != "unknown",
        bool(document["tags"]),
    )
    proven = 0.4 * bool(publisher.get("verified"))
    reached = 0.2 * (health.get("state") in {"up", "auth_required"})
    return proven + reached + 0.4 * sum(known) / len(known)


def _truth(value: bool | None) -> str | None:
    return None if value is None else "true" if value else "false"


_POPULARITY: Final = 0.15
_QUALITY: Final = 0.10
_FAMOUS: Final = 1000
_DEPRECATED: Final = 0.5
_APART: Final = 1e-3


@dataclass(frozen=True, slots=True)
class Standing:
    """What counts of a tool whatever the query is: popularity and quality, the factor for its status, and the factor of
    its preliminary score, which is at least 1 and differs between tools.
    """

    score: float
    worth: float
    factor: float

    @classmethod
    def of(cls, key: str, saves: int, quality: float, status: str) -> "Standing":
        """The standing of the tool with this id; a deprecated tool counts half."""
        score = _POPULARITY * min(log(1 + saves) / log(1 + _FAMOUS), 1.0) + _QUALITY * quality
        worth = _DEPRECATED if status == "deprecated" else 1.0
        apart = _APART * crc32(key.encode()) / 2**32
        return cls(score, worth, worth * (1 + 2 * score) / _DEPRECATED + apart)


def epoch_day(now: int) -> int:
    """The day of a moment in milliseconds, counted from the epoch."""
    return now // DAY


_MOST_SAVES: Final = (1 << 20) - 1
_QUALITY_STEPS: Final = 1000


def proven_order(verified: bool, saves: int, quality: float) -> int:
    """A number that orders tools: verified publishers first, then saves, then how much is known (0 to 1)."""
    counted = min(saves, _MOST_SAVES) * (_QUALITY_STEPS + 1) + int(quality * _QUALITY_STEPS)
    return counted + verified * (_MOST_SAVES + 1) * (_QUALITY_STEPS + 1)
