"""The order of a collection's items."""

from hypothesis import given
from hypothesis import strategies as st

from negotiator.directory.collections_queries import (
    CollectionEntries,
    CollectionEntry,
    drop_entry,
    find_entry,
    put_entry,
    replace_entries,
)

names = st.sampled_from([f"tool_{letter}" for letter in "abcdefgh"])
item_lists = st.lists(names, unique=True).map(
    lambda found: tuple(CollectionEntry(name, "", at) for at, name in enumerate(found))
)
places = st.none() | st.integers(0, 12)


def tools(items: CollectionEntries) -> list[str]:
    return [item.tool for item in items]


@given(item_lists, names, places)
def test_an_item_that_was_put_is_where_it_was_put_once(items: CollectionEntries, name: str, place: int | None) -> None:
    after = put_entry(items, CollectionEntry(name, "new", 99), position=place)
    assert tools(after).count(name) == 1
    before = find_entry(items, name)
    last = len(after) - 1
    wanted = (last if before is None else before) if place is None else min(place, last)
    assert find_entry(after, name) == wanted
    assert [each for each in tools(after) if each != name] == [each for each in tools(items) if each != name]


@given(item_lists, names, places)
def test_putting_the_same_twice_is_putting_it_once(items: CollectionEntries, name: str, place: int | None) -> None:
    once = put_entry(items, CollectionEntry(name, "new", 99), position=place)
    assert put_entry(once, CollectionEntry(name, "new", 100), position=place) == once


@given(item_lists, names)
def test_what_is_dropped_is_gone_and_the_rest_stays_in_order(items: CollectionEntries, name: str) -> None:
    after = drop_entry(items, name)
    assert tools(after) == [each for each in tools(items) if each != name]
    assert drop_entry(after, name) == after


@given(item_lists, item_lists)
def test_a_replacement_has_the_new_order_and_the_old_times(items: CollectionEntries, wanted: CollectionEntries) -> None:
    after = replace_entries(items, wanted)
    assert tools(after) == tools(wanted)
    since = {item.tool: item.added_at for item in items}
    assert all(item.added_at == since.get(item.tool, item.added_at) for item in after)
