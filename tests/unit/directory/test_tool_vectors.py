"""Sentence vectors of tools: computed once, stored, and optional for every search."""

import fcntl
from dataclasses import replace
from pathlib import Path

import pytest

from negotiator.directory.catalogue_index import ToolVectors
from negotiator.directory.search.index import SearchIndex
from negotiator.directory.search.request import SearchRequest
from negotiator.directory.search.search import search_page
from tests.helpers.search_entries import AT, entry, ids, indexed, reader
from tests.helpers.theme_embedder import ThemeEmbedder

pytestmark = pytest.mark.asyncio
TOOLS = (
    entry("Ledger", "accounting at ease", key="tool_1"),
    entry("Jukebox", "plays music", key="tool_2"),
    entry("Kettle", "boils water", key="tool_3"),
)
NEW = entry("Kettle", "boils music", key="tool_3")


def tools() -> SearchIndex:
    """A ledger and a jukebox, and others."""
    return indexed(*TOOLS)


async def test_a_tool_is_found_by_its_meaning_without_any_common_word(tmp_path: Path) -> None:
    index, vectors = tools(), ToolVectors(ThemeEmbedder(), tmp_path)
    plain = SearchRequest(query="bill", sort="relevance", now=AT)
    assert ids(search_page(index, plain)) == []
    await vectors.fill(index, reader(*TOOLS))
    near = SearchRequest(query="bill", sort="relevance", now=AT, vector=await vectors.of_query("bill"))
    found = search_page(index, near)
    assert ids(found) == ["tool_1"]
    assert found.frozen is not None
    assert (found.frozen.step, found.hits[0].matched_on) == ("meaning", ("meaning",))
    assert ids(search_page(index, plain)) == []


async def test_vectors_are_computed_once_and_then_read_from_the_file(tmp_path: Path) -> None:
    first, second = ThemeEmbedder(), ThemeEmbedder()
    await ToolVectors(first, tmp_path).fill(tools(), reader(*TOOLS))
    index = tools()
    index.put([NEW])
    await ToolVectors(second, tmp_path).fill(index, reader(*TOOLS, NEW))
    assert (first.texts, second.texts) == (9, 3)
    assert index.vectors.waiting == {}


async def test_one_of_several_workers_computes(tmp_path: Path) -> None:
    embedder = ThemeEmbedder()
    vectors = ToolVectors(embedder, tmp_path)
    with (tmp_path / "directory-themes.vectors").open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        index = tools()
        await vectors.fill(index, reader(*TOOLS))
        assert (embedder.texts, index.vectors.present) == (0, False)
    await vectors.fill(index, reader(*TOOLS))
    assert (embedder.texts, index.vectors.present) == (9, True)


async def test_pages_with_meaning_skip_and_repeat_nothing_while_the_catalogue_grows(tmp_path: Path) -> None:
    index, vectors = indexed(), ToolVectors(ThemeEmbedder(), tmp_path)
    texts = ("accounting", "bill", "music", "bill and song", "accounting with melody")
    entries = [entry(f"T{n}", texts[n % 5], key=f"tool_{n:02}") for n in range(32)]
    index.put(entries[:25])
    await vectors.fill(index, reader(*entries))
    wanted = SearchRequest(
        query="invoice bill", sort="relevance", limit=4, now=AT, vector=await vectors.of_query("bill")
    )
    whole = set(ids(search_page(index, replace(wanted, limit=100))))
    page = search_page(index, wanted)
    seen = ids(page)
    assert (page.total, len(whole)) == (20, 20)
    for number in range(25, 200):
        if page.last is None:
            break
        if number < 32:
            index.put([entries[number]])
            await vectors.fill(index, reader(*entries))
        page = search_page(index, replace(wanted, after=page.last, frozen=page.frozen))
        seen += ids(page)
    assert len(seen) == len(set(seen))
    assert whole <= set(seen)
