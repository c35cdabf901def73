"""The catalogue searched by PostgreSQL beside the index of a worker: the same questions, the same answers."""

import random
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from typing import Any, Final

import orjson
import pytest
import pytest_asyncio

from negotiator.directory import exchange_import
from negotiator.directory.catalogue_index import CatalogueIndex
from negotiator.directory.catalogue_search import CatalogueSearch
from negotiator.directory.database_search import DatabaseSearch
from negotiator.directory.listing_answers import categories_with_counts
from negotiator.directory.search.index import SortOrder
from negotiator.directory.search.search import SearchPage, SearchRequest
from negotiator.directory.tool_vectors import ToolVectors
from negotiator.memory.embedding.embedder import HashingEmbedder
from negotiator.store.store import Store, make_store
from tests.quality.directory.judged_queries import AT, QUERIES

pytestmark = pytest.mark.asyncio
SORTS: Final[tuple[SortOrder, ...]] = ("popularity", "proven", "updated", "created", "name")
FACETS: Final = ("category", "tag", "kind", "pricing", "publisher", "status")
QUESTIONS: Final = [str(query["text"]) for query in QUERIES]
FILTERS: Final[tuple[dict[str, list[str]], ...]] = (
    {},
    {"kind": ["mcp_server"]},
    {"pricing": ["free", "freemium"], "category": ["coding", "data-search"]},
    {"open_source": ["true"], "status": ["active"]},
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def store(postgres: Callable[[], str]) -> AsyncGenerator[Store]:
    """The content of the package."""
    opened = make_store(postgres())
    await opened.start()
    await opened.write(exchange_import.import_bundled_content)
    yield opened
    await opened.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def searches(store: Store, tmp_path_factory: pytest.TempPathFactory) -> dict[str, CatalogueSearch]:
    """Both searches, with the same vectors."""
    found: dict[str, CatalogueSearch] = {
        "worker": CatalogueIndex(store, folder=None), "database": DatabaseSearch(store)
    }  # fmt: skip
    for name, search in found.items():
        await search.snapshot()
        search.vectors = ToolVectors(HashingEmbedder(), tmp_path_factory.mktemp(name))
        await search.warm()
        assert (await search.snapshot()).meaning == (True, 0)
    return found


def shown(page: SearchPage) -> dict[str, Any]:
    return {
        "hits": [(hit.id, hit.matched_on) for hit in page.hits],
        "total": page.total,
        "normalized": page.normalized,
        "facets": page.facets,
        "frozen": page.frozen and (page.frozen.step, page.frozen.corrected, page.frozen.weights),
    }


async def ask(searches: dict[str, CatalogueSearch], request: SearchRequest) -> dict[str, SearchPage]:
    return {name: await (await search.snapshot()).search(request) for name, search in searches.items()}


@pytest.mark.asyncio(loop_scope="module")
async def test_every_judged_query_has_the_same_answer(searches: dict[str, CatalogueSearch]) -> None:
    for place, text in enumerate(QUESTIONS):
        request = SearchRequest(
            query=text,
            sort="relevance",
            filters=FILTERS[place % len(FILTERS)],
            facets=FACETS if place % 5 == 0 else (),
            now=AT,
            is_plain=place % 3 == 0,
        )
        pages = await ask(searches, request)
        assert shown(pages["database"]) == shown(pages["worker"]), text
        for mine, theirs in zip(pages["database"].hits, pages["worker"].hits, strict=True):
            assert mine.score == pytest.approx(theirs.score, abs=2e-4), text


@pytest.mark.asyncio(loop_scope="module")
async def test_categories_have_the_same_numbers_and_times(searches: dict[str, CatalogueSearch]) -> None:
    answers = [
        categories_with_counts(await (await search.snapshot()).category_counts()) for search in searches.values()
    ]
    assert answers[0] == answers[1]
    assert all(each["tool_count"] and each["updated_at"] for each in answers[0]["items"])


@pytest.mark.asyncio(loop_scope="module")
async def test_pages_of_every_order_are_the_same(searches: dict[str, CatalogueSearch]) -> None:
    for sort in SORTS:
        for query, filters in (("", FILTERS[0]), ("", FILTERS[2]), ("agent", FILTERS[0])):
            await pages_are_same(searches, SearchRequest(query=query, sort=sort, filters=filters, limit=90, now=AT))
    changed = SearchRequest(sort="updated", updated_since=2**62, facets=FACETS)
    pages = await ask(searches, changed)
    assert shown(pages["database"]) == shown(pages["worker"])
    assert pages["database"].total == 0


async def pages_are_same(searches: dict[str, CatalogueSearch], request: SearchRequest) -> list[str]:
    """The ids of all pages, which each search gives from the cursor of the other."""
    found, wanted = list[str](), request
    while True:
        pages = await ask(searches, wanted)
        mine, theirs = pages["database"], pages["worker"]
        assert shown(mine) == shown(theirs), wanted
        found += [hit.id for hit in mine.hits]
        assert (mine.last and mine.last[1]) == (theirs.last and theirs.last[1])
        if mine.last is None:
            assert len(set(found)) == len(found) == mine.total
            return found
        wanted = replace(request, after=theirs.last, frozen=mine.frozen)


@pytest.mark.asyncio(loop_scope="module")
async def test_the_same_pages_by_relevance_have_every_match_once(searches: dict[str, CatalogueSearch]) -> None:
    for text in ("api", "open source agent", "chat with documents"):
        await pages_are_same(searches, SearchRequest(query=text, sort="relevance", limit=50, now=AT))


@pytest.mark.asyncio(loop_scope="module")
async def test_misspelt_names_and_words_are_read_the_same(searches: dict[str, CatalogueSearch]) -> None:
    rng = random.Random(5)  # noqa: S311  not a secret
    names = await names_of_all(searches["worker"])
    for name in rng.sample(names, 60):
        place = rng.randrange(len(name))
        wrong = rng.choice(
            (
                name[:place] + name[place + 1 :],
                name[:place] + rng.choice("aeinrst") + name[place:],
                name[:place] + name[place + 1 : place + 2] + name[place : place + 1] + name[place + 2 :],
            )
        )
        for text in (wrong, f"{wrong} alternative", wrong.replace(" ", "")):
            request = SearchRequest(query=text or "x", sort="relevance", now=AT)
            pages = await ask(searches, request)
            assert shown(pages["database"]) == shown(pages["worker"]), text


async def names_of_all(search: CatalogueSearch) -> list[str]:
    assert isinstance(search, CatalogueIndex)
    index, _ = await search.current()
    documents = await search.documents(index.ids)
    return [str(orjson.loads(document)["name"]).lower() for document in documents]


@pytest.mark.parametrize(
    "text", ["'", "''' | 'a", "\\", "a & b | !c", "=kind:app", "x\x1fy", "<->", "*:A", "ü’s", "%_", "\u0000"]
)
@pytest.mark.asyncio(loop_scope="module")
async def test_no_text_is_read_as_a_query_of_the_database(searches: dict[str, CatalogueSearch], text: str) -> None:
    for filters in ({}, {"tag": [text]}, {"publisher": [text], "licence": [text, "MIT"]}):
        request = SearchRequest(query=text, sort="relevance", filters=filters, now=AT)
        pages = await ask(searches, request)
        assert shown(pages["database"]) == shown(pages["worker"]), (text, filters)
