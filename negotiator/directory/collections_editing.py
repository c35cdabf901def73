"""Changes to collections: limits, replacing, merge patches, adding and removing tools."""

from collections.abc import Sequence
from typing import Any, Final

from negotiator.base import values
from negotiator.base.caller import Caller
from negotiator.base.errors import Conflict, FieldError, NotFound, ValidationFailed
from negotiator.base.schema import apply_merge_patch
from negotiator.directory import catalogue_queries, collections_queries
from negotiator.directory.collections_queries import (
    CollectionDetails,
    CollectionEntries,
    CollectionEntry,
    StoredCollection,
)
from negotiator.directory.schemas_collections import (
    MOST_ITEMS,
    EditCollection,
    ItemBody,
    ItemId,
    NewCollection,
    PutItem,
)
from negotiator.http.input import validate
from negotiator.store.statement import Transaction

MOST_COLLECTIONS: Final = 100
MOST_COLLECTIONS_UNPROVEN: Final = 20
_PROVEN: Final = 2


def add(tx: Transaction, caller: Caller, body: NewCollection) -> StoredCollection:
    """A new collection; 409 at the caller's limit, 422 for tools that are not listed."""
    owner = caller.principal
    most = MOST_COLLECTIONS if caller.level >= _PROVEN or caller.user_id else MOST_COLLECTIONS_UNPROVEN
    if collections_queries.count(tx, owner) >= most:
        raise Conflict(f"You have {most} collections; delete one first.", error="too_many_collections")
    return collections_queries.add(tx, owner, _details(body), _items(tx, (), body.items))


def replace_whole(tx: Transaction, before: StoredCollection, body: NewCollection) -> StoredCollection:
    """The collection with new content; tools that stay keep `added_at`."""
    return collections_queries.save(tx, before, _details(body), items=_items(tx, before.items, body.items))


def edit(tx: Transaction, before: StoredCollection, body: EditCollection) -> StoredCollection:
    """The collection with a merge patch applied; the result is validated like a new one."""
    patch = body.patch
    unlink = "share_url" in patch
    if unlink and patch.pop("share_url") is not None:
        raise ValidationFailed([FieldError("/share_url", "May only be null, which revokes the link.")])
    row = before.row
    target = {
        "name": row.name,
        "description": row.description,
        "visibility": row.visibility,
        "items": [{"tool_id": item.tool, "note": item.note} for item in before.items],
    }
    merged: NewCollection = validate(NewCollection, apply_merge_patch(target, patch))
    items = _items(tx, before.items, merged.items) if "items" in patch else before.items
    details = _details(merged)
    # A revoked link stays revoked until the owner sets the visibility again.
    unlink = unlink or (row.share is None and "visibility" not in patch)
    return collections_queries.save(tx, before, details, items=items, unlink=unlink)


def put(tx: Transaction, before: StoredCollection, body: PutItem) -> StoredCollection:
    """The collection with this tool added or changed; 404 for an unlisted tool, 409 when it is full."""
    at = collections_queries.find_entry(before.items, body.tool_id)
    if at is None:
        if not _is_listed(tx, body.tool_id):
            raise NotFound("There is no such tool.")
        if len(before.items) >= MOST_ITEMS:
            raise Conflict(f"The collection has {MOST_ITEMS} tools; remove one first.", error="collection_full")
    note = body.note if body.note is not None else before.items[at].note if at is not None else ""
    item = CollectionEntry(body.tool_id, note, values.now())
    return _save_items(tx, before, collections_queries.put_entry(before.items, item, position=body.position))


def drop(tx: Transaction, before: StoredCollection, body: ItemId) -> StoredCollection:
    """The collection without this tool; unchanged when it did not contain it."""
    return _save_items(tx, before, collections_queries.drop_entry(before.items, body.tool_id))


def entries_view(tx: Transaction, found: StoredCollection) -> list[dict[str, Any]]:
    """The items for an answer, each with its tool's status."""
    statuses = collections_queries.statuses(tx, found.row.id)
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


def _save_items(tx: Transaction, before: StoredCollection, items: CollectionEntries) -> StoredCollection:
    return collections_queries.save(tx, before, before.details, items=items, unlink=before.row.share is None)


def _is_listed(tx: Transaction, tool: str) -> bool:
    """Whether a tool of this id may be saved: active or deprecated."""
    found = catalogue_queries.find(tx, tool) if values.is_id(tool, "tool") else None
    return found is not None and found.status in {"active", "deprecated"}


def _details(body: NewCollection) -> CollectionDetails:
    return CollectionDetails(body.name, body.description, body.visibility)


def _items(tx: Transaction, before: CollectionEntries, items: Sequence[ItemBody]) -> CollectionEntries:
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
    return collections_queries.replace_entries(
        before, [CollectionEntry(item.tool_id, item.note, now) for item in items]
    )
