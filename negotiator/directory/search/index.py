"""The search index of one process: tools by slot, their terms, facts and orders."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from negotiator.directory.search import document_facts
from negotiator.directory.search.columns import FacetColumn, Mask, NumberColumn, Slots, VectorColumn
from negotiator.directory.search.document_facts import SearchFacts, Standing
from negotiator.directory.search.languages import QueryTranslator, Translation, load_translator
from negotiator.directory.search.request import IndexEntry, SortOrder, sentences_of
from negotiator.directory.search.spelling import (
    SHORTEST_WORD,
    KnownWords,
    NearWord,
    allowed_edits,
    nearest_word,
    split_word,
)
from negotiator.directory.search.terms import Synonyms, joined, load_synonyms, stem
from negotiator.directory.search.text_index import InvertedIndex, TextIndex

VISIBLE_STATUSES: Final = ("active", "deprecated")
FACET_WIDTHS: Final = {"tag": 12, "subcategory": 3, "interface": 7, "publisher": 2}
_SINGLE: Final = (*("category", "kind", "auth", "pricing", "licence"), *("open_source", "verified", "status"))
_NUMBERS: Final = {
    **dict.fromkeys(("saves", "updated", "created", "proven", "rank"), np.int64),
    **dict.fromkeys(("standing", "worth", "factor"), np.float32),
    "day": np.int32,
}
_RANK_BITS: Final = 21


@dataclass(frozen=True, slots=True)
class StagedEntries:
    """Tools that are not searchable yet, and the postings with them."""

    entries: list[tuple[int, IndexEntry, SearchFacts, Standing]]
    postings: InvertedIndex


class SearchIndex:
    """All tools, searchable. `stage` may run on a thread while others search; everything else is not thread-safe."""

    def __init__(self, synonyms: Synonyms, translator: QueryTranslator | None = None) -> None:
        self.synonyms = synonyms
        self.translator = translator
        self.texts = TextIndex()
        self._known_words, self._known_names = KnownWords(), KnownWords()
        self.vectors = VectorColumn()
        self.ids: list[str] = []
        self.facets = {name: FacetColumn() for name in _SINGLE} | {
            name: FacetColumn(width) for name, width in FACET_WIDTHS.items()
        }
        self.numbers = {name: NumberColumn(kind) for name, kind in _NUMBERS.items()}
        self._slots: dict[str, int] = {}
        self._names: list[str] = []
        self._exact: dict[str, tuple[int, ...]] = {}
        self._exact_of: list[tuple[str, ...]] = []
        self._by_id: list[str] = []
        self._in_order = True
        self._visible: Mask | None = None
        self._all_visible = True
        self._by_name: list[tuple[str, str]] = []
        self._name_rank: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def put(self, entries: Sequence[IndexEntry]) -> None:
        """Add tools or new versions of them."""
        self.adopt(self.stage(entries))

    def stage(self, entries: Iterable[IndexEntry]) -> StagedEntries:
        """Read tools or new versions of them; `adopt` makes them searchable."""
        staged: dict[str, tuple[int, IndexEntry, SearchFacts, Standing]] = {}
        added = len(self)
        for entry in entries:
            known = staged[entry.id][0] if entry.id in staged else self._slots.get(entry.id)
            slot = added if known is None else known
            added += known is None
            facts = document_facts.read_facts(entry.document)
            standing = Standing.of(entry.id, entry.saves, facts.quality, facts.status)
            self._known_words.learn(facts.surfaces)
            self._known_names.learn(facts.exact)
            staged[entry.id] = slot, entry, facts, standing
        terms = {slot: facts.terms for slot, _, facts, _ in staged.values()}
        return StagedEntries(list(staged.values()), self.texts.postings.adding(terms))

    def adopt(self, staged: StagedEntries) -> None:
        """Make staged tools searchable."""
        for slot, entry, facts, standing in staged.entries:
            self._place(slot, entry.id)
            self.vectors.expect(slot, sentences_of(entry.document))
            self._note(slot, facts)
            numbers = {
                "saves": entry.saves,
                "created": entry.created_at,
                "updated": entry.updated_at,
                "day": document_facts.epoch_day(entry.updated_at),
                "proven": document_facts.proven_order("true" in facts.facets["verified"], entry.saves, facts.quality),
                "standing": standing.score,
                "worth": standing.worth,
                "factor": standing.factor,
            }
            for name, number in numbers.items():
                self.numbers[name].put(slot, number)
        self.texts.use(staged.postings)
        self._name_rank = self._visible = None

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What `restore` needs: plain values, and arrays by name."""
        size = len(self)
        self._ranked()
        terms, postings = self.texts.postings.state()
        facets = {f"facet-{name}": column.first(size) for name, column in self.facets.items()}
        arrays: dict[str, NDArray[Any]] = {
            **{name: column.first(size) for name, column in self.numbers.items()},
            **facets,
            **postings,
            "digests": self.vectors.digests(),
        }
        values = {
            "ids": self.ids,
            "names": self._names,
            "exact": self._exact_of,
            "facets": {name: column.texts[1:] for name, column in self.facets.items()},
            "terms": terms,
            "known_words": self._known_words.state(),
            "known_names": self._known_names.state(),
        }
        return values, arrays

    def restore(self, values: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the state of another index; arrays are changed in place."""
        self._known_words.restore(values["known_words"])
        self._known_names.restore(values["known_names"])
        size = len(values["ids"])
        self.texts.use(InvertedIndex.restored(size, values["terms"], arrays))
        self.ids, self._names = values["ids"], values["names"]
        self._slots = {key: slot for slot, key in enumerate(self.ids)}
        self._by_id = sorted(self.ids)
        self._exact_of = list(map(tuple, values["exact"]))
        for slot, names in enumerate(self._exact_of):
            for name in names:
                self._exact[name] = (*self._exact.get(name, ()), slot)
        for name, column in self.numbers.items():
            column.restore(arrays[name])
        for name, facet in self.facets.items():
            facet.restore(arrays[f"facet-{name}"], values["facets"][name])
        self.vectors.restore(arrays["digests"])

    def slot(self, key: str) -> int:
        """The slot of an indexed tool."""
        return self._slots[key]

    def named(self, word: str) -> list[int]:
        """The tools whose name or slug, written as one word, is this one."""
        return list(self._exact.get(word, ()))

    def has_name(self, text: str) -> bool:
        """Whether the text is the name or the slug of a tool."""
        return bool(self.named(joined(text)))

    def visible(self) -> Mask:
        """The tools that lists show by default; read-only."""
        if self._visible is None:
            self._visible = self.facets["status"].mask(VISIBLE_STATUSES, len(self))
            self._all_visible = bool(self._visible.all())
        return self._visible

    @property
    def all_visible(self) -> bool:
        """Whether no tool is hidden from lists."""
        self.visible()
        return self._all_visible

    def translate(self, text: str) -> Translation | None:
        """A German, French or Spanish query in English; None for any other, and for the name of a tool."""
        if self.translator is None or self.has_name(text):
            return None
        return self.translator.translate(text, lambda word: self._count(word) > 0)

    def correct_words(self, words: Sequence[str]) -> dict[str, str]:
        """Corrections of words that no tool has: two words joined, a similar word, or a word split in two."""
        unknown = {word for word in words if self._count(word) == 0}
        found = {
            f"{one} {two}": one + two
            for one, two in pairwise(words)
            if not unknown.isdisjoint((one, two)) and self._count(one + two)
        }
        unknown.difference_update(*(pair.split() for pair in found))
        for word in words:
            if word in unknown:
                near = self._nearest_word(word)
                if read := near.word if near else split_word(word, self._count):
                    found[word] = read
        return found

    def correct_name(self, word: str) -> str | None:
        """The tool name nearest to a query written as one word; None when none is near, or a word is nearer."""
        candidates = self._known_names.near(word, allowed_edits(word))
        near = nearest_word(word, candidates, lambda name: len(self.named(name)))
        if near is None:
            return None
        other = self._nearest_word(word)
        if other is not None and other[:2] < near[:2]:
            return None
        written = (self._names[slot] for slot in self.named(near.word))
        return min((name for name in written if joined(name) == near.word), default=near.word)

    def keys(self, sort: SortOrder, at: Slots, scores: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """A unique number for each of these tools; lists are in descending order.

        `scores` are for `relevance`.
        """
        if sort == "name":
            return -self._ranked_by_name().take(at)
        column = "saves" if sort == "popularity" else sort
        values = scores if sort == "relevance" else self.numbers[column].at(at)
        assert values is not None  # noqa: S101  relevance requires a query
        return values << _RANK_BITS | self._ranked().take(at)

    def position(self, sort: SortOrder, key: int, slot: int) -> tuple[Any, str]:
        """The position of a tool in an order, valid in every process: the sort value and the id."""
        return self._names[slot] if sort == "name" else key >> _RANK_BITS, self.ids[slot]

    def below(self, sort: SortOrder, position: tuple[Any, str]) -> int:
        """The key that everything after a position is smaller than; the tool at it may be gone."""
        value, key = position
        if sort == "name":
            self._ranked_by_name()
            return 1 - bisect_right(self._by_name, (value, key))
        self._ranked()
        return (value << _RANK_BITS) | bisect_left(self._by_id, key)

    def counts(self, facet: str) -> dict[str, int]:
        """The number of visible tools for each value of a facet."""
        return dict(self.facets[facet].counts(np.flatnonzero(self.visible()), len(self) + 1))

    def newest(self, facet: str, value: str) -> int:
        """When a tool with this value last changed; 0 when there is none."""
        times = self.numbers["updated"].first(len(self))[self.facets[facet].mask((value,), len(self))]
        return int(times.max()) if len(times) else 0

    def _count(self, word: str) -> int:
        """The number of tools with a word, in any inflection."""
        return self.texts.postings.count(stem(word))

    def _nearest_word(self, word: str) -> NearWord | None:
        if len(word) < SHORTEST_WORD:
            return None
        return nearest_word(word, self._known_words.near(word, allowed_edits(word)), self._count)

    def _place(self, slot: int, key: str) -> None:
        """Make room for a tool that is new."""
        if slot == len(self.ids):
            self._slots[key] = slot
            self.ids.append(key)
            self._names.append("")
            self._exact_of.append(())
            self._in_order = self._in_order and (not self._by_id or key > self._by_id[-1])
            self.numbers["rank"].put(slot, slot)
            self._by_id.append(key)

    def _note(self, slot: int, facts: SearchFacts) -> None:
        self._names[slot] = facts.name
        for name, values in facts.facets.items():
            self.facets[name].put(slot, values)
        for name in self._exact_of[slot]:
            self._exact[name] = tuple(each for each in self._exact[name] if each != slot)
        self._exact_of[slot] = facts.exact
        for name in facts.exact:
            self._exact[name] = (*self._exact.get(name, ()), slot)

    def _ranked(self) -> NDArray[np.int64]:
        """The rank of every tool by id. Ids rise with time, so a new tool nearly always ranks last."""
        if not self._in_order:
            order = sorted(range(len(self)), key=self.ids.__getitem__)
            self._by_id = [self.ids[slot] for slot in order]
            for place, slot in enumerate(order):
                self.numbers["rank"].put(slot, place)
            self._in_order = True
        return self.numbers["rank"].first(len(self))

    def _ranked_by_name(self) -> NDArray[np.int64]:
        if self._name_rank is None:
            pairs = [(name, self.ids[slot]) for slot, name in enumerate(self._names)]
            order = sorted(range(len(pairs)), key=pairs.__getitem__)
            self._by_name = [pairs[slot] for slot in order]
            self._name_rank = np.empty(len(order), np.int64)
            self._name_rank[order] = np.arange(len(order))
        return self._name_rank


def load_index(synonyms: Path, languages: Path) -> SearchIndex:
    """An empty index with the synonyms and the words of other languages of these TOML files."""
    return SearchIndex(load_synonyms(synonyms), load_translator(languages))
