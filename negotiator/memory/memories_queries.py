"""Queries of memories. Every statement names the owner, so another owner's id is not found.

Every change raises the owner's counter in the same transaction. Each worker compares it to update its index.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import orjson
from sqlalchemy import BigInteger, Integer, bindparam, case, delete, func, or_, select, update
from sqlmodel import col

from negotiator.base import values
from negotiator.base.errors import NotFound, PreconditionFailed
from negotiator.base.search_terms import fold_text, split_words
from negotiator.memory import content_guard
from negotiator.memory.schemas_memories import ListMemories, MemoryCountsView
from negotiator.memory.tables import IS_LIVE_SQL, WAITS_SQL, Memory, MemoryOwner, MemoryVersion, fits
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, insertion, table

MemoryDocument = dict[str, Any]
_LAST: Final = "mem_" + "z" * values.ID_LENGTH
_APOSTROPHE: Final = re.compile("['’](?:s$)?")
_PUNCTUATION: Final = r"""\w.,;:!?'"()\[\]‘’“”„«»–—…-"""
_IS_LITERAL: Final = re.compile(rf"[^\x00-\x7f‘’“”„«»–—…]|^[^{_PUNCTUATION}]|[^{_PUNCTUATION}]$|^-\d|^\W+$")
"""A text of a query that is no plain word: it has letters of other scripts, or a sign as `C++`, `-5` and `*` have."""


@dataclass(frozen=True, slots=True)
class StoredEmbedding:
    """A text's vector as float32 bytes, and the model that made it."""

    model: str
    vector: bytes


def _count(*conditions: Any) -> Query[int]:
    return Query(
        select(func.count()).select_from(Memory).where(col(Memory.owner) == bindparam("holder"), *conditions),
        lambda row: int(row[0]),
    )


_theirs = col(Memory.owner) == bindparam("holder")
_mine = (col(Memory.id) == bindparam("memory"), _theirs)
_version = (col(MemoryVersion.memory) == bindparam("memory"), col(MemoryVersion.owner) == bindparam("holder"))
_ADD = RowInsertion(Memory)
_FIND = Query(select(col(Memory.document)).where(*_mine), lambda row: bytes(row[0]))
_TWIN = Query(
    select(col(Memory.document))
    .where(_theirs, col(Memory.digest) == bindparam("twin"), col(Memory.status) != "superseded")
    .order_by(col(Memory.id)),
    lambda row: orjson.loads(row[0]),
)
_LIVE_COUNT = _count(IS_LIVE_SQL)
_WHOLE_COUNT = _count()
_PAGE = Query(
    select(col(Memory.id), col(Memory.document))
    .where(
        _theirs,
        col(Memory.id) < bindparam("before"),
        *(
            fits(table(Memory).c[name], name)
            for name in ("kind", "status", "category", "counterparty", "negotiation", "trust", "pinned")
        ),
        or_(
            bindparam("waiting", type_=Integer).is_(None),
            case((WAITS_SQL, 1), else_=0) == bindparam("waiting", type_=Integer),
        ),
    )
    .order_by(col(Memory.id).desc())
    .limit(bindparam("limit")),
    tuple,
)
_COUNTS = Query(
    select(
        col(Memory.kind),
        func.count(),
        func.sum(case((WAITS_SQL, 1), else_=0)),
        func.sum(case((col(Memory.pinned), 1), else_=0)),
    )
    .where(_theirs)
    .group_by(col(Memory.kind))
    .order_by(col(Memory.kind)),
    tuple,
)
_SAVE = Statement(
    update(Memory)
    .where(*_mine)
    .values(
        {
            name: bindparam(f"new_{name}", type_=table(Memory).c[name].type)
            for name in (
                *("stamp", "kind", "status", "category", "counterparty", "negotiation", "trust"),
                *("pinned", "digest", "expires_at", "document", "revision", "updated_at"),
            )
        }
    )
)
_REMOVE = (Statement(delete(MemoryVersion).where(*_version)), Statement(delete(Memory).where(*_mine)))
_KEEP_VERSION = RowInsertion(MemoryVersion)
_VERSIONS = Query(
    select(*(table(MemoryVersion).c[name] for name in ("revision", "at", "actor", "change", "before")))
    .where(*_version, col(MemoryVersion.revision) < bindparam("newest"))
    .order_by(col(MemoryVersion.revision).desc())
    .limit(bindparam("limit")),
    tuple,
)
_THEN = Query(
    select(col(MemoryVersion.before))
    .where(*_version, col(MemoryVersion.at) > bindparam("moment", type_=BigInteger))
    .order_by(col(MemoryVersion.revision))
    .limit(1),
    lambda row: bytes(row[0]),
)
_STAMP = Query(
    insertion(MemoryOwner)
    .on_conflict_do_update(index_elements=["owner"], set_={"stamp": col(MemoryOwner.stamp) + 1})
    .returning(col(MemoryOwner.stamp)),
    lambda row: int(row[0]),
)
_MARK_REMOVED = Statement(
    update(MemoryOwner)
    .where(col(MemoryOwner.owner) == bindparam("holder"))
    .values(stamp=col(MemoryOwner.stamp) + 1, removed=col(MemoryOwner.stamp) + 1)
)
_DOCUMENTS = Query(
    select(col(Memory.document)).where(_theirs).order_by(col(Memory.id)), lambda row: orjson.loads(row[0])
)
_HAND_OVER = (
    Statement(update(Memory).where(*_mine).values(owner=bindparam("user"), origin=bindparam("holder"))),
    Statement(update(MemoryVersion).where(*_version).values(owner=bindparam("user"))),
)
_ERASE = tuple(
    Statement(delete(model).where(table(model).c.owner == bindparam("holder"))) for model in (MemoryVersion, Memory)
)


def find(tx: Transaction, owner: str, memory: str) -> bytes:
    """The JSON view of the owner's memory; 404 when the owner has none with this id."""
    found = tx.one(_FIND, memory=memory, holder=owner)
    if found is None:
        raise NotFound("There is no such memory.")
    return found


def load(tx: Transaction, owner: str, memory: str, *, expected: int | None) -> MemoryDocument:
    """The view for a change; 404, and 412 when `expected` is not the current revision."""
    view: MemoryDocument = orjson.loads(find(tx, owner, memory))
    if expected is not None and view["revision"] != expected:
        raise PreconditionFailed("The memory has changed since that revision.", members={"revision": view["revision"]})
    return view


def find_duplicate(tx: Transaction, owner: str, text: str, *, counterparty: str | None) -> MemoryDocument | None:
    """The owner's memory with the same text about the same party, whatever the spacing."""
    return tx.one(_TWIN, holder=owner, twin=content_guard.text_digest(text, counterparty))


def count(tx: Transaction, owner: str, *, live: bool) -> int:
    """The number of the owner's memories, of all statuses or (`live`) of those that are active or pending."""
    return tx.one(_LIVE_COUNT if live else _WHOLE_COUNT, holder=owner) or 0


def page(tx: Transaction, owner: str, query: ListMemories, before: str | None) -> list[tuple[str, bytes]]:
    """Up to `limit` + 1 of the owner's memories older than `before`, as (id, JSON), newest first.

    With `query.query` they are those in which each of its words begins a word.
    """
    most = query.limit + 1
    found = tx.all(
        _PAGE,
        holder=owner,
        before=before or _LAST,
        limit=most if query.query is None else values.NEWEST,
        kind=query.kind,
        status=query.status,
        category=query.category,
        counterparty=query.counterparty,
        negotiation=query.negotiation_id,
        trust=query.trust,
        pinned=query.pinned,
        waiting=None if query.waiting is None else int(query.waiting),
    )
    if query.query is None:
        return found
    wanted = fold_text(query.query).split()
    return list(islice((row for row in found if wanted and _has_words(orjson.loads(row[1]), wanted)), most))


def _has_words(view: MemoryDocument, wanted: Sequence[str]) -> bool:
    """Whether each text stands in the memory; one of Latin letters or digits alone stands at the start of a word."""
    text = fold_text(" ".join((view["text"], view["counterparty"] or "", view["category"] or "", *view["tags"])))
    words = {*split_words(text), *split_words(_APOSTROPHE.sub("", text))}

    def stands(said: str) -> bool:
        if _IS_LITERAL.search(said):
            return said in text
        starts = split_words(_APOSTROPHE.sub("", said))
        return all(any(word.startswith(start) for word in words) for start in starts)

    return all(map(stands, wanted))


def counts(tx: Transaction, owner: str) -> MemoryCountsView:
    """How many memories the owner has: all, waiting for review, pinned, and of each kind."""
    rows = tx.all(_COUNTS, holder=owner)
    return {
        "total": sum(row[1] for row in rows),
        "waiting": sum(row[2] for row in rows),
        "pinned": sum(row[3] for row in rows),
        "kinds": {row[0]: row[1] for row in rows},
    }


def find_as_of(tx: Transaction, owner: str, memory: str, at: int) -> bytes:
    """The memory's view at a moment (milliseconds); 404 before it was created."""
    current = find(tx, owner, memory)
    document = tx.one(_THEN, memory=memory, holder=owner, moment=at) or current
    if values.parse_timestamp(orjson.loads(document)["created_at"]) > at:
        raise NotFound("There was no such memory then.")
    return document


def versions(tx: Transaction, owner: str, memory: str, *, newest: int, limit: int) -> list[tuple[Any, ...]]:
    """The memory's earlier versions, as (revision, at, actor, change, JSON), newest first; 404."""
    find(tx, owner, memory)
    return tx.all(_VERSIONS, memory=memory, holder=owner, newest=newest, limit=limit)


def add(tx: Transaction, owner: str, view: MemoryDocument, embedded: StoredEmbedding) -> None:
    tx.run(
        _ADD,
        id=view["id"],
        owner=owner,
        origin=view["origin"],
        **_columns(view),
        stamp=next_stamp(tx, owner),
        model=embedded.model,
        vector=embedded.vector,
        created_at=values.parse_timestamp(view["created_at"]),
    )


def save(
    tx: Transaction, owner: str, before: MemoryDocument, after: MemoryDocument, *, actor: str, change: str
) -> MemoryDocument:
    """Store the memory under its next revision, and the old one in its history; returns the new view."""
    now = values.now()
    after = {**after, "revision": before["revision"] + 1, "updated_at": values.timestamp(now)}
    tx.run(
        _KEEP_VERSION,
        memory=before["id"],
        revision=before["revision"],
        owner=owner,
        at=now,
        actor=actor,
        change=change,
        before=orjson.dumps(before),
    )
    new = {**_columns(after), "stamp": next_stamp(tx, owner)}
    tx.run(_SAVE, memory=before["id"], holder=owner, **{f"new_{name}": value for name, value in new.items()})
    return after


def delete_memory(tx: Transaction, owner: str, memory: str) -> None:
    """Erase one memory with its history."""
    for statement in _REMOVE:
        tx.run(statement, memory=memory, holder=owner)
    mark_removed(tx, owner)


def delete_all_memories(tx: Transaction, owner: str) -> None:
    """Erase all of an owner's memories with their history."""
    for statement in _ERASE:
        tx.run(statement, holder=owner)
    mark_removed(tx, owner)


def list_all(tx: Transaction, owner: str) -> list[MemoryDocument]:
    """All of an owner's memories, of every status."""
    return tx.all(_DOCUMENTS, holder=owner)


def change_owner(tx: Transaction, owner: str, memory: str, user: str) -> None:
    """Give a memory and its history to a user, with the agent as its origin."""
    for statement in _HAND_OVER:
        tx.run(statement, memory=memory, holder=owner, user=user)


def next_stamp(tx: Transaction, owner: str) -> int:
    """Raises the owner's change counter and returns it."""
    return tx.one(_STAMP, owner=owner, stamp=1, removed=0) or 1


def mark_removed(tx: Transaction, owner: str) -> None:
    """Note for other workers that rows of the owner's are deleted; nothing for an owner who never had a memory."""
    tx.run(_MARK_REMOVED, holder=owner)


def _columns(view: MemoryDocument) -> dict[str, Any]:
    """The values of the columns that queries filter by, read from the view."""
    expires = view["expires_at"]
    return {
        "kind": view["kind"],
        "status": view["status"],
        "category": view["category"],
        "counterparty": view["counterparty"],
        "negotiation": view["negotiation_id"],
        "trust": view["trust"],
        "pinned": view["pinned"],
        "digest": content_guard.text_digest(view["text"], view["counterparty"]),
        "expires_at": None if expires is None else values.parse_timestamp(expires),
        "document": orjson.dumps(view),
        "revision": view["revision"],
        "updated_at": values.parse_timestamp(view["updated_at"]),
    }
