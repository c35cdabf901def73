"""The index of a large catalogue is there before the first search."""

from collections.abc import Callable
from typing import Any

import pytest

from negotiator.base.caller import Caller
from negotiator.directory import catalogue_index, catalogue_queries
from negotiator.directory.catalogue_index import CatalogueIndex
from negotiator.directory.listing_routes import CatalogueListing
from negotiator.directory.schemas_listing import ListTools
from negotiator.http.cursors import Cursors
from negotiator.http.operation import Call
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from tests.helpers.directory_agents import record

pytestmark = pytest.mark.asyncio


async def test_a_large_catalogue_is_read_once_before_the_first_search_and_an_empty_one_never(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue_index, "_LARGE", 0)
    scans, following = _counted(store, monkeypatch), CatalogueIndex(store)
    await following.warm()
    assert scans == []
    await store.write(lambda tx: catalogue_queries.put(tx, record("Notion"), actor="t"))
    await following.warm()
    assert scans == [1, 0]
    await store.write(lambda tx: catalogue_queries.put(tx, record("Qdrant"), actor="t"))
    await following.warm()
    index, seq = await following.current()
    assert scans == [1, 0]
    assert (len(index), seq) == (2, 2)


async def test_a_small_catalogue_is_read_by_the_first_search_and_followed_from_then_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    scans, following = _counted(store, monkeypatch), CatalogueIndex(store)
    await store.write(lambda tx: catalogue_queries.put(tx, record("Notion"), actor="t"))
    await following.warm()
    assert scans == []
    index, _ = await following.current()
    assert scans == [1, 0]
    await store.write(lambda tx: catalogue_queries.put(tx, record("Qdrant"), actor="t"))
    await following.warm()
    assert len(index) == 2


def _counted(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of tools that the scans of this store read from now on."""
    scans, scan = list[int](), store.scan

    async def counted(unit: Callable[[Transaction], Any]) -> Any:
        found: list[Any] = await scan(unit)
        scans.append(len(found))
        return found

    monkeypatch.setattr(store, "scan", counted)
    return scans


async def test_a_tool_that_changes_while_the_catalogue_is_read_is_there_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.write(lambda tx: catalogue_queries.put(tx, record("Notion", summary="Old words"), actor="t"))
    scan = store.scan

    async def overtaken(unit: Callable[[Transaction], Any]) -> Any:
        found: list[Any] = await scan(unit)
        if len(found) == 1 and found[0].seq == 1:
            new = record("Notion", summary="New words", id=found[0].id)
            await store.write(lambda tx: catalogue_queries.put(tx, new, actor="t"))
        return found

    monkeypatch.setattr(store, "scan", overtaken)
    index, seq = await CatalogueIndex(store).current()
    assert (len(index), seq) == (1, 2)
    assert (index.texts.postings.count("old"), index.texts.postings.count("new")) == (0, 1)


async def test_an_answer_from_before_a_tool_had_its_vector_is_not_given_afterwards(store: Store) -> None:
    await store.write(lambda tx: catalogue_queries.put(tx, record("Notion"), actor="t"))
    catalogue = CatalogueIndex(store)
    listing = CatalogueListing("https://n.example", store, Cursors(b"pepper"), catalogue)
    index, _ = await catalogue.current()
    tags = list[str]()
    for _ in range(2):
        query = ListTools.model_validate({"query": "notes"})
        answer = await listing.list(Call(Caller("nobody", "", "", frozenset()), query, {}, ""))
        tags.append(answer.headers["etag"])
        index.vectors.waiting.clear()
    assert tags[0] != tags[1]
