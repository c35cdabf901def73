"""A least-recently-used cache bounded by the total size of its values."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class BoundedCache(Generic[Key, Value]):
    """Values by key; their sizes, in the caller's own unit, add up to at most `limit`: the least recently used goes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._entries: OrderedDict[Key, tuple[Value, int]] = OrderedDict()

    @property
    def size(self) -> int:
        """The sizes of all values."""
        return self._size

    def get(self, key: Key) -> Value | None:
        """The value of this key, or None."""
        found = self._entries.get(key)
        if found is None:
            return None
        self._entries.move_to_end(key)
        return found[0]

    def put(self, key: Key, value: Value, size: int) -> None:
        """Store a value, unless it is larger than the limit itself."""
        self.drop(key)
        if size <= self._limit:
            self._entries[key] = (value, size)
            self._size += size
        while self._size > self._limit:
            _, (_, freed) = self._entries.popitem(last=False)
            self._size -= freed

    def drop(self, key: Key) -> None:
        """Remove this key's value, if there is one."""
        _, size = self._entries.pop(key, (None, 0))
        self._size -= size

    def clear(self) -> None:
        self._entries.clear()
        self._size = 0
