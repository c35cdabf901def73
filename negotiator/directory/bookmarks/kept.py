"""Collections at rest: every statement carries the owner, but those that a share token or `public` open."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import BigInteger, String, bindparam, delete, func, select, update
from sqlmodel import col

from negotiator import values
from negotiator.directory.bookmarks import saves
from negotiator.directory.bookmarks.order import Item, Items
from negotiator.directory.bookmarks.tables import Collection, CollectionItem
from negotiator.directory.catalogue.tables import ToolRow
from negotiator.errors import NotFound, PreconditionFailed
from negotiator.store.statement import Query, Statement, Transaction, entity, insertion

_LAST: Final = "col_" + "z" * values.ID_LENGTH
_SHARE_BYTES: Final = 16

_mine = (
    col(Collection.id) == bindparam("collection"),
    col(Collection.owner) == bindparam("owner"),
)
_ADD = Statement(insertion(Collection))
_ADD_ITEM = Statement(insertion(CollectionItem))
_MOVE_ITEM = Statement(
    update(CollectionItem)
    .where(
        col(CollectionItem.collection) == bindparam("held_by"),
        col(CollectionItem.tool) == bindparam("held"),
    )
    .values(position=bindparam("new_position"), note=bindparam("new_note"))
)
_DROP_ITEM = Statement(
    delete(CollectionItem).where(
        col(CollectionItem.collection) == bindparam("collection"),
        col(CollectionItem.tool) == bindparam("tool"),
    )
)
_COUNT = Query(
    select(func.count()).where(col(Collection.owner) == bindparam("owner")),
    lambda row: int(row[0]),
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
    select(Collection).where(
        col(Collection.share) == bindparam("token"), col(Collection.visibility) != "private"
    ),
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
    lambda row: Item(*row),
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
_REMOVE_ITEMS = Statement(
    delete(CollectionItem).where(col(CollectionItem.collection) == bindparam("collection"))
)
_REMOVE = Statement(delete(Collection).where(*_mine))
_MOVE = Statement(
    update(Collection)
    .where(col(Collection.owner) == bindparam("agent"))
    .values(owner=bindparam("user"), origin=bindparam("agent"))
)
_theirs = select(col(Collection.id)).where(col(Collection.owner) == bindparam("principal"))
_THEIR_TOOLS = Query(
    select(col(CollectionItem.tool)).where(col(CollectionItem.collection).in_(_theirs)).distinct(),
    lambda row: str(row[0]),
)
_ERASE = [
    Statement(delete(CollectionItem).where(col(CollectionItem.collection).in_(_theirs))),
    Statement(delete(Collection).where(col(Collection.owner) == bindparam("principal"))),
]


@dataclass(frozen=True, slots=True)
class Face:
    """What its owner says of a collection, its items left out."""

    name: str
    description: str
    visibility: str


@dataclass(frozen=True, slots=True)
class Kept:
    """A collection's row and its items in order."""

    row: Collection
    items: Items

    @property
    def face(self) -> Face:
        """What its owner says of it."""
        return Face(self.row.name, self.row.description, self.row.visibility)


def page(tx: Transaction, owner: str, limit: int, *, before: str | None) -> list[Collection]:
    """One more than `limit` of the principal's collections older than `before`, newest first."""
    return tx.all(_PAGE, owner=owner, before=before or _LAST, limit=limit + 1)


def count(tx: Transaction, owner: str) -> int:
    """How many collections the principal has."""
    return tx.one(_COUNT, owner=owner) or 0


def seen(tx: Transaction, owner: str, collection: str) -> Kept:
    """A collection of the principal's, or anybody's public one; 404 for every other."""
    return _whole(tx, tx.one(_VISIBLE, collection=collection, owner=owner))


def shared(tx: Transaction, token: str) -> Kept:
    """The collection that a live share token opens; 404 for any other token."""
    return _whole(tx, tx.one(_SHARED, token=token))


def load(tx: Transaction, owner: str, collection: str, *, expected: int | None) -> Kept:
    """The principal's collection, to be changed: 404, 412."""
    found = _whole(tx, tx.one(_FIND, collection=collection, owner=owner))
    if expected is not None and found.row.revision != expected:
        raise PreconditionFailed(
            "The collection has changed since that revision.",
            members={"revision": found.row.revision},
        )
    return found


def add(tx: Transaction, owner: str, face: Face, items: Items) -> Kept:
    """Keep a new collection."""
    now = values.now()
    row = Collection(
        id=values.new_id("col"),
        owner=owner,
        origin=None,
        name=face.name,
        description=face.description,
        visibility=face.visibility,
        share=_link(face.visibility, None),
        size=len(items),
        revision=1,
        created_at=now,
        updated_at=now,
    )
    tx.run(_ADD, **row.model_dump())
    _write_items(tx, row.id, (), items)
    return Kept(row, items)


def save(tx: Transaction, before: Kept, face: Face, *, items: Items, unlink: bool = False) -> Kept:
    """Keep what changed under the next revision; nothing changed, nothing happens.

    A visibility other than private has a link; `unlink` ends the one there is and makes none.
    """
    row = before.row
    share = None if unlink else _link(face.visibility, row.share)
    if (face, share, items) == (before.face, row.share, before.items):
        return before
    now, revision = values.now(), row.revision + 1
    tx.run(
        _SAVE,
        collection=row.id,
        new_name=face.name,
        new_description=face.description,
        new_visibility=face.visibility,
        new_share=share,
        new_size=len(items),
        new_revision=revision,
        now=now,
    )
    _write_items(tx, row.id, before.items, items)
    changed: dict[str, Any] = {
        **row.model_dump(),
        "name": face.name,
        "description": face.description,
        "visibility": face.visibility,
        "share": share,
        "size": len(items),
        "revision": revision,
        "updated_at": now,
    }
    return Kept(Collection(**changed), items)


def statuses(tx: Transaction, collection: str) -> dict[str, str]:
    """The state of every tool of a collection, by the tool's id."""
    return dict(tx.all(_STATUSES, collection=collection))


def remove(tx: Transaction, found: Kept) -> None:
    """Delete a collection with its items and its link."""
    row = found.row
    saves.due(tx, [item.tool for item in found.items])
    tx.run(_REMOVE_ITEMS, collection=row.id)
    tx.run(_REMOVE, collection=row.id, owner=row.owner)


def move(tx: Transaction, agent_id: str, user_id: str) -> None:
    """Give an agent's collections to the user who claimed it, marked with their origin."""
    tx.run(_MOVE, agent=agent_id, user=user_id)


def erase(tx: Transaction, principal: str) -> None:
    """Delete all of a principal's collections."""
    saves.due(tx, tx.all(_THEIR_TOOLS, principal=principal))
    for statement in _ERASE:
        tx.run(statement, principal=principal)


def _whole(tx: Transaction, row: Collection | None) -> Kept:
    if row is None:
        raise NotFound("There is no such collection.")
    return Kept(row, tuple(tx.all(_ITEMS, collection=row.id)))


def _link(visibility: str, share: str | None) -> str | None:
    """The token of the share link: 128 random bits, made when there is none and gone with the visibility."""
    if visibility == "private":
        return None
    return share or secrets.token_urlsafe(_SHARE_BYTES)


def _write_items(
    tx: Transaction, collection: str, before: Sequence[Item], after: Sequence[Item]
) -> None:
    """Write the difference: rows that went, that came, and that moved or have another note."""
    placed = {item.tool: (place, item) for place, item in enumerate(before)}
    wanted = {item.tool for item in after}
    saves.due(tx, sorted(placed.keys() ^ wanted))
    for tool in placed.keys() - wanted:
        tx.run(_DROP_ITEM, collection=collection, tool=tool)
    for place, item in enumerate(after):
        if item.tool not in placed:
            tx.run(
                _ADD_ITEM,
                collection=collection,
                tool=item.tool,
                position=place,
                note=item.note,
                added_at=item.added_at,
            )
        elif placed[item.tool] != (place, item):
            tx.run(
                _MOVE_ITEM,
                held_by=collection,
                held=item.tool,
                new_position=place,
                new_note=item.note,
            )
