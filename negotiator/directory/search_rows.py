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
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from sqlalchemy import BigInteger, Float, Integer, LargeBinary, String, bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY, REAL

from negotiator.store.statement import Query, Statement, Transaction

FORM: Final = 1
"""Raised when the rows of the same tools become others; a worker makes rows of a smaller form anew."""
BATCH: Final = 250
"""Tools whose rows are put in one transaction."""
_SEPARATOR: Final = "\x1f"
_TYPES: Final[Mapping[str, Any]] = {
    **dict.fromkeys(
        ("words", "filters", "key", "model", "after", "field", "sound", "prefix", "query"), String
    ),
    **dict.fromkeys(("since", "value", "seq"), BigInteger),
    **dict.fromkeys(("limit", "form", "least", "longest", "letters", "edits"), Integer),
    "rank": Float(53),
    **dict.fromkeys(("also", "besides", "statuses", "ids", "queries", "names"), ARRAY(String)),
    **dict.fromkeys(
        ("stati", "facets", "terms", "fields", "known", "sounds", "vectors"), ARRAY(String)
    ),
    **dict.fromkeys(("seqs", "saves", "proven", "created", "updated"), ARRAY(BigInteger)),
    **dict.fromkeys(("masks",), ARRAY(Integer)),
    **dict.fromkeys(("factors",), ARRAY(Float(53))),
    **dict.fromkeys(("standings", "worths", "vector"), ARRAY(REAL)),
    **dict.fromkeys(("digests", "postings"), ARRAY(LargeBinary)),
}
_PARAMETER: Final = re.compile("(?<!:):([a-z]+)([0-9]*)")


def _statement(sql: str) -> Any:
    names = dict.fromkeys(_PARAMETER.findall(sql))
    numbered: Mapping[str, Any] = {"unit": String, "share": Integer}
    return text(sql).bindparams(
        *(
            bindparam(f"{name}{number}", type_=(numbered if number else _TYPES)[name])
            for name, number in names
        )
    )


_PLANNED: Final = Query(
    text(
        "select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('jit', 'off', true)"
    ),
    tuple,
)
"""For the rest of the transaction: how a search is best done depends on its words; compiling it takes longer."""
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
_COUNT = Query(
    _statement(f"select count(*) from tool_search s where {_SCOPE}"),  # noqa: S608  the text above
    lambda row: int(row[0]),
)
_FACET = Query(
    _statement(
        f"""
        select substr(f.value, length(:prefix) + 1), count(*)
        from tool_search s cross join unnest(s.facets) as f (value)
        where starts_with(f.value, :prefix) and {_SCOPE}
        group by 1 order by 2 desc, min(f.value) collate "C" limit :limit
        """  # noqa: S608  the text above
    ),
    lambda row: (str(row[0]), int(row[1])),
)
_CHANGED = Query(
    _statement(
        """
        select substr(f.value, length(:prefix) + 1), max(s.updated)
        from tool_search s cross join unnest(s.facets) as f (value)
        where starts_with(f.value, :prefix) group by 1
        """
    ),
    lambda row: (str(row[0]), int(row[1])),
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
    _statement("select name from tool_search where terms @@ cast(:query as tsquery)"),
    lambda row: str(row[0]),
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
_ROWS = """
    select s.tool, s.factor, s.standing, s.worth, s.updated, s.postings, {likeness}
    from tool_search s {vectors} where s.tool = any(:ids)
"""
_LIKENESS: Final = "-(cast(v.embedding as vector) <#> cast(cast(:vector as real[]) as vector))"
_READ = Query(_statement(_ROWS.format(likeness="0", vectors="")), lambda row: FoundToolRow(*row))
_READ_WITH_LIKENESS = Query(
    _statement(
        _ROWS.format(
            likeness=f"coalesce({_LIKENESS}, 0)",
            vectors="left join tool_vectors v on v.tool = s.tool and v.model = :model",
        )
    ),
    lambda row: FoundToolRow(*row),
)
_NEAREST = Query(
    _statement(
        f"""
        select s.tool, {_LIKENESS} from tool_vectors v join tool_search s on s.tool = v.tool
        where v.model = :model and {_SCOPE}
        order by v.embedding <=> cast(cast(:vector as real[]) as halfvec), s.tool limit :limit
        """  # noqa: S608  the text above
    ),
    lambda row: (str(row[0]), max(0.0, float(row[1]))),
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
    text(
        "select (select count(*) from tool_search where waits), (select count(*) from tool_search)"
    ),
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
}


def _in_order(expression: str, parameter: str, *, descending: bool = True) -> Any:
    """The tools in scope by this expression and then by id, after a position."""
    sign, way = ("<", "desc") if descending else (">", "")
    return _statement(
        f"""
        select s.tool, {expression} from tool_search s where {_SCOPE}
            and (cast(:key as varchar) is null or ({expression}, s.tool) {sign} (:{parameter}, :key))
            and s.tool <> all(:besides)
        order by {expression} {way}, s.tool {way} limit :limit
        """  # noqa: S608  names of columns
    )


_PLACE = tuple[str, Any]


def _placed(row: Sequence[Any]) -> _PLACE:
    return str(row[0]), row[1]


_SORTED: Final = {
    **{sort: Query(_in_order(f"s.{name}", "value"), _placed) for sort, name in _COLUMNS.items()},
    "name": Query(_in_order("s.name", "prefix", descending=False), _placed),
}


@cache
def _ranked(units: int) -> Query[_PLACE]:
    """The tools in scope by the shares of the units that they match, times their factor."""
    shares = [
        f"case when s.terms @@ cast(:unit{place} as tsquery) then :share{place} else 0 end"
        for place in range(units)
    ]
    expression = f"({' + '.join(shares)}) * s.factor" if shares else "s.factor"
    return Query(_in_order(expression, "rank"), _placed)


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


def count(tx: Transaction, scope: RowScope) -> int:
    """The number of tools in scope."""
    return tx.one(_COUNT, **scope.values) or 0


def facet_counts(tx: Transaction, scope: RowScope, facet: str, most: int) -> list[tuple[str, int]]:
    """The most frequent values of a facet with their counts; ties in alphabetical order."""
    return tx.all(_FACET, prefix=f"{facet}:", limit=most, **scope.values)


def newest(tx: Transaction, facet: str) -> dict[str, int]:
    """For each value of a facet when a tool with it last changed."""
    return dict(tx.all(_CHANGED, prefix=f"{facet}:"))


def first_named(tx: Transaction, queries: Sequence[str], statuses: Sequence[str]) -> str | None:
    """The oldest tool that matches the first of these that any matches."""
    return tx.one(_NAMED, queries=queries, statuses=statuses)


def names(tx: Transaction, query: str) -> list[str]:
    """The names of the tools that match."""
    return tx.all(_NAMES, query=query)


def near_words(
    tx: Transaction, field: str, word: str, *, sound: str, letters: int, edits: int
) -> list[str]:
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


def read(
    tx: Transaction, ids: Sequence[str], *, model: str, vector: Sequence[float] | None
) -> list[FoundToolRow]:
    """The rows of these tools, in no order, with their cosines with a vector of this model."""
    if vector is None:
        return tx.all(_READ, ids=ids)
    return tx.all(_READ_WITH_LIKENESS, ids=ids, model=model, vector=vector)


def nearest(
    tx: Transaction, scope: RowScope, vector: Sequence[float], *, model: str, limit: int
) -> list[tuple[str, float]]:
    """The tools in scope closest to a vector in half precision, and their cosines, at least 0."""
    return tx.all(_NEAREST, model=model, vector=vector, limit=limit, **scope.values)


def in_order(
    tx: Transaction, scope: RowScope, sort: str, *, after: tuple[Any, str] | None, limit: int
) -> list[_PLACE]:
    """The tools in scope in an order, with what they are ordered by, after such a position."""
    value, key = after or (None, None)
    named = {"prefix" if sort == "name" else "value": value}
    return tx.all(_SORTED[sort], key=key, besides=(), limit=limit, **named, **scope.values)


def ranked(
    tx: Transaction,
    scope: RowScope,
    shares: Sequence[tuple[str, int]],
    *,
    after: tuple[float, str] | None = None,
    besides: Sequence[str] = (),
    limit: int,
) -> list[_PLACE]:
    """The tools in scope by the shares of the units that they match times their factor, after such a position.

    Without shares by their factor alone. Each unit is its query; tools of `besides` are left out.
    """
    units = {f"unit{place}": query for place, (query, _) in enumerate(shares)}
    numbers = {f"share{place}": share for place, (_, share) in enumerate(shares)}
    rank, key = after or (None, None)
    return tx.all(
        _ranked(len(shares)),
        **{"rank": rank, "key": key, "besides": besides, "limit": limit},
        **units,
        **numbers,
        **scope.values,
    )


def waiting(tx: Transaction, *, after: str, limit: int) -> list[tuple[str, bytes]]:
    """The next tools that wait for their vector, by id, with the digests of their texts."""
    return tx.all(_WAITING, after=after, limit=limit)


def count_waiting(tx: Transaction) -> tuple[int, int]:
    """How many tools wait for their vector, and how many tools have rows."""
    return tx.one(_WAIT) or (0, 0)


def put_vectors(
    tx: Transaction, model: str, vectors: Sequence[tuple[str, bytes, Sequence[float]]]
) -> None:
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
    return f"({' | '.join(queries)})"


def all_of(queries: Iterable[str]) -> str:
    """The `tsquery` of what matches all of these."""
    return f"({' & '.join(queries)})"
