"""What may become of a collection: its limits, its tools, its parts replaced, patched, put and taken out."""

from collections.abc import Sequence
from typing import Any, Final

from negotiator import values
from negotiator.caller import Caller
from negotiator.directory.bookmarks import kept, order
from negotiator.directory.bookmarks.kept import Face, Kept
from negotiator.directory.bookmarks.order import Item, Items
from negotiator.directory.bookmarks.schemas import (
    MOST_ITEMS,
    EditCollection,
    ItemBody,
    ItemId,
    NewCollection,
    PutItem,
)
from negotiator.directory.catalogue import tools
from negotiator.edge.input import believe
from negotiator.errors import Conflict, FieldError, NotFound, ValidationFailed
from negotiator.patch import merged
from negotiator.store.statement import Transaction

MOST: Final = 100
MOST_UNPROVEN: Final = 20
_PROVEN: Final = 2


def add(tx: Transaction, caller: Caller, asked: NewCollection) -> Kept:
    """A new collection; 409 at the most that the caller may have, 422 for tools that are not there."""
    owner = caller.principal
    most = MOST if caller.level >= _PROVEN or caller.user_id else MOST_UNPROVEN
    if kept.count(tx, owner) >= most:
        raise Conflict(
            f"You have {most} collections; delete one first.", error="too_many_collections"
        )
    return kept.add(tx, owner, _face(asked), _items(tx, (), asked.items))


def replace_whole(tx: Transaction, before: Kept, asked: NewCollection) -> Kept:
    """The collection as asked for; items that stay keep when they were added."""
    return kept.save(tx, before, _face(asked), items=_items(tx, before.items, asked.items))


def edit(tx: Transaction, before: Kept, asked: EditCollection) -> Kept:
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
    body: NewCollection = believe(NewCollection, merged(target, patch))
    items = _items(tx, before.items, body.items) if "items" in patch else before.items
    face = _face(body)
    # A link that was ended stays so until the owner speaks of visibility again.
    unlink = unlink or (row.share is None and "visibility" not in patch)
    return kept.save(tx, before, face, items=items, unlink=unlink)


def put(tx: Transaction, before: Kept, asked: PutItem) -> Kept:
    """The collection with this tool; 404 for a tool that is not there, 409 when the collection is full."""
    at = order.find(before.items, asked.tool_id)
    if at is None:
        if not _is_listed(tx, asked.tool_id):
            raise NotFound("There is no such tool.")
        if len(before.items) >= MOST_ITEMS:
            raise Conflict(
                f"The collection has {MOST_ITEMS} tools; take one out first.",
                error="collection_full",
            )
    note = asked.note if asked.note is not None else before.items[at].note if at is not None else ""
    item = Item(asked.tool_id, note, values.now())
    return _kept_face(tx, before, order.put(before.items, item, position=asked.position))


def drop(tx: Transaction, before: Kept, asked: ItemId) -> Kept:
    """The collection without this tool; the same collection when it was not in it."""
    return _kept_face(tx, before, order.drop(before.items, asked.tool_id))


def shown(tx: Transaction, found: Kept) -> list[dict[str, Any]]:
    """The items as they are shown, each with its tool's own status."""
    statuses = kept.statuses(tx, found.row.id)
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


def _kept_face(tx: Transaction, before: Kept, items: Items) -> Kept:
    return kept.save(tx, before, before.face, items=items, unlink=before.row.share is None)


def _is_listed(tx: Transaction, tool: str) -> bool:
    """Whether there is a tool of this id that may be saved: neither deleted nor withheld from everybody."""
    found = tools.find(tx, tool) if values.is_id(tool, "tool") else None
    return found is not None and found.status in {"active", "deprecated"}


def _face(asked: NewCollection) -> Face:
    return Face(asked.name, asked.description, asked.visibility)


def _items(tx: Transaction, before: Items, wanted: Sequence[ItemBody]) -> Items:
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
    return order.replaced(before, [Item(item.tool_id, item.note, now) for item in wanted])
