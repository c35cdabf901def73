"""Extracts what search needs from a tool's document: weighted terms, facets, quality."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from negotiator.directory.search.terms import inner_words, joined, stem, words
from negotiator.directory.taxonomy import TAXONOMY
from negotiator.search_terms import fold_text

SEARCHED_FIELDS: Final = (
    "name",
    "tags",
    "category",
    "summary",
    "description",
    "publisher",
    "package",
)
_WEIGHTS: Final = (10.0, 4.0, 3.0, 2.0, 1.0, 3.0, 1.0)
_TYPICAL: Final = (2.0, 3.0, 6.0, 12.0, 60.0, 2.0, 3.0)
"""Typical number of words in a field. Constants, so that a term has the same weight in every process."""
_SLOPE: Final = (0.3, 0.3, 0.0, 0.3, 0.5, 0.3, 0.3)
_SATURATION: Final = 4.0
_PART: Final = 0.6
"""Weight of a word inside a word of the name, relative to a whole word."""


@dataclass(frozen=True, slots=True)
class SearchFacts:
    """The searchable facts of a tool."""

    terms: dict[str, tuple[float, int]]
    surfaces: frozenset[str]
    exact: tuple[str, ...]
    facets: dict[str, list[str | None]]
    name: str
    quality: float


def read_facts(document: dict[str, Any]) -> SearchFacts:
    fields = _field_words(document)
    surfaces: set[str] = set()
    weights: dict[str, float] = {}
    bits: dict[str, int] = {}
    for place, (found, extra) in enumerate(fields):
        share = _share(place, len(found))
        for word, weight in [*((w, share) for w in found), *((w, share * _PART) for w in extra)]:
            term = stem(word)
            weights[term] = weights.get(term, 0.0) + weight
            bits[term] = bits.get(term, 0) | 1 << place
        surfaces.update(found)
    terms = {
        term: (weight / (_SATURATION + weight), bits[term]) for term, weight in weights.items()
    }
    return SearchFacts(
        terms=terms,
        surfaces=frozenset(surfaces),
        exact=tuple(dict.fromkeys((joined(document["name"]), joined(document["slug"])))),
        facets=facets_of(document),
        name=fold_text(document["name"]),
        quality=record_quality(document),
    )


def _share(place: int, length: int) -> float:
    """The weight of one occurrence in a field of this length: BM25F (Robertson and Zaragoza 2009, §3.6)."""
    slope = _SLOPE[place]
    return _WEIGHTS[place] / (1 - slope + slope * length / _TYPICAL[place])


def _field_words(document: dict[str, Any]) -> Iterator[tuple[list[str], list[str]]]:
    """The words of every field in the order of `SEARCHED_FIELDS`, and the words inside words."""
    name, kind = document["name"], document["kind"].replace("_", " ")
    yield words(name), inner_words(name)
    yield words(" ".join(document["tags"])), []
    category = TAXONOMY.get(document["category"])
    texts = [kind]
    if category:
        texts += [category.name]
        texts += [category.subcategories.get(each, "") for each in document["subcategories"]]
    yield words(" ".join(texts)), []
    yield words(document["summary"]), []
    yield words(document["description"] or ""), []
    publisher: dict[str, Any] = document["publisher"] or {}
    yield words(publisher.get("name") or ""), []
    packages = [package["identifier"] for package in document["packages"]]
    yield words(" ".join(packages)), []


def facets_of(document: dict[str, Any]) -> dict[str, list[str | None]]:
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
        "publisher": [fold_text(maker) for maker in makers if maker],
        "status": [document["status"]],
    }


def record_quality(document: dict[str, Any]) -> float:
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
