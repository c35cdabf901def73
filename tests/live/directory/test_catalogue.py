"""The catalogue on both engines, and with two processes at once."""

import asyncio

import pytest

from negotiator.directory import catalogue_queries, exchange_import
from negotiator.directory.catalogue_index import CatalogueIndex
from negotiator.directory.search.request import SearchRequest
from negotiator.directory.search.search import search_page
from negotiator.store.store import Store, make_store
from tests.helpers.directory_agents import record

pytestmark = pytest.mark.asyncio


async def test_of_many_processes_one_takes_the_content_over(store: Store, database_url: str) -> None:
    other = make_store(database_url)
    await other.start()
    taken = await asyncio.gather(*(each.write(exchange_import.import_bundled_content) for each in (store, other)))
    assert sorted(taken)[0] == 0
    assert sorted(taken)[1] == await store.read(catalogue_queries.latest_change) > 250
    await other.close()


async def test_numbers_have_no_gap_with_two_processes_writing(store: Store, database_url: str) -> None:
    other = make_store(database_url)
    await other.start()

    async def put(each: Store, name: str) -> int:
        return (await each.write(lambda tx: catalogue_queries.put(tx, record(name), actor="t"))).seq

    numbers = await asyncio.gather(
        *(put(each, f"T{n}x{place}") for n in range(8) for place, each in enumerate((store, other)))
    )
    assert sorted(numbers) == list(range(1, 17))
    await other.close()


async def test_every_process_answers_what_any_has_written(store: Store, database_url: str) -> None:
    other = make_store(database_url)
    await other.start()
    here, there = CatalogueIndex(store), CatalogueIndex(other)
    pages: list[list[str]] = []
    for name in ("Alpha", "Beta", "Gamma"):
        await store.write(lambda tx, name=name: catalogue_queries.put(tx, record(name), actor="t"))
        for following in (here, there):
            index, _ = await following.current()
            found = search_page(index, SearchRequest(query=f"{name} works", sort="relevance", now=1))
            pages.append([hit.id for hit in found.hits])
    assert all(pages)
    assert pages[0::2] == pages[1::2]
    await store.write(lambda tx: catalogue_queries.withdraw(tx, "beta", "deleted", message="m", actor="op"))
    for following in (here, there):
        index, seq = await following.current()
        assert seq == 4
        assert search_page(index, SearchRequest(sort="name")).total == 2
    await other.close()


async def test_documents_that_were_forgotten_are_read_again_in_their_order(store: Store) -> None:
    kept = [await store.write(lambda tx, n=n: catalogue_queries.put(tx, record(f"T{n}"), actor="t")) for n in range(8)]
    following = CatalogueIndex(store, most=4 * len(kept[0].document))
    for first in (0, 2, 1, 4, 0):
        asked = [tool.id for tool in kept[first : first + 4]]
        assert await following.documents(asked) == [tool.document for tool in kept[first : first + 4]]
