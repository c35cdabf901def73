"""`/api/v1/bookmarks`, the same at `/api/v1/collections`; `/api/v1/shared/{token}`."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from negotiator.base.scopes import BOOKMARKS_READ, BOOKMARKS_WRITE
from negotiator.base.values import timestamp
from negotiator.directory import collections_queries
from negotiator.directory.collections_queries import StoredCollection
from negotiator.directory.schemas_submissions import (
    CollectionId,
    CollectionList,
    CollectionSummary,
    CollectionView,
    EditCollection,
    ItemId,
    ListCollections,
    NewCollection,
    PutItem,
    ReplaceCollection,
    SharedToken,
)
from negotiator.directory.tables import Collection
from negotiator.http.cursors import Cursors
from negotiator.http.operation import Answer, Call, Operation, ToolOffer
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

COLLECTION_BODY_LIMIT: Final = 256 * 1024
COLLECTIONS_PATH: Final = "/api/v1/bookmarks"
_read_operation = partial(Operation, scopes=frozenset({BOOKMARKS_READ}), tag="bookmarks")
_write_operation = partial(Operation, scopes=frozenset({BOOKMARKS_WRITE}), tag="bookmarks")
_COLLECTIONS: Final[dict[str, Any]] = {"path": COLLECTIONS_PATH, "aliases": ("/api/v1/collections",)}
_COLLECTION: Final[dict[str, Any]] = {"path": "/api/v1/bookmarks/{id}", "aliases": ("/api/v1/collections/{id}",)}
_ITEM: Final[dict[str, Any]] = {
    "path": "/api/v1/bookmarks/{id}/items/{tool_id}",
    "aliases": ("/api/v1/collections/{id}/items/{tool_id}",),
}


@dataclass(frozen=True, slots=True)
class Collections:
    """Saved collections of tools."""

    base: str
    store: Store
    cursors: Cursors

    def operations(self) -> list[Operation]:
        return [
            _read_operation(
                name="list_collections",
                method="GET",
                **_COLLECTIONS,
                summary="List your saved collections of tools, newest first",
                run=self.list,
                input=ListCollections,
                output=CollectionList,
                refusals=(400, 422),
                tool=ToolOffer(
                    "List collections",
                    hint="Use it to find the collection that a tool should go to.",
                    leave_out=("limit", "cursor"),
                ),
            ),
            _read_operation(
                name="get_collection",
                method="GET",
                **_COLLECTION,
                summary="Read a collection with its tools: yours, or a public one",
                run=self.get,
                input=CollectionId,
                output=CollectionView,
                refusals=(404,),
            ),
            Operation(
                name="get_shared_collection",
                method="GET",
                path="/api/v1/shared/{token}",
                summary="Read the collection behind a share link",
                run=self.shared,
                input=SharedToken,
                output=CollectionView,
                access="public",
                refusals=(404, 422),
                tag="bookmarks",
            ),
            _write_operation(
                name="save_collection",
                method="POST",
                **_COLLECTIONS,
                summary="Save a new collection of tools",
                run=self.add,
                input=NewCollection,
                output=CollectionView,
                status=201,
                creates=True,
                body_limit=COLLECTION_BODY_LIMIT,
                refusals=(400, 409, 422),
                tool=ToolOffer(
                    "Create a collection",
                    hint="Use it when no collection of list_collections fits; save_to_collection then fills it.",
                    name="create_collection",
                    leave_out=("items",),
                ),
            ),
            _write_operation(
                name="replace_collection",
                method="PUT",
                **_COLLECTION,
                summary="Replace a collection as a whole; needs If-Match",
                run=self.replace,
                input=ReplaceCollection,
                output=CollectionView,
                body_limit=COLLECTION_BODY_LIMIT,
                refusals=(400, 404, 412, 422, 428),
            ),
            _write_operation(
                name="edit_collection",
                method="PATCH",
                **_COLLECTION,
                summary="Change a collection by a JSON merge patch; needs If-Match",
                run=self.edit,
                input=EditCollection,
                output=CollectionView,
                body_limit=COLLECTION_BODY_LIMIT,
                refusals=(400, 404, 412, 422, 428),
            ),
            _write_operation(
                name="delete_collection",
                method="DELETE",
                **_COLLECTION,
                summary="Delete a collection and its share link; needs If-Match",
                run=self.delete,
                input=CollectionId,
                status=204,
                refusals=(404, 412, 428),
            ),
            _write_operation(
                name="put_in_collection",
                method="PUT",
                **_ITEM,
                summary="Put a tool into a collection, move it, or change its note",
                run=self.put,
                input=PutItem,
                output=CollectionView,
                refusals=(400, 404, 409, 412, 422),
                tool=ToolOffer(
                    "Save to a collection",
                    hint=(
                        "Use it when the user wants to keep a tool that search_tools found. The collection is one of "
                        "list_collections; create_collection makes one."
                    ),
                    name="save_to_collection",
                    leave_out=("position", "if_revision"),
                ),
            ),
            _write_operation(
                name="drop_from_collection",
                method="DELETE",
                **_ITEM,
                summary="Remove a tool from a collection",
                run=self.drop,
                input=ItemId,
                status=204,
                refusals=(404, 412, 422),
            ),
        ]

    async def list(self, call: Call[ListCollections]) -> CollectionList:
        """A page of the caller's collections without their items."""
        owner, body = call.caller.principal, call.input
        bound = ("collections", owner)
        before = self.cursors.open(body.cursor, *bound) if body.cursor else None
        found = await self.store.read(lambda tx: collections_queries.page(tx, owner, body.limit, before=before))
        rows, cursor = self.cursors.page(found, body.limit, lambda row: row.id, *bound)
        return {"items": [self._summary(row, owned=True) for row in rows], "next_cursor": cursor}

    async def get(self, call: Call[CollectionId]) -> CollectionView:
        """A collection of the caller, or a public one."""
        owner = call.caller.principal

        def unit(tx: Transaction) -> CollectionView:
            found = collections_queries.find_readable(tx, owner, call.input.id)
            return self._view(tx, found, owned=found.row.owner == owner)

        return await self.store.scan(unit)

    async def shared(self, call: Call[SharedToken]) -> CollectionView:
        """The collection of a share link."""
        token = call.input.token
        view = await self.store.scan(lambda tx: self._view(tx, collections_queries.find_shared(tx, token), owned=True))
        return {**view, "origin": None}

    async def add(self, call: Call[NewCollection]) -> CollectionView:
        caller = call.caller

        def unit(tx: Transaction) -> CollectionView:
            made = collections_queries.add(tx, caller, call.input)
            return self._view(tx, made, owned=True)

        return await self.store.write(call.once(unit))

    async def replace(self, call: Call[ReplaceCollection]) -> CollectionView:
        call.require_condition()
        return await self._changed(call, collections_queries.replace_whole, call.input)

    async def edit(self, call: Call[EditCollection]) -> CollectionView:
        call.require_condition()
        return await self._changed(call, collections_queries.edit, call.input)

    async def put(self, call: Call[PutItem]) -> CollectionView:
        return await self._changed(call, collections_queries.put, call.input)

    async def delete(self, call: Call[CollectionId]) -> Answer:
        call.require_condition()
        owner, expected = call.caller.principal, call.expected

        def unit(tx: Transaction) -> None:
            collections_queries.remove(tx, collections_queries.load_own(tx, owner, call.input.id, expected=expected))

        await self.store.write(unit)
        return Answer(None, 204)

    async def drop(self, call: Call[ItemId]) -> Answer:
        """Remove the tool; the new ETag is in a header."""
        view = await self._changed(call, collections_queries.drop, call.input)
        return Answer(None, 204, {"etag": f'"{view["revision"]}"'})

    async def _changed(
        self, call: Call[Any], change: Callable[[Transaction, StoredCollection, Any], StoredCollection], body: Any
    ) -> CollectionView:
        owner, expected = call.caller.principal, call.expected

        def unit(tx: Transaction) -> CollectionView:
            before = collections_queries.load_own(tx, owner, body.id, expected=expected)
            return self._view(tx, change(tx, before, body), owned=True)

        return await self.store.write(unit)

    def _view(self, tx: Transaction, found: StoredCollection, *, owned: bool) -> CollectionView:
        return {**self._summary(found.row, owned=owned), "items": collections_queries.entries_view(tx, found)}

    def _summary(self, row: Collection, *, owned: bool) -> CollectionSummary:
        """A row's summary; the share link only for its owner."""
        link = f"{self.base}/api/v1/shared/{row.share}" if row.share and owned else None
        return {
            "id": row.id,
            "name": row.name,
            "description": row.description,
            "visibility": row.visibility,
            "item_count": row.size,
            "revision": row.revision,
            "share_url": link,
            "origin": row.origin if owned else None,
            "created_at": timestamp(row.created_at),
            "updated_at": timestamp(row.updated_at),
        }
