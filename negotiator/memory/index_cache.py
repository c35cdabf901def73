"""The memory indexes of this process: built on first use, updated by the owner's counter, evicted by size."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

import orjson
from sqlalchemy import bindparam, select
from sqlmodel import col

from negotiator.memory.searchable_text import searchable_terms
from negotiator.memory.tables import Memory, MemoryOwner
from negotiator.runtime import thread_pools
from negotiator.store.statement import Query, Transaction, table
from negotiator.store.store import Store

if TYPE_CHECKING:
    from negotiator.memory.index import MemoryIndex

IndexRow = tuple[Any, ...]
CACHE_BYTES: Final = 96 * 1024 * 1024
_FEW: Final = 32

_COUNTERS = Query(
    select(col(MemoryOwner.stamp), col(MemoryOwner.removed)).where(col(MemoryOwner.owner) == bindparam("owner")), tuple
)


_SINCE = Query(
    select(
        *(
            table(Memory).c[name]
            for name in ("id", "document", "model", "vector", "status", "trust", "expires_at", "created_at")
        )
    )
    .where(col(Memory.owner) == bindparam("owner"), col(Memory.stamp) > bindparam("stamp"))
    .order_by(col(Memory.stamp), col(Memory.id)),
    tuple,
)


class MemoryIndexCache:
    """Gives an owner's up-to-date index.

    Only vectors of these models are compared; those of others than the first are to be made anew.
    """

    def __init__(self, store: Store, models: Sequence[str], *, capacity: int = CACHE_BYTES) -> None:
        self._store = store
        self._models = models
        self._capacity = capacity
        self._indexes: OrderedDict[str, MemoryIndex] = OrderedDict()
        self._costs: dict[str, int] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._taken = 0

    @property
    def held_bytes(self) -> int:
        """The size of all indexes in memory, as `capacity` counts it."""
        return self._taken

    async def of(self, owner: str) -> "MemoryIndex":
        """The owner's index with every change committed before the call."""
        stamp, removed = await self._store.read(lambda tx: _owner_stamps(tx, owner))
        index = self._indexes.get(owner)
        if index is None or index.stamp < stamp:
            lock = self._locks.setdefault(owner, asyncio.Lock())
            async with lock:
                index = self._indexes.get(owner)
                if index is None or index.stamp < stamp:
                    index = await self._caught_up(owner, index, removed)
        self._hold(owner, index)
        return index

    async def _caught_up(self, owner: str, index: "MemoryIndex | None", removed: int) -> "MemoryIndex":
        """The index with the changes it lacks; many changes build a new one on a thread."""
        if index is not None and index.stamp >= removed and not index.stale:
            since = index.stamp
            stamp, found = await self._store.scan(lambda tx: _since(tx, owner, since))
            if len(found) <= _FEW:
                return self._filled(index, stamp, found)
        stamp, found = await self._store.scan(lambda tx: _since(tx, owner, 0))
        return await thread_pools.SEARCH.run(self._filled, None, stamp, found)

    def _filled(self, index: "MemoryIndex | None", stamp: int, found: Sequence[IndexRow]) -> "MemoryIndex":
        """The index, or a new one, with these rows; a vector of another model is left out."""
        # numpy is imported on the first search, not by every process.
        from negotiator.memory.index import IndexedMemory, MemoryIndex

        indexed: list[IndexedMemory] = []
        for key, document, model, vector, status, trust, expires, created in found:
            facts: dict[str, Any] = orjson.loads(document)
            indexed.append(
                IndexedMemory(
                    id=key,
                    terms=searchable_terms(facts["text"], facts["counterparty"], facts["tags"]),
                    vector=vector if model in self._models else None,
                    document=document,
                    status=status,
                    trust=trust,
                    ageless=facts["pinned"] or facts["kind"] == "win",
                    created=created,
                    expires=expires,
                )
            )
        index = MemoryIndex(stamp) if index is None else index
        index.put(indexed)
        index.outdated |= any(model != self._models[0] for _, _, model, *_ in found)
        index.stamp = stamp
        return index

    def held(self, owner: str) -> "MemoryIndex | None":
        """The owner's index as it is, if there is one."""
        return self._indexes.get(owner)

    def forget(self, owner: str) -> None:
        """Drop the owner's index."""
        if owner in self._indexes:
            self._taken -= self._costs.pop(owner)
            del self._indexes[owner]

    def _hold(self, owner: str, index: "MemoryIndex") -> None:
        self._taken += index.cost - self._costs.get(owner, 0)
        self._costs[owner] = index.cost
        self._indexes[owner] = index
        self._indexes.move_to_end(owner)
        while self._taken > self._capacity and len(self._indexes) > 1:
            self.forget(next(iter(self._indexes)))


def _owner_stamps(tx: Transaction, owner: str) -> tuple[int, int]:
    """The owner's stamp and the stamp of the last erasure; zeros for an owner without memories."""
    return tx.one(_COUNTERS, owner=owner) or (0, 0)


def _since(tx: Transaction, owner: str, stamp: int) -> tuple[int, list[IndexRow]]:
    return _owner_stamps(tx, owner)[0], tx.all(_SINCE, owner=owner, stamp=stamp)
