"""The rows by which PostgreSQL searches memories: a vector in half precision, and terms, of each memory.

`memory_search` follows `memories` by the owner's counter. A new memory gets its row in the same transaction; the rows
of those that were changed since, or stored by a version that knew no rows, are put by the owner's next search. A row
goes with its memory by its foreign key. `memory_search_owners` has the counter up to which an owner's rows are there.
The tables exist only where pgvector does (`store.migrations.memory_search`).

A term is stored with a prefix of its owner's, so that a look-up of a term reads one owner's rows.
"""

import base64
import hashlib
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import ARRAY, REAL, BigInteger, Boolean, Float, Integer, String, bindparam, text

from negotiator.store.statement import Query, Statement, Transaction

NO_EXPIRY: Final = 2**62
BATCH: Final = 500
"""Memories whose rows are put in one transaction."""
_PREFIX_BYTES: Final = 6
_PREFIX_LENGTH: Final = _PREFIX_BYTES * 4 // 3
EQUAL_FIELDS: Final = {
    "kind": "kind",
    "category": "category",
    "counterparty": "counterparty",
    "negotiation_id": "negotiation",
}
"""The members of a filter that are columns of text, with their columns."""

_TYPES: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("owner", "after", "current", "prefix", "start", *EQUAL_FIELDS.values()), String),
    **dict.fromkeys(("stamp", "now", "never"), BigInteger),
    **dict.fromkeys(("limit", "from_letter", "dimensions", "words"), Integer),
    **dict.fromkeys(("saturation", "shortness"), Float),
    **dict.fromkeys(("ids", "statuses", "models", "allowed"), ARRAY(String)),
    **dict.fromkeys(("terms", "vectors", "repeated"), ARRAY(String)),
    "stamps": ARRAY(BigInteger),
    "documents": Boolean,
    **dict.fromkeys(("lengths", "places"), ARRAY(Integer)),
    **dict.fromkeys(("vector", "weights"), ARRAY(REAL)),
}


_PARAMETER: Final = re.compile(":([a-z_]+)")


def _statement(sql: str) -> Any:
    names = dict.fromkeys(_PARAMETER.findall(sql))
    return text(sql).bindparams(*(bindparam(name, type_=_TYPES[name]) for name in names))


@dataclass(frozen=True, slots=True)
class FoundRow:
    """What the order of a found memory needs."""

    id: str
    stamp: int
    document: bytes
    model: str
    vector: bytes
    trust: int
    pinned: bool
    kind: str
    created_at: int


_EXISTS = Query(text("select to_regclass('memory_search') is not null"), lambda row: bool(row[0]))
_STATE = Query(
    _statement(
        """
        select o.stamp, coalesce(s.stamp, 0), exists (
            select from memory_search m
            where m.owner = o.owner and (m.model < :current or m.model > :current)
        )
        from memory_owners o left join memory_search_owners s on s.owner = o.owner
        where o.owner = :owner
        """
    ),
    tuple,
)
_BEHIND = Query(
    _statement(
        """
        select o.owner from memory_owners o left join memory_search_owners s on s.owner = o.owner
        where o.owner > :after and coalesce(s.stamp, 0) < o.stamp order by o.owner limit :limit
        """
    ),
    lambda row: str(row[0]),
)
_CHANGED = Query(
    _statement(
        """
        select id, stamp, vector, document from memories
        where owner = :owner and stamp > :stamp order by stamp, id limit :limit
        """
    ),
    tuple,
)
_PUT = Statement(
    _statement(
        """
        insert into memory_search
        select n.memory, m.owner, m.stamp, m.status, coalesce(m.expires_at, :never), m.model,
            cast(n.vector as halfvec), n.length, string_to_array(n.terms, ' '), cast(n.repeated as jsonb)
        from unnest(:ids, :stamps, :vectors, :lengths, :terms, :repeated)
            as n (memory, stamp, vector, length, terms, repeated)
        join memories m on m.id = n.memory and m.owner = :owner and m.stamp = n.stamp
        on conflict (memory) do update set
            owner = excluded.owner, stamp = excluded.stamp, status = excluded.status,
            expires_at = excluded.expires_at, model = excluded.model, embedding = excluded.embedding,
            length = excluded.length, terms = excluded.terms, repeated = excluded.repeated
        """
    )
)
_REACHED = Statement(
    _statement(
        """
        insert into memory_search_owners values (:owner, :stamp)
        on conflict (owner) do update set stamp = greatest(memory_search_owners.stamp, excluded.stamp)
        """
    )
)
_FOLLOWED = Statement(
    _statement(
        """
        insert into memory_search_owners
        select o.owner, o.stamp from memory_owners o left join memory_search_owners s on s.owner = o.owner
        where o.owner = :owner and o.stamp = :stamp and coalesce(s.stamp, 0) = o.stamp - 1
        on conflict (owner) do update set stamp = excluded.stamp
        """
    )
)
_NEAREST = Query(
    # The sum keeps the planner from any index on vectors: all of the owner's are compared.
    _statement(
        """
        select memory from memory_search
        where owner = :owner and status = any(:statuses) and expires_at > :now and model = any(:models)
            and vector_dims(embedding) = :dimensions
            and (:allowed is null or memory = any(:allowed))
        order by embedding <=> cast(:vector as halfvec), stamp limit :limit
        """
    ),
    lambda row: str(row[0]),
)
_WITHOUT_JIT = Query(text("select set_config('jit', 'off', true)"), tuple)
"""For the rest of the transaction. PostgreSQL expects each term in one of 200 rows of the whole table; from some
million memories on it would compile `_WORDS` to machine code, which takes longer than the search.
"""
_WORDS = Query(
    # `offset 0` keeps each term's look-up apart, so that it goes by the index on terms.
    _statement(
        """
        with asked as (
            select * from unnest(:places, :terms, :weights) as a (place, term, weight)
        ), owned as (
            select count(*) as rows, greatest(1, avg(length)) as mean from memory_search where owner = :owner
        ), hits as (
            select a.place, r.memory, r.stamp, r.status, r.expires_at, max(
                a.weight * (:saturation + 1) * r.count
                / (r.count + :saturation * (1 - :shortness + :shortness * r.length / o.mean))
            ) as score
            from asked a cross join owned o cross join lateral (
                select m.memory, m.owner, m.stamp, m.status, m.expires_at, m.length,
                    coalesce(cast(m.repeated ->> a.term as integer), 1) as count
                from memory_search m where m.terms @> array[cast(:prefix || a.term as varchar)] offset 0
            ) r
            where r.owner = :owner
            group by 1, 2, 3, 4, 5
        ), answered as (
            select place, count(*) as rows from hits group by place
        ), rarity as (
            select w.place, ln(1 + (o.rows - coalesce(a.rows, 0) + 0.5) / (coalesce(a.rows, 0) + 0.5)) as weight
            from generate_series(0, :words - 1) as w (place)
            cross join owned o left join answered a on a.place = w.place
        ), scored as (
            select h.memory, h.stamp, h.status, h.expires_at,
                sum(r.weight * h.score) / (select sum(weight) from rarity) as score
            from hits h join rarity r on r.place = h.place group by 1, 2, 3, 4
        ), best as (
            select memory, score, stamp, true as is_best from scored
            where status = any(:statuses) and expires_at > :now and (:allowed is null or memory = any(:allowed))
            order by score desc, stamp limit :limit
        ), found as (
            select * from best
            union all
            select memory, score, stamp, false from scored where memory = any(:ids)
        )
        select (select array_agg(place) from answered), f.memory, cast(f.score as real), f.is_best
        from (select 1) as always left join found f on true
        order by f.is_best desc, f.score desc, f.stamp
        """
    ),
    tuple,
)
_VOCABULARY = Query(
    _statement(
        """
        select substr(t.term, :from_letter) from memory_search m
        cross join lateral unnest(m.terms) with ordinality as t (term, place)
        where m.owner = :owner and starts_with(t.term, :start)
        group by t.term order by min(m.stamp * 10000 + t.place)
        """
    ),
    lambda row: str(row[0]),
)
_FOUND = Query(
    _statement(
        """
        select id, stamp, document, model, vector, trust, pinned, kind, created_at from memories
        where owner = :owner and id = any(:ids) and status = any(:statuses)
            and coalesce(expires_at > :now, true)
        """
    ),
    lambda row: FoundRow(*row),
)
_MATCHING = Query(
    _statement(
        f"""
        select id, case when :documents then document end from memories where owner = :owner
            {" ".join(f"and (:{name} is null or {name} = :{name})" for name in EQUAL_FIELDS.values())}
        """  # noqa: S608  names of columns
    ),
    tuple,
)


def are_kept(tx: Transaction) -> bool:
    """Whether this PostgreSQL database has the tables."""
    return tx.one(_EXISTS) is True


@dataclass(frozen=True, slots=True)
class OwnerState:
    """An owner's counter, the one up to which their rows are there, and whether a vector is to be made anew."""

    stamp: int
    reached: int
    outdated: bool


def owner_state(tx: Transaction, owner: str, *, model: str) -> OwnerState:
    found = tx.one(_STATE, owner=owner, current=model)
    return OwnerState(0, 0, outdated=False) if found is None else OwnerState(*found)


def owners_behind(tx: Transaction, *, after: str) -> list[str]:
    """The next owners, in order, of whom some rows are not there."""
    return tx.all(_BEHIND, after=after, limit=BATCH)


def changed(tx: Transaction, owner: str) -> tuple[int, int, list[tuple[Any, ...]]]:
    """The owner's counter, the one up to which their rows are there, and the first `BATCH` memories that changed
    after it, as (id, stamp, vector, document).
    """
    state = owner_state(tx, owner, model="")
    if state.reached >= state.stamp:
        return state.stamp, state.reached, []
    found = tx.all(_CHANGED, owner=owner, stamp=state.reached, limit=BATCH)
    return state.stamp, state.reached, found


@dataclass(frozen=True, slots=True)
class SearchedText:
    """What `memory_search` has of a memory besides its columns: the vector as PostgreSQL writes it, and its terms."""

    vector: str | None
    terms: Mapping[str, int]
    """How often each term occurs."""

    @classmethod
    def of(cls, terms: Iterable[str], vector: bytes) -> "SearchedText":
        """`vector` is float32, empty for a memory without one."""
        text = str(array("f", vector).tolist()) if vector else None
        return cls(text, Counter(terms))


def put(tx: Transaction, owner: str, rows: Sequence[tuple[str, int, SearchedText]], *, reached: int) -> None:
    """Store rows as (memory, its stamp, text), and up to which counter the owner's rows are there.

    A memory that has changed since that stamp is left out.
    """
    _put(tx, owner, rows)
    tx.run(_REACHED, owner=owner, stamp=reached)


def put_changed(tx: Transaction, owner: str, memory: str, text: SearchedText, *, stamp: int) -> None:
    """Store the row of a memory in the transaction that changed it."""
    _put(tx, owner, [(memory, stamp, text)])
    tx.run(_FOLLOWED, owner=owner, stamp=stamp)


def _put(tx: Transaction, owner: str, rows: Sequence[tuple[str, int, SearchedText]]) -> None:
    prefix = term_prefix(owner)
    if rows:
        tx.run(
            _PUT,
            owner=owner,
            never=NO_EXPIRY,
            ids=[memory for memory, _, _ in rows],
            stamps=[stamp for _, stamp, _ in rows],
            vectors=[text.vector for _, _, text in rows],
            lengths=[sum(text.terms.values()) for _, _, text in rows],
            terms=[" ".join(prefix + term for term in text.terms) for _, _, text in rows],
            repeated=[_repeated(text.terms) for _, _, text in rows],
        )


def _repeated(terms: Mapping[str, int]) -> str:
    return orjson.dumps({term: count for term, count in terms.items() if count > 1}).decode()


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memories may be found: those of these statuses that have not expired, of `allowed` ids unless None."""

    owner: str
    statuses: Sequence[str]
    now: int
    allowed: Sequence[str] | None = None


def nearest(tx: Transaction, scope: Scope, vector: Sequence[float], *, models: Sequence[str], limit: int) -> list[str]:
    """The ids of the memories closest to a vector in half precision, closest first."""
    return tx.all(
        _NEAREST,
        owner=scope.owner,
        statuses=scope.statuses,
        now=scope.now,
        allowed=scope.allowed,
        models=models,
        dimensions=len(vector),
        vector=vector,
        limit=limit,
    )


@dataclass(frozen=True, slots=True)
class WordMatches:
    """`answered` are the places of the words that any of the owner's memories has; `best` the ids with the highest
    scores, best first; `scores` theirs and those of the other memories asked for.
    """

    answered: frozenset[int]
    best: Sequence[str]
    scores: Mapping[str, float]


NO_MATCHES: Final = WordMatches(frozenset(), (), {})


def match_words(
    tx: Transaction, scope: Scope, words: Sequence[Mapping[str, float]], *, also: Sequence[str], limit: int
) -> WordMatches:
    """The BM25 scores of `index.KeywordIndex`; each word is a mapping of the terms that answer it to their weights."""
    from negotiator.memory.index import LENGTH, SATURATION  # loads numpy

    asked = [(place, term, weight) for place, word in enumerate(words) for term, weight in word.items()]
    tx.all(_WITHOUT_JIT)
    rows = tx.all(
        _WORDS,
        owner=scope.owner,
        statuses=scope.statuses,
        now=scope.now,
        allowed=scope.allowed,
        prefix=term_prefix(scope.owner),
        places=[place for place, _, _ in asked],
        terms=[term for _, term, _ in asked],
        weights=[weight for _, _, weight in asked],
        words=len(words),
        saturation=SATURATION,
        shortness=LENGTH,
        ids=also,
        limit=limit,
    )
    return WordMatches(
        frozenset(rows[0][0] or ()),
        [memory for _, memory, _, is_best in rows if is_best],
        {memory: score for _, memory, score, _ in rows if memory is not None},
    )


def vocabulary(tx: Transaction, owner: str, initial: str) -> list[str]:
    """The terms of the owner's memories that begin with this letter, the oldest first."""
    start = term_prefix(owner) + initial
    return tx.all(_VOCABULARY, owner=owner, start=start, from_letter=_PREFIX_LENGTH + 1)


def read(tx: Transaction, scope: Scope, ids: Sequence[str]) -> list[FoundRow]:
    """The owner's memories of these ids, in no order."""
    return tx.all(_FOUND, owner=scope.owner, statuses=scope.statuses, now=scope.now, ids=ids)


def matching(tx: Transaction, owner: str, equal: Mapping[str, str], *, documents: bool) -> list[tuple[str, bytes]]:
    """The ids of the owner's memories whose columns equal these, with their documents if wanted."""
    columns = {**dict.fromkeys(EQUAL_FIELDS.values()), **equal}
    return tx.all(_MATCHING, owner=owner, documents=documents, **columns)


def term_prefix(owner: str) -> str:
    """What the owner's terms begin with. Two owners may share it: every statement also compares the owner."""
    digest = hashlib.blake2b(owner.encode(), digest_size=_PREFIX_BYTES).digest()
    return base64.urlsafe_b64encode(digest).decode()
