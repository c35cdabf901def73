"""A search of the database's rows in one transaction, by the steps and scores of an index in memory."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations
from typing import Any, Final, Self, get_args
from zlib import crc32

import numpy as np
import orjson

from negotiator.base.bounded_cache import BoundedCache
from negotiator.directory import search_rows
from negotiator.directory.catalogue_index import LANGUAGES_FILE, SYNONYMS_FILE
from negotiator.directory.change_queries import ChangedTool
from negotiator.directory.search import document_facts, languages, ranking, terms
from negotiator.directory.search.corrections import QueryCorrector
from negotiator.directory.search.document_facts import FIELD_IMPACTS
from negotiator.directory.search.index import FACET_WIDTHS, VISIBLE_STATUSES
from negotiator.directory.search.matching import BEST, NEIGHBOURS, SCANNED, QueryMatches, find_matches
from negotiator.directory.search.postings import InvertedIndex
from negotiator.directory.search.query import Demand, QueryUnit
from negotiator.directory.search.ranking import Standing
from negotiator.directory.search.search import SearchHit, SearchPage, SearchRequest, matched_fields, shown_score
from negotiator.directory.search.spelling import SHORTEST_WORD, phonetic_key
from negotiator.directory.search.terms import Synonyms, joined, stem
from negotiator.directory.search.text_index import HEAVY, TextIndex, TextMatches, UnitMatches, fields_of, whole_shares
from negotiator.directory.search.vectors import SentenceVector, digest_of, sentences_of
from negotiator.directory.search_rows import (
    LEAST_ESTIMATE,
    FoundToolRow,
    RowScope,
    SearchRow,
    all_of,
    any_of,
    lexeme,
    none_of,
)
from negotiator.directory.tool_record import ToolStatus
from negotiator.store.statement import Transaction

_CANDIDATES: Final = 2 * BEST
"""Of more tools than this, those are ranked that the database has first, by the shares of the query that they have and
by their standing; and of those whose name or tags have a word, as many as are ranked.
"""
_STRONG: Final = sum(1 << place for place, impact in enumerate(FIELD_IMPACTS) if impact > 0.5)
"""The fields, as bits, where a word counts most."""
_MARGIN: Final = 14
"""Neighbours more than are wanted: half precision may change the order of close vectors."""
_MANY: Final = 1_000
"""Numbers of tools from this on are remembered for a minute, smaller ones until the rows change."""
_REMEMBERED: Final = 60.0
_ESTIMATED: Final = 20_000
"""Tools from which numbers that match are estimated, if they are large."""
_SAMPLED: Final = 5_000
"""Matches from which the database looks first where the best begin."""
_GROUPED: Final = 5
"""Units by which the database orders tools: the heaviest. The others count among its first."""
_HIDDEN: Final = any_of(
    lexeme(f"=status:{status}") for status in get_args(ToolStatus) if status not in VISIBLE_STATUSES
)
_POSTING: Final = np.dtype([("term", "<u4"), ("fields", "<u2")])


@cache
def _synonyms() -> Synonyms:
    return terms.load_synonyms(SYNONYMS_FILE)


def row_of(tool: ChangedTool) -> SearchRow:
    """The row of a tool."""
    document = orjson.loads(tool.document)
    facts = document_facts.read_facts(document)
    standing = Standing.of(tool.id, tool.saves, facts.quality, facts.status)
    facets = [
        f"{name}:{value}"
        for name, found in facts.facets.items()
        for value in dict.fromkeys(found[: FACET_WIDTHS.get(name, 1)])
        if value
    ]
    postings = np.array([(crc32(term.encode()), bits) for term, bits in facts.terms.items()], _POSTING)
    return SearchRow(
        tool=tool.id,
        seq=tool.seq,
        status=facts.status,
        name=facts.name,
        saves=tool.saves,
        proven=ranking.proven_order("true" in facts.facets["verified"], tool.saves, facts.quality),
        created=tool.created_at,
        updated=tool.updated_at,
        factor=float(np.float32(standing.factor)),
        standing=standing.score,
        worth=standing.worth,
        digest=digest_of(sentences_of(document)),
        facets=facets,
        terms=[
            *facts.terms,
            *(f"^{term}" for term, bits in facts.terms.items() if bits & _STRONG),
            *(f"={each}" for each in (*facts.exact, *facets)),
        ],
        postings=postings.tobytes(),
        known=[
            (field, word, phonetic_key(word) if _has_sound(word) else "", _letters(word))
            for field, found in (("word", facts.surfaces), ("name", facts.exact))
            for word in found
            if len(word) >= SHORTEST_WORD - 1 and not word.isdigit()
        ],
    )


def _has_sound(word: str) -> bool:
    return word.isalpha() and len(word) >= SHORTEST_WORD


def _letters(word: str) -> int:
    """The letters of a word as bits, of which an error changes at most two."""
    bits = 0
    for letter in word:
        bits |= 1 << ord(letter) % 31
    return bits


def name_query(word: str) -> str:
    """The `tsquery` of the tools whose name or slug, written as one word, is this one."""
    return lexeme(f"={word}")


@dataclass(frozen=True, slots=True)
class RememberedCount:
    """A number of tools, of which state of the rows it is, and when it is forgotten."""

    tools: int
    seq: int
    end: float


@dataclass(frozen=True, slots=True)
class SearchMeans:
    """What searches of a process share, numbers of tools by `tsquery` and the model of vectors; and the number of the
    last change that the rows have.
    """

    counts: BoundedCache[str, RememberedCount]
    model: str
    seq: int

    def count(self, tx: Transaction, query: str | None, *, is_current: bool = False) -> int:
        """The number of tools that match a `tsquery`, of all for None; a large one may be a minute old, unless it is to
        be of the current rows.
        """
        return self.count_in(tx, RowScope(query), is_current=is_current)

    def count_in(self, tx: Transaction, scope: RowScope, *, is_current: bool = True) -> int:
        """The number of tools in scope. Of a large catalogue it may be an estimate; see `search_rows.count`."""
        key = repr(scope.values)
        known = self.counts.get(key)
        if (
            known is not None
            and time.monotonic() < known.end
            and (known.seq == self.seq or (known.tools >= _MANY and not is_current))
        ):
            return known.tools
        by_terms = scope.words is not None or scope.filters is not None
        found = search_rows.count(tx, scope, is_estimate=by_terms and self.is_large(tx))
        if found:  # rows may follow that have it
            known = RememberedCount(found, self.seq, time.monotonic() + _REMEMBERED)
            self.counts.put(key, known, 200 + len(key))
        return found

    def is_large(self, tx: Transaction) -> bool:
        """Whether large numbers are estimated."""
        return self.count(tx, None) > _ESTIMATED

    def count_usual(self, tx: Transaction, query: str) -> int:
        """The number of tools that match a `tsquery` and are visible: all, but for the few that are not."""
        found = self.count(tx, query, is_current=True)
        hidden = search_rows.count(tx, RowScope(all_of((query, _HIDDEN)))) if found else 0
        return max(found - hidden, 0)


class RowCorrector(QueryCorrector):
    """Corrects queries by the words in the database."""

    def __init__(self, tx: Transaction, means: SearchMeans) -> None:
        self.translator = languages.load_translator(LANGUAGES_FILE)
        self._tx = tx
        self._means = means

    def count(self, word: str) -> int:
        return self._means.count(self._tx, lexeme(stem(word)))

    def count_named(self, word: str) -> int:
        return self._means.count(self._tx, name_query(word)) if word else 0

    def names_of(self, word: str) -> list[str]:
        return search_rows.names(self._tx, name_query(word))

    def near(self, field: str, word: str, most: int) -> list[str]:
        if most == 0:
            return []
        return search_rows.near_words(
            self._tx, field, word, sound=phonetic_key(word), letters=_letters(word), edits=most
        )


def interpret(tx: Transaction, means: SearchMeans, request: SearchRequest) -> tuple[SearchRequest, bool]:
    """The request with its query in English, and whether that is the name of a tool."""
    corrector = RowCorrector(tx, means)
    if request.frozen is None:
        request = replace(request, translated=corrector.translate(request.query))
    text = request.translated[1] if request.translated else request.query
    return request, corrector.count_named(joined(text)) > 0


@dataclass(frozen=True, slots=True)
class RowUnit:
    """A unit of a query, its `tsquery`, and the number of tools that match it."""

    unit: QueryUnit
    query: str
    tools: int


@dataclass(frozen=True, slots=True)
class RowMatches:
    """The tools that match a `tsquery` (None: none do): how many, in which groups, and which may be the best."""

    query: str | None
    groups: Sequence[tuple[str, int]] = ()
    total: int = 0
    candidates: Sequence[str] = ()
    floor: float = 0.0


_Matches = QueryMatches[RowUnit, RowMatches, str]


class _Rows:
    """The rows of tools that a search has read."""

    def __init__(self, tx: Transaction, means: SearchMeans, vector: SentenceVector | None) -> None:
        self._tx = tx
        self._model = means.model
        self._vector = None if vector is None else vector.tolist()
        self._rows: dict[str, FoundToolRow] = {}

    def read(self, ids: Sequence[str]) -> list[FoundToolRow]:
        """The rows of these tools, in this order."""
        missing = [key for key in ids if key not in self._rows]
        if missing:
            found = search_rows.read(self._tx, missing, model=self._model, vector=self._vector)
            self._rows.update({row.tool: row for row in found})
        return [self._rows[key] for key in ids if key in self._rows]

    def ranked(
        self,
        groups: Sequence[tuple[str, int]],
        scope: RowScope,
        *,
        most: int,
        limit: int,
        after: tuple[float, str] | None = None,
        besides: Sequence[str] = (),
    ) -> list[tuple[str, float]]:
        """The first of at most `most` tools by the shares of their groups, with their ranks: `search_rows.ranked`."""
        found = search_rows.ranked(
            self._tx,
            scope,
            groups,
            highest=ranking.HIGHEST_FACTOR,
            are_many=most > _SAMPLED,
            model=self._model,
            vector=self._vector,
            after=after,
            besides=besides,
            limit=limit,
        )
        self._rows.update({row.tool: row for _, row in found})
        return [(row.tool, rank) for rank, row in found]


def _index_of(rows: Sequence[FoundToolRow], units: Sequence[QueryUnit]) -> InvertedIndex:
    """The index of what rows, by their places, have of the terms of a query."""
    wanted = list(dict.fromkeys(term for unit in units for _, phrase in unit.phrases for term in phrase))
    posted = np.frombuffer(b"".join(row.postings for row in rows), _POSTING)
    lengths = [len(row.postings) // _POSTING.itemsize for row in rows]
    slots = np.arange(len(rows), dtype=np.int32).repeat(lengths)
    digests = np.ascontiguousarray(posted["term"])
    found = [np.flatnonzero(digests == crc32(term.encode())) for term in wanted]
    places = np.concatenate(found)
    arrays = {
        "starts": np.cumsum([0, *map(len, found)]),
        "postings": slots.take(places),
        "posted": posted["fields"].take(places),
    }
    return InvertedIndex.restored(len(rows), wanted, arrays)


@dataclass(frozen=True, slots=True)
class _TextOfRows:
    """How the words of a query match some rows: the units, and the rows that match by their places."""

    units: list[UnitMatches]
    matches: TextMatches


@dataclass(frozen=True, slots=True)
class DatabaseScope:
    """The rows that filters allow, and those of the usual status; `best` says whether the best are needed."""

    tx: Transaction
    means: SearchMeans
    rows: _Rows
    corrector: RowCorrector
    allowed: RowScope
    usual: RowScope
    best: bool
    vector: SentenceVector | None
    _nearest: dict[RowScope, list[tuple[str, float]]] = field(default_factory=dict[RowScope, list[tuple[str, float]]])
    _named: dict[RowScope, list[str]] = field(default_factory=dict[RowScope, list[str]])

    @property
    def synonyms(self) -> Synonyms:
        return _synonyms()

    @property
    def size(self) -> int:
        return self.means.count(self.tx, None)

    @property
    def is_filtered(self) -> bool:
        return self.allowed is not self.usual

    @property
    def has_meaning(self) -> bool:
        return self.vector is not None

    def without_filters(self) -> Self:
        return replace(self, allowed=self.usual)

    def units(self, units: Sequence[QueryUnit]) -> list[RowUnit]:
        queries = [_unit_query(unit) for unit in units]
        return [
            RowUnit(unit, query, self.means.count(self.tx, query)) for unit, query in zip(units, queries, strict=True)
        ]

    def match(self, units: Sequence[RowUnit], weights: Sequence[float], demand: Demand) -> RowMatches:
        query = _demanded(units, weights, demand)
        if query is None:
            return RowMatches(None)
        if not self.best:
            return RowMatches(query, total=self._total(query))
        groups = unit_groups(units, weights, demand, query)
        numbers = [unit.tools for unit, weight in zip(units, weights, strict=True) if weight]
        most = min(numbers) if demand == "every" else sum(numbers)
        found = self.rows.ranked(groups, self.allowed, most=most, limit=_CANDIDATES + 1)
        total = len(found)
        if total > _CANDIDATES:
            total = self._total(query)
            strong = replace(self.allowed, words=any_of(_strong_query(each) for each in units))
            found += self.rows.ranked(groups, strong, most=most, limit=BEST)
        ids = list(dict.fromkeys(key for key, _ in found))
        text = self.text(units, weights, demand, self.rows.read(ids), best=BEST)
        floor = float(text.matches.preliminary.min()) if total > BEST else 0.0
        return RowMatches(query, groups, total, ids, floor)

    @property
    def _is_wide(self) -> bool:
        """Whether (nearly) all tools are in scope."""
        return self.allowed in (RowScope(), RowScope(statuses=VISIBLE_STATUSES))

    def _total(self, query: str) -> int:
        if self.allowed == RowScope(statuses=VISIBLE_STATUSES):
            return self.means.count_usual(self.tx, query)
        return self.means.count_in(self.tx, replace(self.allowed, words=query))

    def text(
        self,
        units: Sequence[RowUnit],
        weights: Sequence[float],
        demand: Demand,
        rows: Sequence[FoundToolRow],
        *,
        best: int | None = None,
    ) -> _TextOfRows:
        """How the words match these rows."""
        index, asked = TextIndex(), [each.unit for each in units]
        index.use(_index_of(rows, asked))
        found = index.units(asked)
        factors = np.array([row.factor for row in rows], np.float32)
        return _TextOfRows(found, index.match(found, weights, demand, factors, best=best))

    def named(self, word: str) -> list[str]:
        if not word:
            return []
        scope = replace(self.allowed, words=name_query(word))
        found = self._named.get(scope)
        if found is None:
            rows = search_rows.in_order(self.tx, scope, "name", after=None, limit=100)
            found = self._named[scope] = [key for key, _ in rows]
        return found

    def likest(self, most: int) -> list[float]:
        return sorted((likeness for _, likeness in self._near()), reverse=True)[:most]

    def neighbours(self, least: float) -> list[str]:
        return [key for key, likeness in self._near() if likeness >= least]

    def _near(self) -> list[tuple[str, float]]:
        assert self.vector is not None  # noqa: S101  `has_meaning` says so
        found = self._nearest.get(self.allowed)
        if found is None:
            found = self._nearest[self.allowed] = search_rows.nearest(
                self.tx,
                self.allowed,
                self.vector.tolist(),
                model=self.means.model,
                limit=NEIGHBOURS + _MARGIN,
                # The index gives the nearest of all tools, and of few that filters allow it may find none.
                is_exact=not self._is_wide or self.size <= SCANNED,
            )
        return found

    def correct_words(self, words: Sequence[str]) -> Mapping[str, str]:
        return self.corrector.correct_words(words)

    def correct_name(self, word: str) -> str | None:
        return self.corrector.correct_name(word)


def search_rows_page(tx: Transaction, means: SearchMeans, request: SearchRequest) -> SearchPage:
    """A page of the rows."""
    search_rows.plan_each(tx)
    usual = RowScope(statuses=tuple(request.filters.get("status", VISIBLE_STATUSES)))
    allowed = replace(usual, filters=_filter_query(request.filters), since=request.updated_since)
    scope = usual if allowed == usual else allowed
    if not request.query:
        return _sorted_page(tx, means, request, scope, scope)
    by_relevance = request.sort == "relevance"
    vector = request.vector if by_relevance else None
    among = DatabaseScope(
        *(tx, means, _Rows(tx, means, vector), RowCorrector(tx, means), scope, usual), best=by_relevance, vector=vector
    )
    text = request.translated[1] if request.translated else request.query
    found = find_matches(among, text, frozen=request.frozen, now=request.now)
    if request.translated:
        found = replace(found, frozen=replace(found.frozen, translated=request.translated))
    matched = _with_others(scope, found)
    counted = matched
    if request.facets and among.is_filtered:
        wide = replace(among, allowed=RowScope(), usual=RowScope(), best=False)
        again = find_matches(wide, text, frozen=found.frozen, now=request.now)
        counted = _with_others(scope, again)
    if by_relevance:
        page = _relevant_page(among, request, found)
    else:
        page = _sorted_page(tx, means, request, matched, counted)
        scored = _scored(among, found, [hit.id for hit in page.hits])
        page = replace(page, hits=[each.hit for each in scored])
    return replace(page, normalized=found.normalized, frozen=found.frozen, facets=_facets(tx, means, request, counted))


def _with_others(scope: RowScope, found: _Matches) -> RowScope:
    """The tools in scope that match the words, or are found by name or meaning."""
    others = tuple(dict.fromkeys((*found.named, *found.neighbours)))
    # No tool has an empty name.
    return replace(scope, words=found.found.query or name_query(""), also=others)


def _sorted_page(
    tx: Transaction, means: SearchMeans, request: SearchRequest, scope: RowScope, counted: RowScope
) -> SearchPage:
    """A page of the tools in scope by another order than relevance, and the facets of those counted."""
    found = search_rows.in_order(tx, scope, request.sort, after=request.after, limit=request.limit + 1)
    page = found[: request.limit]
    return SearchPage(
        hits=[SearchHit(key) for key, _ in page],
        total=means.count_in(tx, scope),
        last=(page[-1][1], page[-1][0]) if len(found) > len(page) else None,
        normalized="",
        frozen=None,
        facets={} if request.query else _facets(tx, means, request, counted),
    )


def _facets(
    tx: Transaction, means: SearchMeans, request: SearchRequest, counted: RowScope
) -> dict[str, list[tuple[str, int]]]:
    """The facets with counts; all filters apply but the facet's own, so that its other values are visible."""
    scopes: dict[RowScope, list[str]] = {}
    for name in request.facets:
        others = {other: found for other, found in request.filters.items() if other != name}
        scope = replace(counted, filters=_filter_query(others))
        scopes.setdefault(scope, []).append(name)
    found: dict[str, list[tuple[str, int]]] = {}
    for scope, names in scopes.items():
        is_estimate = means.is_large(tx) and means.count_in(tx, scope) >= LEAST_ESTIMATE
        if is_estimate and scope.words is None and scope.filters is None:
            # The index of the sample is one of terms.
            statuses = scope.statuses or get_args(ToolStatus)
            scope = replace(scope, filters=any_of(lexeme(f"=status:{each}") for each in statuses))
        found.update(search_rows.facet_counts(tx, scope, names, request.facet_values, is_estimate=is_estimate))
    return {name: found[name] for name in request.facets}


@dataclass(frozen=True, slots=True)
class _ScoredRow:
    """A found tool as a page shows it, its score, and by its words its preliminary score; None where it has none."""

    hit: SearchHit
    score: int
    preliminary: float | None


def _relevant_page(among: DatabaseScope, request: SearchRequest, found: _Matches) -> SearchPage:
    """A page by score: the best first, by all that counts, then the others in the order of the database.

    The position of one of the best is its score, that of another is a list with its rank.
    """
    floor, others = found.frozen.floor, {*found.named, *found.neighbours}
    scored = _scored(among, found, [*dict.fromkeys((*found.found.candidates, *others))])
    best = [
        each for each in scored if each.hit.id in others or (each.preliminary is not None and each.preliminary > floor)
    ]
    best.sort(key=lambda each: (each.score, each.hit.id), reverse=True)
    after: tuple[Any, str] | None = request.after
    rank: tuple[float, str] | None = None
    if after is not None and not isinstance(after[0], int):
        rank = (*after[0], after[1])
    chosen: list[tuple[Any, SearchHit]] = [
        (each.score, each.hit) for each in best if rank is None and (after is None or (each.score, each.hit.id) < after)
    ][: request.limit + 1]
    missing = request.limit + 1 - len(chosen)
    if missing and floor and found.found.query:
        ranks = among.rows.ranked(
            found.found.groups,
            among.allowed,
            most=found.found.total,
            after=rank,
            besides=[each.hit.id for each in best],
            limit=missing,
        )
        rest = _scored(among, found, [tool for tool, _ in ranks])
        chosen += [([rank], each.hit) for (_, rank), each in zip(ranks, rest, strict=True)]
    page = chosen[: request.limit]
    unmatched = sum(each.preliminary is None for each in scored if each.hit.id in others)
    return SearchPage(
        hits=[hit for _, hit in page],
        total=found.found.total + unmatched,
        last=(page[-1][0], page[-1][1].id) if len(chosen) > len(page) else None,
        normalized="",
        frozen=None,
        facets={},
    )


def _scored(among: DatabaseScope, found: _Matches, ids: Sequence[str]) -> list[_ScoredRow]:
    """These tools with their scores, in this order."""
    rows, pinned = among.rows.read(ids), found.frozen
    if not rows:
        return []
    text = among.text(found.units, pinned.weights, pinned.demand, rows)
    at, quality, covered = text.matches.slots, *np.zeros((2, len(rows)), np.float32)
    quality[at], covered[at] = text.matches.text, text.matches.covered
    likeness = None
    if among.vector is not None and pinned.near is not None:
        likeness = np.maximum(np.array([row.likeness for row in rows], np.float32), 0)
    days = np.array([ranking.epoch_day(row.updated) for row in rows], np.int32)
    scores: list[int] = ranking.rank_scores(
        quality,
        covered,
        standing=np.array([row.standing for row in rows], np.float32),
        age=np.int32(pinned.day) - days,
        worth=np.array([row.worth for row in rows], np.float32),
        likeness=likeness,
    ).tolist()
    named = frozenset(found.named)
    fields: list[int] = fields_of(text.units, np.arange(len(rows), dtype=np.int32)).tolist()
    preliminary = dict(zip(at.tolist(), text.matches.preliminary.tolist(), strict=True))
    scored: list[_ScoredRow] = []
    for place, (row, score, bits) in enumerate(zip(rows, scores, fields, strict=True)):
        is_named = row.tool in named
        raised = score + ranking.HIGHEST_SCORE if is_named else score
        hit = SearchHit(row.tool, shown_score(raised), matched_fields(bits, exact=is_named))
        scored.append(_ScoredRow(hit, raised, preliminary.get(place)))
    return scored


def _filter_query(filters: Mapping[str, Sequence[str]]) -> str | None:
    """The `tsquery` of these filters but the status: OR within a name and AND across names; None for no filter."""
    found = [
        any_of(lexeme(f"={name}:{value}") for value in chosen) for name, chosen in filters.items() if name != "status"
    ]
    return all_of(found) if found else None


def _unit_query(unit: QueryUnit) -> str:
    return any_of(all_of(map(lexeme, dict.fromkeys(phrase))) for _, phrase in unit.phrases)


def _strong_query(unit: RowUnit) -> str:
    """The `tsquery` of the tools that have one of the unit's phrases where it counts most."""
    phrases = (phrase for _, phrase in unit.unit.phrases)
    return any_of(all_of(lexeme(f"^{term}") for term in dict.fromkeys(each)) for each in phrases)


def _demanded(units: Sequence[RowUnit], weights: Sequence[float], demand: Demand) -> str | None:
    """The `tsquery` of the tools that match the units as demanded, as `TextIndex.match` finds them; None for none."""
    total = sum(weights) or 1.0
    parts = [(weight / total, unit.query) for unit, weight in zip(units, weights, strict=True) if weight]
    if not parts or (demand == "every" and len(parts) < len(units)):
        return None
    queries = [query for _, query in parts]
    if demand == "every" or len(parts) == 1:
        return all_of(queries)
    if demand == "any":
        return any_of(queries)
    heavy = [query for share, query in parts if share >= HEAVY]
    return any_of(heavy or (all_of(pair) for pair in combinations(queries, 2)))


def unit_groups(
    units: Sequence[RowUnit], weights: Sequence[float], demand: Demand, query: str
) -> list[tuple[str, int]]:
    """The tools that match the units as demanded, by the units that they match: each group with its share of the
    query's weight, in 1/64, the greatest first. Only the heaviest units count.
    """
    if demand == "every":
        return [(query, 1)]
    parts = [(share, unit.query) for unit, share in zip(units, whole_shares(weights), strict=True) if share]
    parts.sort(reverse=True)
    lighter, parts = parts[_GROUPED:], parts[:_GROUPED]
    groups: list[tuple[str, int]] = []
    for size in range(len(parts), -1, -1):
        for chosen in combinations(parts, size):
            rest = [part for part in parts if part not in chosen]
            queries = [query, *(each for _, each in chosen)]
            if rest:
                queries.append(none_of(each for _, each in rest))
            if size or lighter:
                groups.append((all_of(queries), sum(share for share, _ in chosen)))
    return sorted(groups, key=lambda group: group[1], reverse=True)
