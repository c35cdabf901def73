"""What may become of a collection: its limits, its tools, its parts replaced, patched, put and taken out."""

from collections.abc import Sequence
from typing import Any, Final

from negotiator import values
from negotiator.caller import Caller
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
from negotiator.errors import Conflict, FieldError, NotFound, ValidationFailed
from negotiator.http.input import validate
from negotiator.schema import apply_merge_patch
from negotiator.store.statement import Transaction

MOST_COLLECTIONS: Final = 100
MOST_COLLECTIONS_UNPROVEN: Final = 20
_PROVEN: Final = 2


def add(tx: Transaction, caller: Caller, asked: NewCollection) -> StoredCollection:
    """A new collection; 409 at the most that the caller may have, 422 for tools that are not there."""
    owner = caller.principal
    most = (
        MOST_COLLECTIONS if caller.level >= _PROVEN or caller.user_id else MOST_COLLECTIONS_UNPROVEN
    )
    if collections_queries.count(tx, owner) >= most:
        raise Conflict(
            f"You have {most} collections; delete one first.", error="too_many_collections"
        )
    return collections_queries.add(tx, owner, _face(asked), _items(tx, (), asked.items))


def replace_whole(
    tx: Transaction, before: StoredCollection, asked: NewCollection
) -> StoredCollection:
    """The collection as asked for; items that stay keep when they were added."""
    return collections_queries.save(
        tx, before, _face(asked), items=_items(tx, before.items, asked.items)
    )


def edit(tx: Transaction, before: StoredCollection, asked: EditCollection) -> StoredCollection:
    """The collection with a merge patch applied, the result held to the same rules as a new one."""
    patch = asked.patch
    unlink = "share_url" in patch
    if unlink and patch.pop("share_url") is not None:
        raise ValidationFailed([FieldError("/share_url", "May only be null: that ends the link.")])
    row = before.row
    target = {
        "name": row.name,
        "description": row.description,
        "visibility": row.visibility,
        "items": [{"tool_id": item.tool, "note": item.note} for item in before.items],
    }
    body: NewCollection = validate(NewCollection, apply_merge_patch(target, patch))
    items = _items(tx, before.items, body.items) if "items" in patch else before.items
    face = _face(body)
    # A link that was ended stays so until the owner speaks of visibility again.
    unlink = unlink or (row.share is None and "visibility" not in patch)
    return collections_queries.save(tx, before, face, items=items, unlink=unlink)


def put(tx: Transaction, before: StoredCollection, asked: PutItem) -> StoredCollection:
    """The collection with this tool; 404 for a tool that is not there, 409 when the collection is full."""
    at = collections_queries.find_entry(before.items, asked.tool_id)
    if at is None:
        if not _is_listed(tx, asked.tool_id):
            raise NotFound("There is no such tool.")
        if len(before.items) >= MOST_ITEMS:
            raise Conflict(
                f"The collection has {MOST_ITEMS} tools; take one out first.",
                error="collection_full",
            )
    note = asked.note if asked.note is not None else before.items[at].note if at is not None else ""
    item = CollectionEntry(asked.tool_id, note, values.now())
    return _kept_face(
        tx, before, collections_queries.put_entry(before.items, item, position=asked.position)
    )


def drop(tx: Transaction, before: StoredCollection, asked: ItemId) -> StoredCollection:
    """The collection without this tool; the same collection when it was not in it."""
    return _kept_face(tx, before, collections_queries.drop_entry(before.items, asked.tool_id))


def entries_view(tx: Transaction, found: StoredCollection) -> list[dict[str, Any]]:
    """The items as they are shown, each with its tool's own status."""
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


def _kept_face(
    tx: Transaction, before: StoredCollection, items: CollectionEntries
) -> StoredCollection:
    return collections_queries.save(
        tx, before, before.face, items=items, unlink=before.row.share is None
    )


def _is_listed(tx: Transaction, tool: str) -> bool:
    """Whether there is a tool of this id that may be saved: neither deleted nor withheld from everybody."""
    found = catalogue_queries.find(tx, tool) if values.is_id(tool, "tool") else None
    return found is not None and found.status in {"active", "deprecated"}


def _face(asked: NewCollection) -> CollectionDetails:
    return CollectionDetails(asked.name, asked.description, asked.visibility)


def _items(
    tx: Transaction, before: CollectionEntries, wanted: Sequence[ItemBody]
) -> CollectionEntries:
    """The wanted items; 422 for a tool named twice and for one that is neither listed nor in it already."""
    held, seen = {item.tool for item in before}, set[str]()
    faults: list[FieldError] = []
    for place, item in enumerate(wanted):
        pointer = f"/items/{place}/tool_id"
        if item.tool_id in seen:
            faults.append(FieldError(pointer, "Is in the list already."))
        elif item.tool_id not in held and not _is_listed(tx, item.tool_id):
            faults.append(FieldError(pointer, "There is no such tool."))
        seen.add(item.tool_id)
    if faults:
        raise ValidationFailed(faults)
    now = values.now()
    return collections_queries.replace_entries(
        before, [CollectionEntry(item.tool_id, item.note, now) for item in wanted]
    )
