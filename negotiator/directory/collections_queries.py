"""Queries of collections and their items, and the counts of how often tools are saved.

Every statement names the owner, except those for a share token or a public collection. Saves are counted in the
background, once per owner, for users and agents with a proven identity only: anyone can register agents quickly, so
their saves must not affect the ranking.
"""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import BigInteger, String, bindparam, delete, func, select, update
from sqlmodel import col

from negotiator.base import values
from negotiator.base.errors import NotFound, PreconditionFailed
from negotiator.directory import catalogue_queries
from negotiator.directory.tables import Collection, CollectionItem, DueSaveCount, IdentityProof, ToolRow
from negotiator.store import ownership
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, entity, insertion


@dataclass(frozen=True, slots=True)
class CollectionEntry:
    """A tool of a collection: its id, the owner's note, and when it was added (milliseconds)."""

    tool: str
    note: str
    added_at: int


CollectionEntries = tuple[CollectionEntry, ...]


def find_entry(items: Sequence[CollectionEntry], tool: str) -> int | None:
    """The position of a tool; None when it is not in the list."""
    return next((place for place, item in enumerate(items) if item.tool == tool), None)


def put_entry(items: CollectionEntries, item: CollectionEntry, *, position: int | None) -> CollectionEntries:
    """The items with this one at `position`, or where it was, or last; it keeps its first `added_at`.

    A position past the end means last.
    """
    at = find_entry(items, item.tool)
    others = items if at is None else (*items[:at], *items[at + 1 :])
    if at is not None:
        item = replace(item, added_at=items[at].added_at)
    place = (len(others) if at is None else at) if position is None else position
    return (*others[:place], item, *others[place:])


def drop_entry(items: CollectionEntries, tool: str) -> CollectionEntries:
    """The items without this tool."""
    at = find_entry(items, tool)
    return items if at is None else (*items[:at], *items[at + 1 :])


def replace_entries(items: CollectionEntries, new_items: Sequence[CollectionEntry]) -> CollectionEntries:
    """The new items in their order; a tool that was there before keeps its `added_at`."""
    since = {item.tool: item.added_at for item in items}
    return tuple(replace(item, added_at=since.get(item.tool, item.added_at)) for item in new_items)


_DUE = Statement(insertion(DueSaveCount).on_conflict_do_nothing())
_NEXT = Query(
    select(col(DueSaveCount.tool)).order_by(col(DueSaveCount.tool)).limit(bindparam("limit")), lambda row: str(row[0])
)
_DONE = Statement(delete(DueSaveCount).where(col(DueSaveCount.tool) == bindparam("tool")))
_COUNT = Query(
    select(func.count(func.distinct(col(Collection.owner))))
    .join(CollectionItem, col(CollectionItem.collection) == col(Collection.id))
    .where(
        col(CollectionItem.tool) == bindparam("tool"),
        col(Collection.owner).like("usr\\_%", escape="\\")
        | col(Collection.owner).in_(select(col(IdentityProof.agent_id))),
    ),
    lambda row: int(row[0]),
)


def mark_saves_due(tx: Transaction, changed: Iterable[str]) -> None:
    """Mark the saves of these tools to be counted again."""
    for tool in changed:
        tx.run(_DUE, tool=tool)


def recount_due_saves(tx: Transaction, _now: int, limit: int) -> int:
    """Count the saves of the next `limit` marked tools; returns how many there were."""
    due = tx.all(_NEXT, limit=limit)
    for tool in due:
        catalogue_queries.count_saves(tx, tool, tx.one(_COUNT, tool=tool) or 0)
        tx.run(_DONE, tool=tool)
    return len(due)


_LAST: Final = "col_" + "z" * values.ID_LENGTH
_SHARE_BYTES: Final = 16

_mine = (col(Collection.id) == bindparam("collection"), col(Collection.owner) == bindparam("owner"))
_ADD = RowInsertion(Collection)
_ADD_ITEM = RowInsertion(CollectionItem)
_MOVE_ITEM = Statement(
    update(CollectionItem)
    .where(col(CollectionItem.collection) == bindparam("held_by"), col(CollectionItem.tool) == bindparam("held"))
    .values(position=bindparam("new_position"), note=bindparam("new_note"))
)
_DROP_ITEM = Statement(
    delete(CollectionItem).where(
        col(CollectionItem.collection) == bindparam("collection"), col(CollectionItem.tool) == bindparam("tool")
    )
)
_COUNT_COLLECTIONS = Query(
    select(func.count()).where(col(Collection.owner) == bindparam("owner")), lambda row: int(row[0])
)
_FIND = Query(select(Collection).where(*_mine), entity(Collection))
_VISIBLE = Query(
    select(Collection).where(
        col(Collection.id) == bindparam("collection"),
        (col(Collection.owner) == bindparam("owner")) | (col(Collection.visibility) == "public"),
    ),
    entity(Collection),
)
_SHARED = Query(
    select(Collection).where(col(Collection.share) == bindparam("token"), col(Collection.visibility) != "private"),
    entity(Collection),
)
_PAGE = Query(
    select(Collection)
    .where(col(Collection.owner) == bindparam("owner"), col(Collection.id) < bindparam("before"))
    .order_by(col(Collection.id).desc())
    .limit(bindparam("limit")),
    entity(Collection),
)
_STATUSES = Query(
    select(col(CollectionItem.tool), col(ToolRow.status))
    .join(ToolRow, col(ToolRow.id) == col(CollectionItem.tool))
    .where(col(CollectionItem.collection) == bindparam("collection")),
    tuple,
)
_ITEMS = Query(
    select(col(CollectionItem.tool), col(CollectionItem.note), col(CollectionItem.added_at))
    .where(col(CollectionItem.collection) == bindparam("collection"))
    .order_by(col(CollectionItem.position)),
    lambda row: CollectionEntry(*row),
)
_SAVE = Statement(
    update(Collection)
    .where(col(Collection.id) == bindparam("collection"))
    .values(
        name=bindparam("new_name"),
        description=bindparam("new_description"),
        visibility=bindparam("new_visibility"),
        share=bindparam("new_share", type_=String),
        size=bindparam("new_size"),
        revision=bindparam("new_revision"),
        updated_at=bindparam("now", type_=BigInteger),
    )
)
_theirs = select(col(Collection.id)).where(col(Collection.owner) == bindparam("principal"))
_THEIR_TOOLS = Query(
    select(col(CollectionItem.tool)).where(col(CollectionItem.collection).in_(_theirs)).distinct(),
    lambda row: str(row[0]),
)


@dataclass(frozen=True, slots=True)
class CollectionDetails:
    """A collection's name, description and visibility."""

    name: str
    description: str
    visibility: str


@dataclass(frozen=True, slots=True)
class StoredCollection:
    """A collection's row and its items in order."""

    row: Collection
    items: CollectionEntries

    @property
    def details(self) -> CollectionDetails:
        return CollectionDetails(self.row.name, self.row.description, self.row.visibility)


def page(tx: Transaction, owner: str, limit: int, *, before: str | None) -> list[Collection]:
    """Up to `limit` + 1 of the principal's collections older than `before`, newest first."""
    return tx.all(_PAGE, owner=owner, before=before or _LAST, limit=limit + 1)


def count(tx: Transaction, owner: str) -> int:
    """The number of the principal's collections."""
    return tx.one(_COUNT_COLLECTIONS, owner=owner) or 0


def find_readable(tx: Transaction, owner: str, collection: str) -> StoredCollection:
    """A collection of the principal, or a public one; 404 for any other."""
    return _whole(tx, tx.one(_VISIBLE, collection=collection, owner=owner))


def find_shared(tx: Transaction, token: str) -> StoredCollection:
    """The collection of a valid share token; 404 otherwise."""
    return _whole(tx, tx.one(_SHARED, token=token))


def load_own(tx: Transaction, owner: str, collection: str, *, expected: int | None) -> StoredCollection:
    """The principal's collection for a change; 404, 412."""
    found = _whole(tx, tx.one(_FIND, collection=collection, owner=owner))
    if expected is not None and found.row.revision != expected:
        raise PreconditionFailed(
            "The collection has changed since that revision.", members={"revision": found.row.revision}
        )
    return found


def add(tx: Transaction, owner: str, details: CollectionDetails, items: CollectionEntries) -> StoredCollection:
    now = values.now()
    row = Collection(
        id=values.new_id("col"),
        owner=owner,
        origin=None,
        name=details.name,
        description=details.description,
        visibility=details.visibility,
        share=_link(details.visibility, None),
        size=len(items),
        revision=1,
        created_at=now,
        updated_at=now,
    )
    tx.run(_ADD, **row.model_dump())
    _write_items(tx, row.id, (), items)
    return StoredCollection(row, items)


def save(
    tx: Transaction,
    before: StoredCollection,
    details: CollectionDetails,
    *,
    items: CollectionEntries,
    unlink: bool = False,
) -> StoredCollection:
    """Store the changes as the next revision; without a change nothing happens.

    A visibility other than private has a share link; `unlink` revokes it without making a new one.
    """
    row = before.row
    share = None if unlink else _link(details.visibility, row.share)
    if (details, share, items) == (before.details, row.share, before.items):
        return before
    now, revision = values.now(), row.revision + 1
    tx.run(
        _SAVE,
        collection=row.id,
        new_name=details.name,
        new_description=details.description,
        new_visibility=details.visibility,
        new_share=share,
        new_size=len(items),
        new_revision=revision,
        now=now,
    )
    _write_items(tx, row.id, before.items, items)
    changed: dict[str, Any] = {
        **row.model_dump(),
        "name": details.name,
        "description": details.description,
        "visibility": details.visibility,
        "share": share,
        "size": len(items),
        "revision": revision,
        "updated_at": now,
    }
    return StoredCollection(Collection(**changed), items)


def statuses(tx: Transaction, collection: str) -> dict[str, str]:
    """The status of every tool of a collection, by its id."""
    return dict(tx.all(_STATUSES, collection=collection))


def remove(tx: Transaction, found: StoredCollection) -> None:
    """Delete a collection with its items and its link."""
    row = found.row
    mark_saves_due(tx, [item.tool for item in found.items])
    ownership.delete_row(tx, Collection, row.id)


def mark_all_saves_due(tx: Transaction, principal: str) -> None:
    """Mark the saves of every tool in the principal's collections to be counted again."""
    mark_saves_due(tx, tx.all(_THEIR_TOOLS, principal=principal))


def _whole(tx: Transaction, row: Collection | None) -> StoredCollection:
    if row is None:
        raise NotFound("There is no such collection.")
    return StoredCollection(row, tuple(tx.all(_ITEMS, collection=row.id)))


def _link(visibility: str, share: str | None) -> str | None:
    """The token of the share link, 128 random bits; None when the collection is private."""
    if visibility == "private":
        return None
    return share or secrets.token_urlsafe(_SHARE_BYTES)


def _write_items(
    tx: Transaction, collection: str, before: Sequence[CollectionEntry], after: Sequence[CollectionEntry]
) -> None:
    """Write the difference: removed, added, moved and annotated items."""
    placed = {item.tool: (place, item) for place, item in enumerate(before)}
    new_items = {item.tool for item in after}
    mark_saves_due(tx, sorted(placed.keys() ^ new_items))
    for tool in placed.keys() - new_items:
        tx.run(_DROP_ITEM, collection=collection, tool=tool)
    for place, item in enumerate(after):
        if item.tool not in placed:
            tx.run(
                _ADD_ITEM, collection=collection, tool=item.tool, position=place, note=item.note, added_at=item.added_at
            )
        elif placed[item.tool] != (place, item):
            tx.run(_MOVE_ITEM, held_by=collection, held=item.tool, new_position=place, new_note=item.note)
