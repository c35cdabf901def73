"""Queries and changes of collections, and the counts of how often tools are saved.

Every statement names the owner, except those for a share token or a public collection. Saves are counted in the
background, once per owner, for users and agents with a proven identity only: anyone can register agents quickly, so
their saves must not affect the ranking.
"""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import bindparam, delete, func, select, update
from sqlmodel import col

from negotiator.base import values
from negotiator.base.caller import Caller
from negotiator.base.errors import Conflict, FieldError, NotFound, PreconditionFailed, ValidationFailed
from negotiator.base.schema import apply_merge_patch
from negotiator.directory import catalogue_queries
from negotiator.directory.accounts_queries import PROVEN
from negotiator.directory.schemas_submissions import (
    MOST_ITEMS,
    EditCollection,
    ItemBody,
    ItemId,
    ItemView,
    NewCollection,
    PutItem,
)
from negotiator.directory.tables import Collection, CollectionItem, DueSaveCount, IdentityProof, ToolRow
from negotiator.http.input import validate
from negotiator.store import ownership
from negotiator.store.statement import (
    Query,
    RowInsertion,
    Statement,
    Transaction,
    column_values,
    entity,
    insertion,
    table,
)

MOST_COLLECTIONS: Final = 100
MOST_COLLECTIONS_UNPROVEN: Final = 20


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
    at, others = find_entry(items, item.tool), drop_entry(items, item.tool)
    if at is not None:
        item = replace(item, added_at=items[at].added_at)
    place = (len(others) if at is None else at) if position is None else position
    return (*others[:place], item, *others[place:])


def drop_entry(items: CollectionEntries, tool: str) -> CollectionEntries:
    """The items without this tool."""
    return tuple(item for item in items if item.tool != tool)


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
_DETAILS: Final = {"name", "description", "visibility"}
_CHANGING: Final = (*_DETAILS, "share", "size", "revision", "updated_at")

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
    .values({name: bindparam(f"new_{name}", type_=table(Collection).c[name].type) for name in _CHANGING})
)
_theirs = select(col(Collection.id)).where(col(Collection.owner) == bindparam("principal"))
_THEIR_TOOLS = Query(
    select(col(CollectionItem.tool)).where(col(CollectionItem.collection).in_(_theirs)).distinct(),
    lambda row: str(row[0]),
)


@dataclass(frozen=True, slots=True)
class StoredCollection:
    """A collection's row and its items in order."""

    row: Collection
    items: CollectionEntries


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


def add(tx: Transaction, caller: Caller, body: NewCollection) -> StoredCollection:
    """A new collection; 409 at the caller's limit, 422 for tools that are not listed."""
    owner = caller.principal
    most = MOST_COLLECTIONS if caller.level >= PROVEN or caller.user_id else MOST_COLLECTIONS_UNPROVEN
    if count(tx, owner) >= most:
        raise Conflict(f"You have {most} collections; delete one first.", error="too_many_collections")
    items, now = _new_items(tx, (), body.items), values.now()
    row = Collection(
        id=values.new_id("col"),
        owner=owner,
        origin=None,
        name=body.name,
        description=body.description,
        visibility=body.visibility,
        share=_link(body.visibility, None),
        size=len(items),
        revision=1,
        created_at=now,
        updated_at=now,
    )
    tx.run(_ADD, **column_values(row))
    _write_items(tx, row.id, (), items)
    return StoredCollection(row, items)


def replace_whole(tx: Transaction, before: StoredCollection, body: NewCollection) -> StoredCollection:
    """The collection with new content; tools that stay keep `added_at`."""
    return _save(tx, before, _new_items(tx, before.items, body.items), details=body.model_dump(include=_DETAILS))


def edit(tx: Transaction, before: StoredCollection, body: EditCollection) -> StoredCollection:
    """The collection with a merge patch applied; the result is validated like a new one."""
    patch, row = body.patch, before.row
    unlink = "share_url" in patch
    if unlink and patch.pop("share_url") is not None:
        raise ValidationFailed([FieldError("/share_url", "May only be null, which revokes the link.")])
    target = {
        **row.model_dump(include=_DETAILS),
        "items": [{"tool_id": item.tool, "note": item.note} for item in before.items],
    }
    merged: NewCollection = validate(NewCollection, apply_merge_patch(target, patch))
    items = _new_items(tx, before.items, merged.items) if "items" in patch else before.items
    # A revoked link stays revoked until the owner sets the visibility again.
    unlink = unlink or (row.share is None and "visibility" not in patch)
    return _save(tx, before, items, details=merged.model_dump(include=_DETAILS), unlink=unlink)


def put(tx: Transaction, before: StoredCollection, body: PutItem) -> StoredCollection:
    """The collection with this tool added or changed; 404 for an unlisted tool, 409 when it is full."""
    at = find_entry(before.items, body.tool_id)
    if at is None:
        if not _is_listed(tx, body.tool_id):
            raise NotFound("There is no such tool.")
        if len(before.items) >= MOST_ITEMS:
            raise Conflict(f"The collection has {MOST_ITEMS} tools; remove one first.", error="collection_full")
    note = body.note if body.note is not None else before.items[at].note if at is not None else ""
    item = CollectionEntry(body.tool_id, note, values.now())
    return _save_items(tx, before, put_entry(before.items, item, position=body.position))


def drop(tx: Transaction, before: StoredCollection, body: ItemId) -> StoredCollection:
    """The collection without this tool; unchanged when it did not contain it."""
    return _save_items(tx, before, drop_entry(before.items, body.tool_id))


def entries_view(tx: Transaction, found: StoredCollection) -> list[ItemView]:
    """The items for an answer, each with its tool's status."""
    statuses = dict(tx.all(_STATUSES, collection=found.row.id))
    return [
        {
            "tool_id": item.tool,
            "note": item.note,
            "position": position,
            "added_at": values.timestamp(item.added_at),
            "status": statuses.get(item.tool, "deleted"),
        }
        for position, item in enumerate(found.items)
    ]


def remove(tx: Transaction, found: StoredCollection) -> None:
    """Delete a collection with its items and its link."""
    row = found.row
    mark_saves_due(tx, [item.tool for item in found.items])
    ownership.delete_row(tx, Collection, row.id)


def mark_all_saves_due(tx: Transaction, principal: str) -> None:
    """Mark the saves of every tool in the principal's collections to be counted again."""
    mark_saves_due(tx, tx.all(_THEIR_TOOLS, principal=principal))


def _save_items(tx: Transaction, before: StoredCollection, items: CollectionEntries) -> StoredCollection:
    return _save(tx, before, items, details={}, unlink=before.row.share is None)


def _save(
    tx: Transaction,
    before: StoredCollection,
    items: CollectionEntries,
    *,
    details: dict[str, Any],
    unlink: bool = False,
) -> StoredCollection:
    """Store the changes as the next revision; without a change nothing happens.

    A visibility other than private has a share link; `unlink` revokes it without making a new one.
    """
    row, same = before.row, column_values(before.row)
    after = {**same, **details}
    after["share"] = None if unlink else _link(after["visibility"], row.share)
    if (after, items) == (same, before.items):
        return before
    after |= {"size": len(items), "revision": row.revision + 1, "updated_at": values.now()}
    tx.run(_SAVE, collection=row.id, **{f"new_{name}": after[name] for name in _CHANGING})
    _write_items(tx, row.id, before.items, items)
    return StoredCollection(Collection(**after), items)


def _is_listed(tx: Transaction, tool: str) -> bool:
    """Whether a tool of this id may be saved: active or deprecated."""
    found = catalogue_queries.find(tx, tool) if values.is_id(tool, "tool") else None
    return found is not None and found.status in {"active", "deprecated"}


def _new_items(tx: Transaction, before: CollectionEntries, items: Sequence[ItemBody]) -> CollectionEntries:
    """The new items; 422 for a tool named twice, or neither listed nor in the collection already."""
    present, seen = {item.tool for item in before}, set[str]()
    faults: list[FieldError] = []
    for place, item in enumerate(items):
        pointer = f"/items/{place}/tool_id"
        if item.tool_id in seen:
            faults.append(FieldError(pointer, "Is in the list already."))
        elif item.tool_id not in present and not _is_listed(tx, item.tool_id):
            faults.append(FieldError(pointer, "There is no such tool."))
        seen.add(item.tool_id)
    if faults:
        raise ValidationFailed(faults)
    now = values.now()
    return replace_entries(before, [CollectionEntry(item.tool_id, item.note, now) for item in items])


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
