"""The rows by which PostgreSQL searches the catalogue: for each tool its terms, its facts and its sentence vector.

`tool_search` follows the feed of changes, whichever version of the program wrote them: the greatest `seq` in it says
how far. Its rows are put in the order of that number, so that none before it is missing. `form` says by which reading
of tools a row was made. `terms` has the stems of the tool's words, `^stem` of those in its name or tags, and for
filters `=facet:value` and `=name`; `postings` has the fields of each word. `tool_words` has the words and names that
misspelt ones are compared with, `tool_vectors` the vectors, where the server has pgvector. The tables:
`store.migrations.tool_search`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from sqlalchemy import BigInteger, Float, Integer, LargeBinary, String, bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY, REAL

from negotiator.store.statement import Query, Statement, Transaction

FORM: Final = 2
"""Raised when the rows of the same tools become others; a worker makes rows of a smaller form anew."""
BATCH: Final = 250
"""Tools whose rows are put in one transaction."""
_SEPARATOR: Final = "\x1f"
_TYPES: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("words", "filters", "key", "model", "after", "field", "sound", "prefix", "query"), String),
    **dict.fromkeys(("since", "value", "seq"), BigInteger),
    **dict.fromkeys(("limit", "form", "least", "longest", "letters", "edits", "share", "place"), Integer),
    **dict.fromkeys(("rank", "threshold"), Float(53)),
    **dict.fromkeys(("also", "besides", "statuses", "ids", "queries", "names"), ARRAY(String)),
    **dict.fromkeys(("stati", "facets", "terms", "fields", "known", "sounds", "vectors"), ARRAY(String)),
    **dict.fromkeys(("seqs", "saves", "proven", "created", "updated"), ARRAY(BigInteger)),
    **dict.fromkeys(("masks",), ARRAY(Integer)),
    **dict.fromkeys(("factors",), ARRAY(Float(53))),
    **dict.fromkeys(("standings", "worths", "vector"), ARRAY(REAL)),
    **dict.fromkeys(("digests", "postings"), ARRAY(LargeBinary)),
}
_PARAMETER: Final = re.compile("(?<!:):([a-z]+)")


def _statement(sql: str) -> Any:
    names = dict.fromkeys(_PARAMETER.findall(sql))
    return text(sql).bindparams(*(bindparam(name, type_=_TYPES[name]) for name in names))


_PLANNED: Final = Query(
    text(
        """
        select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('jit', 'off', true),
            set_config('cpu_operator_cost', '0.1', true), set_config('max_parallel_workers_per_gather', '0', true),
            set_config('hnsw.ef_search', '400', true)
        """
    ),
    tuple,
)
"""For the rest of the transaction: how a search is best done depends on its words; to compile it, or to start processes
for it, takes longer; and to read the terms of a row, which are stored beside it, costs more than the planner assumes.
"""
_SCOPE: Final = """
    (cast(:words as tsquery) is null or s.terms @@ cast(:words as tsquery) or s.tool = any(:also))
    and (cast(:filters as tsquery) is null or s.terms @@ cast(:filters as tsquery))
    and (cast(:statuses as varchar[]) is null or s.status = any(:statuses))
    and (cast(:since as bigint) is null or s.updated >= :since)
"""
_STATE = Query(
    text(
        """
        select coalesce((select max(seq) from tool_changes), 0), coalesce((select max(seq) from tool_search), 0)
        """
    ),
    lambda row: (int(row[0]), int(row[1])),
)
_EXIST = Query(
    text("select to_regclass('tool_search') is not null, to_regclass('tool_vectors') is not null"),
    lambda row: (bool(row[0]), bool(row[1])),
)
_AFTER = Query(
    _statement(
        """
        select seq, id, status, saves, document, created_at, updated_at from tools
        where seq > :seq order by seq limit :limit
        """
    ),
    tuple,
)
_OUTDATED = Query(
    _statement(
        """
        select t.seq, t.id, t.status, t.saves, t.document, t.created_at, t.updated_at
        from (select tool, seq from tool_search where form < :form limit :limit) s
        join tools t on t.seq = s.seq
        """
    ),
    tuple,
)
_PUT = Statement(
    _statement(
        """
        insert into tool_search
        select n.tool, n.seq, :form, n.status, n.name, n.saves, n.proven, n.created, n.updated, n.factor, n.standing,
            n.worth, n.digest, true, string_to_array(n.facets, chr(31)),
            array_to_tsvector(cast(string_to_array(n.terms, chr(31)) as text[])), n.postings
        from unnest(:ids, :seqs, :stati, :names, :saves, :proven, :created, :updated, :factors, :standings, :worths,
            :digests, :facets, :terms, :postings) as n (tool, seq, status, name, saves, proven, created, updated,
            factor, standing, worth, digest, facets, terms, postings)
        on conflict (tool) do update set
            seq = excluded.seq, form = excluded.form, status = excluded.status, name = excluded.name,
            saves = excluded.saves, proven = excluded.proven, created = excluded.created, updated = excluded.updated,
            factor = excluded.factor, standing = excluded.standing, worth = excluded.worth, digest = excluded.digest,
            waits = tool_search.waits or tool_search.digest <> excluded.digest,
            facets = excluded.facets, terms = excluded.terms, postings = excluded.postings
        where excluded.seq > tool_search.seq
            or (excluded.seq = tool_search.seq and excluded.form > tool_search.form)
        """
    )
)
_LEARN = Statement(
    _statement(
        """
        insert into tool_words select * from unnest(:fields, :known, :sounds, :masks) on conflict do nothing
        """
    )
)
_SAMPLED: Final = f"{_SCOPE} and get_byte(s.digest, 0) < 4"
"""One of 64 tools in scope; the index `ix_tool_search_sample` has no others."""
_TOOLS_PER_SAMPLE: Final = 64
LEAST_ESTIMATE: Final = 256 * _TOOLS_PER_SAMPLE
"""A smaller number is counted."""
_COUNT = Query(
    _statement(f"select count(*) from tool_search s where {_SCOPE}"),  # noqa: S608  the text above
    lambda row: int(row[0]),
)
_ESTIMATE = Query(
    _statement(
        f"""
        select case when tools < {LEAST_ESTIMATE} then (select count(*) from tool_search s where {_SCOPE})
            else tools end
        from (select count(*) * {_TOOLS_PER_SAMPLE} as tools from tool_search s where {_SAMPLED}) sample
        """  # noqa: S608  the text above
    ),
    lambda row: int(row[0]),
)
_FACET_ROWS: Final = """
    select name, value, tools from (
        select split_part(f.value, ':', 1) as name, substr(f.value, strpos(f.value, ':') + 1) as value,
            count(*) * {times} as tools, row_number() over (
                partition by split_part(f.value, ':', 1) order by count(*) desc, f.value collate "C"
            ) as place
        from tool_search s cross join unnest(s.facets) as f (value)
        where split_part(f.value, ':', 1) = any(:names) and {scope}
        group by f.value
    ) c
    where place <= :limit order by name, place
"""
_FACETS, _ESTIMATED_FACETS = (
    Query(_statement(_FACET_ROWS.format(times=times, scope=scope)), lambda row: (str(row[0]), str(row[1]), int(row[2])))
    for times, scope in ((1, _SCOPE), (_TOOLS_PER_SAMPLE, _SAMPLED))
)
_TERM_USES = Query(
    _statement(
        """
        select w.query, count(*) filter (where s.status = any(:statuses)), max(s.updated)
        from unnest(:queries) as w (query) join tool_search s on s.terms @@ cast(w.query as tsquery)
        group by w.query
        """
    ),
    lambda row: (str(row[0]), TermUse(int(row[1]), int(row[2]))),
)
_NAMED = Query(
    _statement(
        """
        select min(s.tool) from unnest(:queries) with ordinality as w (query, place)
        join tool_search s on s.terms @@ cast(w.query as tsquery)
        where s.status = any(:statuses) group by w.place order by w.place limit 1
        """
    ),
    lambda row: str(row[0]),
)
_NAMES = Query(
    _statement("select name from tool_search where terms @@ cast(:query as tsquery)"), lambda row: str(row[0])
)
_NEAR_WORDS = Query(
    # An error changes at most two letters of the set that a word has.
    _statement(
        """
        select word from tool_words where field = :field and sound = :sound
        union
        select word from tool_words
        where field = :field and length(word) between :least and :longest
            and bit_count(cast(letters # :letters as bit(32))) <= 2 * :edits
        """
    ),
    lambda row: str(row[0]),
)
_LIKENESS: Final = "-(cast(v.embedding as vector) <#> cast(cast(:vector as real[]) as vector))"
_WITHOUT_LIKENESS: Final = {"likeness": "0", "vectors": ""}
_WITH_LIKENESS: Final = {
    "likeness": f"coalesce({_LIKENESS}, 0)",
    "vectors": "left join tool_vectors v on v.tool = s.tool and v.model = :model",
}
_ROWS = """
    select s.tool, s.factor, s.standing, s.worth, s.updated, s.postings, {likeness}
    from tool_search s {vectors} where s.tool = any(:ids)
"""
_READ, _READ_WITH_LIKENESS = (
    Query(_statement(_ROWS.format(**likeness)), lambda row: FoundToolRow(*row))
    for likeness in (_WITHOUT_LIKENESS, _WITH_LIKENESS)
)
_RANK_IS_LATER: Final = """
    (cast(:key as varchar) is null or (:share * s.factor, s.tool) < (:rank, :key)) and s.tool <> all(:besides)
"""
_THRESHOLD: Final = Query(
    _statement(
        f"""
        select factor from (
            select s.factor from tool_search s where {_SAMPLED} and {_RANK_IS_LATER} offset 0
        ) s
        order by factor desc offset :place limit 1
        """  # noqa: S608  the text above
    ),
    lambda row: float(row[0]),
)
_RANKED_ROWS: Final = f"""
    select s.tool, s.factor, s.standing, s.worth, s.updated, s.postings, {{likeness}}, s.rank
    from (
        select s.tool, s.factor, s.standing, s.worth, s.updated, s.postings, :share * s.factor as rank
        from tool_search s where {_SCOPE} and {_RANK_IS_LATER}
            and (cast(:threshold as float) is null or s.factor >= :threshold)
        order by rank desc, s.tool desc limit :limit
    ) s {{vectors}}
"""  # noqa: S608  the text above
_RANKED, _RANKED_WITH_LIKENESS = (
    Query(_statement(_RANKED_ROWS.format(**likeness)), lambda row: (float(row[7]), FoundToolRow(*row[:7])))
    for likeness in (_WITHOUT_LIKENESS, _WITH_LIKENESS)
)
_NEAREST_ROWS: Final = f"""
    select s.tool, {_LIKENESS} from tool_vectors v join tool_search s on s.tool = v.tool
    where v.model = :model and {_SCOPE}
    order by {{distance}} limit :limit
"""  # noqa: S608  the text above
_NEAREST, _NEARLY_NEAREST = (
    Query(_statement(_NEAREST_ROWS.format(distance=distance)), lambda row: (str(row[0]), max(0.0, float(row[1]))))
    for distance in (
        "v.embedding <=> cast(cast(:vector as real[]) as halfvec), s.tool",
        # As the index `ix_tool_vectors_embedding` has it.
        "cast(v.embedding as halfvec(384)) <=> cast(cast(:vector as real[]) as halfvec(384))",
    )
)
_WAITING = Query(
    _statement(
        """
        select tool, digest from tool_search where waits and tool > :after order by tool limit :limit
        """
    ),
    lambda row: (str(row[0]), bytes(row[1])),
)
_WAIT = Query(
    text("select (select count(*) from tool_search where waits), (select count(*) from tool_search)"),
    lambda row: (int(row[0]), int(row[1])),
)
_PUT_VECTORS = Statement(
    _statement(
        """
        insert into tool_vectors select n.tool, :model, n.digest, cast(n.vector as halfvec)
        from unnest(:ids, :digests, :vectors) as n (tool, digest, vector)
        on conflict (tool) do update set
            model = excluded.model, digest = excluded.digest, embedding = excluded.embedding
        """
    )
)
_HAVE_VECTORS = Statement(
    _statement(
        """
        update tool_search s set waits = false from unnest(:ids, :digests) as n (tool, digest)
        where s.tool = n.tool and s.digest = n.digest
        """
    )
)
_COLUMNS: Final = {
    "popularity": "saves",
    "proven": "proven",
    "updated": "updated",
    "created": "created",
    "name": "name",
}
_PLACE = tuple[str, Any]


def _in_order(column: str, *, is_found: bool) -> Query[_PLACE]:
    """The tools in scope by this column and then by id, after a position: by its index, unless terms find them."""
    parameter, sign, way = ("prefix", ">", "") if column == "name" else ("value", "<", "desc")
    return Query(
        _statement(
            f"""
            select s.tool, s.{column}
            from (select * from tool_search s where {_SCOPE} {"offset 0" if is_found else ""}) s
            where cast(:key as varchar) is null or (s.{column}, s.tool) {sign} (:{parameter}, :key)
            order by s.{column} {way}, s.tool {way} limit :limit
            """  # noqa: S608  names of columns
        ),
        lambda row: (str(row[0]), row[1]),
    )


_SORTED: Final = {
    (sort, is_found): _in_order(column, is_found=is_found)
    for sort, column in _COLUMNS.items()
    for is_found in (False, True)
}


class TermUse(NamedTuple):
    """How many visible tools have a term, and when a tool that has it last changed."""

    tools: int
    updated: int


@dataclass(frozen=True, slots=True)
class FoundToolRow:
    """What the rank of a found tool needs; `likeness` is its cosine with the query, 0 for none."""

    tool: str
    factor: float
    standing: float
    worth: float
    updated: int
    postings: bytes
    likeness: float


@dataclass(frozen=True, slots=True)
class SearchRow:
    """A tool's row: what `tool_search` has of it, and its words and names by how `tool_words` knows them."""

    tool: str
    seq: int
    status: str
    name: str
    saves: int
    proven: int
    created: int
    updated: int
    factor: float
    standing: float
    worth: float
    digest: bytes
    facets: Sequence[str]
    terms: Iterable[str]
    postings: bytes
    known: Iterable[tuple[str, str, str, int]]
    """Each as the field, the word, its sound and its letters."""


@dataclass(frozen=True, slots=True)
class RowScope:
    """The tools that match `words` or are among `also`, and match `filters`, have a status and have changed since; None
    for any.
    """

    words: str | None = None
    also: Sequence[str] = ()
    filters: str | None = None
    statuses: Sequence[str] | None = None
    since: int | None = None

    @property
    def values(self) -> dict[str, Any]:
        return {
            "words": self.words,
            "also": self.also,
            "filters": self.filters,
            "statuses": self.statuses,
            "since": self.since,
        }


def exist(tx: Transaction) -> tuple[bool, bool]:
    """Whether the database has the rows, and whether it can have vectors."""
    return tx.one(_EXIST) or (False, False)


def state(tx: Transaction) -> tuple[int, int]:
    """The number of the last change, and of the last one that has rows."""
    return tx.one(_STATE) or (0, 0)


def tools_after(tx: Transaction, seq: int) -> list[tuple[Any, ...]]:
    """The next tools that changed after a number, as `ChangedTool` has them."""
    return tx.all(_AFTER, seq=seq, limit=BATCH)


def outdated_tools(tx: Transaction) -> list[tuple[Any, ...]]:
    """Some tools with rows of a smaller form."""
    return tx.all(_OUTDATED, form=FORM, limit=BATCH)


def put(tx: Transaction, rows: Sequence[SearchRow]) -> None:
    """Store rows, except those that are older than what is there."""
    tx.run(
        _PUT,
        form=FORM,
        ids=[row.tool for row in rows],
        seqs=[row.seq for row in rows],
        stati=[row.status for row in rows],
        names=[row.name for row in rows],
        saves=[row.saves for row in rows],
        proven=[row.proven for row in rows],
        created=[row.created for row in rows],
        updated=[row.updated for row in rows],
        factors=[row.factor for row in rows],
        standings=[row.standing for row in rows],
        worths=[row.worth for row in rows],
        digests=[row.digest for row in rows],
        facets=[_SEPARATOR.join(row.facets) for row in rows],
        terms=[_SEPARATOR.join(row.terms) for row in rows],
        postings=[row.postings for row in rows],
    )
    known = sorted({each for row in rows for each in row.known})
    if known:
        fields, words, sounds, masks = zip(*known, strict=True)
        tx.run(_LEARN, fields=fields, known=words, sounds=sounds, masks=masks)


def plan_each(tx: Transaction) -> None:
    """Let the statements of this transaction be planned for their values."""
    tx.all(_PLANNED)


def count(tx: Transaction, scope: RowScope, *, is_estimate: bool = False) -> int:
    """The number of tools in scope; as an estimate, of 16,384 and more, 64 times those in the sample."""
    return tx.one(_ESTIMATE if is_estimate else _COUNT, **scope.values) or 0


def facet_counts(
    tx: Transaction, scope: RowScope, facets: Sequence[str], most: int, *, is_estimate: bool = False
) -> dict[str, list[tuple[str, int]]]:
    """Of each facet the most frequent values with their counts, or with 64 times those in the sample; ties in
    alphabetical order.
    """
    found: dict[str, list[tuple[str, int]]] = {facet: [] for facet in facets}
    for facet, value, tools in tx.all(
        _ESTIMATED_FACETS if is_estimate else _FACETS, names=facets, limit=most, **scope.values
    ):
        found[facet].append((value, tools))
    return found


def term_uses(tx: Transaction, queries: Sequence[str], statuses: Sequence[str]) -> dict[str, TermUse]:
    """Of each of these `tsquery`s how many tools of these statuses match it; those that no tool matches are missing."""
    return dict(tx.all(_TERM_USES, queries=queries, statuses=statuses))


def first_named(tx: Transaction, queries: Sequence[str], statuses: Sequence[str]) -> str | None:
    """The oldest tool that matches the first of these that any matches."""
    return tx.one(_NAMED, queries=queries, statuses=statuses)


def names(tx: Transaction, query: str) -> list[str]:
    """The names of the tools that match."""
    return tx.all(_NAMES, query=query)


def near_words(tx: Transaction, field: str, word: str, *, sound: str, letters: int, edits: int) -> list[str]:
    """Every known word within so many errors of a word, those that sound alike, and some others."""
    return tx.all(
        _NEAR_WORDS,
        field=field,
        sound=sound,
        letters=letters,
        edits=edits,
        least=len(word) - edits,
        longest=len(word) + edits,
    )


def read(tx: Transaction, ids: Sequence[str], *, model: str, vector: Sequence[float] | None) -> list[FoundToolRow]:
    """The rows of these tools, in no order, with their cosines with a vector of this model."""
    if vector is None:
        return tx.all(_READ, ids=ids)
    return tx.all(_READ_WITH_LIKENESS, ids=ids, model=model, vector=vector)


def nearest(
    tx: Transaction, scope: RowScope, vector: Sequence[float], *, model: str, limit: int, is_exact: bool
) -> list[tuple[str, float]]:
    """The tools in scope closest to a vector in half precision, and their cosines, at least 0; unless `is_exact`, by an
    index that misses some.
    """
    query = _NEAREST if is_exact else _NEARLY_NEAREST
    return tx.all(query, model=model, vector=vector, limit=limit, **scope.values)


def in_order(tx: Transaction, scope: RowScope, sort: str, *, after: tuple[Any, str] | None, limit: int) -> list[_PLACE]:
    """The tools in scope in an order, with what they are ordered by, after such a position."""
    value, key = after or (None, None)
    named = {"prefix" if sort == "name" else "value": value}
    query = _SORTED[sort, scope.words is not None or scope.filters is not None]
    return tx.all(query, key=key, limit=limit, **named, **scope.values)


def ranked(
    tx: Transaction,
    scope: RowScope,
    groups: Sequence[tuple[str, int]],
    *,
    highest: float,
    are_many: bool,
    model: str,
    vector: Sequence[float] | None,
    after: tuple[float, str] | None = None,
    besides: Sequence[str] = (),
    limit: int,
) -> list[tuple[float, FoundToolRow]]:
    """The tools in scope by the share of their group times their factor, with that, after such a position.

    The groups are `tsquery`s of which no two match the same tool, each with its share, the greatest first. `highest` is
    more than any tool's factor: a group that can have none of the first is not asked for. Of `are_many` only those are
    read that have a factor which, by the sample, more than enough have. Those `besides` are left out.
    """
    found: list[tuple[float, FoundToolRow]] = []
    rank, key = after or (None, None)
    query, likeness = _RANKED, dict[str, Any]()
    if vector is not None:
        query, likeness = _RANKED_WITH_LIKENESS, {"model": model, "vector": vector}
    for words, share in groups:
        if len(found) == limit and share * highest < found[-1][0]:
            break
        among = replace(scope, words=words if scope.words is None else all_of((words, scope.words)))
        asked = {"share": share, "rank": rank, "key": key, "besides": besides, **among.values}
        # Three standard deviations more than are wanted.
        place = 2 * limit // _TOOLS_PER_SAMPLE + 6
        threshold = tx.one(_THRESHOLD, place=place, **asked) if are_many else None
        rows = tx.all(query, threshold=threshold, limit=limit, **asked, **likeness)
        if threshold is not None and len(rows) < limit:
            rows = tx.all(query, threshold=None, limit=limit, **asked, **likeness)
        found += rows
        found.sort(key=lambda place: (place[0], place[1].tool), reverse=True)
        del found[limit:]
    return found


def waiting(tx: Transaction, *, after: str, limit: int) -> list[tuple[str, bytes]]:
    """The next tools that wait for their vector, by id, with the digests of their texts."""
    return tx.all(_WAITING, after=after, limit=limit)


def count_waiting(tx: Transaction) -> tuple[int, int]:
    """How many tools wait for their vector, and how many tools have rows."""
    return tx.one(_WAIT) or (0, 0)


def put_vectors(tx: Transaction, model: str, vectors: Sequence[tuple[str, bytes, Sequence[float]]]) -> None:
    """Store the vectors of tools, each with the digest of its texts."""
    ids, digests = [tool for tool, _, _ in vectors], [digest for _, digest, _ in vectors]
    written = [str(list(vector)) for _, _, vector in vectors]
    tx.run(_PUT_VECTORS, model=model, ids=ids, digests=digests, vectors=written)
    tx.run(_HAVE_VECTORS, ids=ids, digests=digests)


def lexeme(term: str) -> str:
    """A term in a `tsquery`; no tool has one with U+0000, which PostgreSQL does not take."""
    written = term.replace("\0", _SEPARATOR).replace("\\", "\\\\").replace("'", "''")
    return f"'{written}'"


def any_of(queries: Iterable[str]) -> str:
    """The `tsquery` of what matches any of these."""
    return _joined(" | ", queries)


def all_of(queries: Iterable[str]) -> str:
    """The `tsquery` of what matches all of these."""
    return _joined(" & ", queries)


def none_of(queries: Iterable[str]) -> str:
    """The `tsquery` of what matches none of these."""
    return f"!{any_of(queries)}"


def _joined(operator: str, queries: Iterable[str]) -> str:
    first, *others = queries
    return f"({operator.join((first, *others))})" if others else first
