"""The index of a large catalogue: stored once, opened by others, right after every change, and optional."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from negotiator.directory import catalogue_queries
from negotiator.directory.catalogue_index import CatalogueIndex, ToolVectors
from negotiator.directory.search.request import SearchRequest
from negotiator.directory.search.search import search_page
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from tests.helpers.directory_agents import record
from tests.helpers.theme_embedder import ThemeEmbedder

pytestmark = pytest.mark.asyncio
NAMES = ("Notion", "Qdrant", "Zapier", "Jukebox")


@pytest.fixture
def scanned(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of tools of each read of the catalogue."""
    scans, scan = list[int](), store.scan

    async def counted(unit: Callable[[Transaction], Any]) -> Any:
        found: list[Any] = await scan(unit)
        scans.append(len(found))
        return found

    monkeypatch.setattr(store, "scan", counted)
    return scans


async def put(store: Store, *names: str, **members: Any) -> list[str]:
    """The ids of new tools."""
    return [
        (await store.write(lambda tx, name=name: catalogue_queries.put(tx, record(name, **members), actor="t"))).id
        for name in names
    ]


def opened(store: Store, folder: Path) -> CatalogueIndex:
    return CatalogueIndex(store, folder=folder / "index", large=3)


async def found(catalogue: CatalogueIndex, query: str, **more: Any) -> list[tuple[str, float]]:
    """The names of the answer with their scores."""
    index, _ = await catalogue.current()
    page = search_page(index, SearchRequest(query=query, sort="relevance", now=1, **more))
    return [(index.position("name", 0, index.slot(hit.id))[0], hit.score) for hit in page.hits]


async def test_the_second_process_reads_only_what_changed(store: Store, tmp_path: Path, scanned: list[int]) -> None:
    await put(store, *NAMES)
    first = opened(store, tmp_path)
    before = [await found(first, query) for query in (*NAMES, "jukbox", "works")]
    assert scanned == [4, 0, 0]
    scanned.clear()
    second = opened(store, tmp_path)
    assert [await found(second, query) for query in (*NAMES, "jukbox", "works")] == before
    assert scanned == [0]


async def test_every_process_sees_new_changed_and_deleted_tools_of_a_stored_index(store: Store, tmp_path: Path) -> None:
    _, old, gone, _ = await put(store, *NAMES)
    first, second = opened(store, tmp_path), opened(store, tmp_path)
    for each in (first, second):
        await each.current()
    await put(store, "Melodica")
    await put(store, "Qdrant", id=old, summary="Violins for all")
    await store.write(lambda tx: catalogue_queries.withdraw(tx, gone, "deleted", message="m", actor="op"))
    third, memory = opened(store, tmp_path), CatalogueIndex(store)
    for query in ("melodica", "violins", "zapier", "works", "melodika"):
        expected = await found(memory, query)
        for each in (first, second, third):
            assert await found(each, query) == expected
    for each in (first, second, third):
        index, _ = await each.current()
        assert index.counts("status") == {"active": 4}


async def test_an_index_of_another_history_is_built_anew(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scanned: list[int]
) -> None:
    await put(store, *NAMES)
    await opened(store, tmp_path).current()
    other = await store.read(lambda tx: catalogue_queries.count_tools(tx))
    scanned.clear()

    def made(_: Transaction, seq: int) -> tuple[str, int]:
        return "tool_other", seq

    monkeypatch.setattr(catalogue_queries, "find_change", made)
    await opened(store, tmp_path).current()
    assert scanned[0] == other
    assert len(list((tmp_path / "index").glob("*-*"))) == 1


@pytest.mark.parametrize("part", ["values.json", "arrays/saves.npy", "arrays/postings.npy"])
async def test_a_damaged_index_is_built_anew(store: Store, tmp_path: Path, part: str) -> None:
    await put(store, *NAMES)
    expected = await found(opened(store, tmp_path), "works")
    (folder,) = (tmp_path / "index").glob("*-*")
    (folder / part).unlink()
    catalogue = opened(store, tmp_path)
    assert await found(catalogue, "works") == expected
    assert catalogue.state() == "ok"


async def test_a_build_that_was_cut_off_leaves_nothing_behind(store: Store, tmp_path: Path) -> None:
    await put(store, *NAMES)
    left = tmp_path / "index" / "building-1"
    left.mkdir(parents=True)
    (left / "values.json").write_bytes(b"{")
    await opened(store, tmp_path).current()
    assert not left.exists()


async def test_without_room_for_files_the_index_is_in_memory_and_health_says_so(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(store, *NAMES)

    def full(*_: Any) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(np, "save", full)
    catalogue = opened(store, tmp_path)
    assert (await found(catalogue, "Qdrant"))[0][0] == "qdrant"
    assert catalogue.state() == "lesser: search index in memory"


async def test_an_index_that_lags_is_stored_anew_and_the_old_one_removed(
    store: Store, tmp_path: Path, scanned: list[int]
) -> None:
    await put(store, *NAMES)
    first = opened(store, tmp_path)
    await first.current()
    old = list((tmp_path / "index").glob("*-*"))
    del first
    await put(store, "Melodica")
    await opened(store, tmp_path).current()
    new = list((tmp_path / "index").glob("*-*"))
    assert len(new) == 1
    assert old != new
    scanned.clear()
    await opened(store, tmp_path).current()
    assert scanned == [0]


async def test_vectors_are_stored_with_the_index_and_read_from_it(store: Store, tmp_path: Path) -> None:
    _, _, _, changed = await put(store, *NAMES, summary="plays music")
    first = opened(store, tmp_path)
    await first.current()
    first.vectors = ToolVectors(ThemeEmbedder(), tmp_path)
    await first.warm()
    (tmp_path / "directory-themes.vectors").unlink()
    second, embedder = opened(store, tmp_path), ThemeEmbedder()
    second.vectors = ToolVectors(embedder, tmp_path)
    index, _ = await second.current()
    assert index.vectors.present
    await second.warm()
    assert embedder.texts == 0
    await put(store, "Jukebox", id=changed, summary="plays melody")
    await second.warm()
    assert embedder.texts == 3
    vector = await second.vectors.of_query("song")
    assert len(await found(second, "song", vector=vector)) == 4
