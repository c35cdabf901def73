"""What was asked for lately, kept up to a size."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class BoundedCache(Generic[Key, Value]):
    """Values by key, together at most `most` of whatever their sizes are given in; the one not asked for longest goes
    first.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()

    def __contains__(self, key: Key) -> bool:
        return key in self._kept

    def get(self, key: Key) -> Value | None:
        """The value of this key, if it is still here."""
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        return found[0]

    def put(self, key: Key, value: Value, size: int) -> None:
        """Keep a value; one that is larger than everything may be is not kept."""
        self.drop(key)
        if size <= self._most:
            self._kept[key] = (value, size)
            self._size += size
        while self._size > self._most:
            _, (_, gone) = self._kept.popitem(last=False)
            self._size -= gone

    def drop(self, key: Key) -> None:
        """Forget this key's value."""
        _, size = self._kept.pop(key, (None, 0))
        self._size -= size

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()
        self._size = 0
