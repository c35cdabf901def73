"""The order of a collection's items: pure, on tuples."""

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Item:
    """One tool of a collection: its id, the owner's note, since when (milliseconds)."""

    tool: str
    note: str
    added_at: int


Items = tuple[Item, ...]


def find(items: Sequence[Item], tool: str) -> int | None:
    """Where a tool stands; None when it is not among them."""
    return next((place for place, item in enumerate(items) if item.tool == tool), None)


def put(items: Items, item: Item, *, position: int | None) -> Items:
    """The items with this one at `position`, or where it was, or last; its first `added_at` stays.

    A position past the end means last. Putting the same again changes nothing.
    """
    at = find(items, item.tool)
    others = items if at is None else (*items[:at], *items[at + 1 :])
    if at is not None:
        item = replace(item, added_at=items[at].added_at)
    place = (len(others) if at is None else at) if position is None else position
    return (*others[:place], item, *others[place:])


def drop(items: Items, tool: str) -> Items:
    """The items without this tool; the same items when it was not among them."""
    at = find(items, tool)
    return items if at is None else (*items[:at], *items[at + 1 :])


def replaced(items: Items, wanted: Sequence[Item]) -> Items:
    """`wanted` in its order; what was there before keeps its `added_at`."""
    since = {item.tool: item.added_at for item in items}
    return tuple(replace(item, added_at=since.get(item.tool, item.added_at)) for item in wanted)
