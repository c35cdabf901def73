"""Keeps this process's search index in step with the feed of changes, whichever process made them, fills it with the
sentence vectors of tools, and finds alternatives to the software that a negotiation is about.

Every request reads the number of the last change and applies newer changes first, so that all processes answer from the
same catalogue. numpy is imported on first use.

A tool's vector is computed once, in the background, and stored in a file by the digest of its text, so that a restart
and other workers need not compute it again. The file may be deleted at any time.
"""

import asyncio
import contextlib
import fcntl
import gc
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import orjson

from negotiator.base.bounded_cache import BoundedCache
from negotiator.base.errors import Unavailable
from negotiator.base.search_terms import fold_text
from negotiator.directory import catalogue_queries
from negotiator.directory.catalogue_queries import CatalogueTool
from negotiator.directory.schemas_listing import AlternativeView
from negotiator.directory.search.request import (
    IndexEntry,
    SearchPage,
    SearchRequest,
    ToolDocument,
    digest_of,
    sentences_of,
)
from negotiator.directory.taxonomy import TAXONOMY
from negotiator.runtime import thread_pools
from negotiator.runtime.fault_log import FaultLog
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

if TYPE_CHECKING:
    from negotiator.directory.index_folder import IndexFolder
    from negotiator.directory.search.columns import SentenceVector
    from negotiator.directory.search.index import SearchIndex


_CHUNK: Final = 32
_LOAD: Final = 5_000
_DOCUMENTS: Final = 16 * 2**20
_LARGE: Final = 2_000
"""Tools from which the index is stored, and changes from which it is loaded at the start.

A smaller one is built in less than a second.
"""
_LAGS: Final = 20
"""An index that lags by more than one change in so many tools is stored anew by the process that opens it."""
_WAIT: Final = 0.2
"""Seconds until a process looks again whether another has built the index."""
SYNONYMS_FILE: Final = Path(__file__).parent / "content" / "synonyms.toml"
LANGUAGES_FILE: Final = SYNONYMS_FILE.with_name("languages.toml")
_BATCH: Final = 8
_QUERIES: Final = 2 * 2**20

DocumentReader = Callable[[Sequence[str]], Awaitable[Mapping[str, bytes]]]
"""The stored documents of these tools, by id."""


class SentenceEmbedder(Protocol):
    """Turns texts into unit vectors off the event loop.

    `model` names the model and its version; `state` is `ready` once it is loaded.
    """

    @property
    def model(self) -> str: ...

    @property
    def state(self) -> str: ...

    async def prepare(self) -> None:
        """Load what embedding needs, which may take seconds; 503 when that fails."""
        ...

    async def embed(self, texts: Sequence[str]) -> Any:
        """One row for each text: float32 [texts, dimensions]."""
        ...


class ToolVectors:
    """Fills an index with vectors; `folder` is where they are stored."""

    def __init__(self, embedder: SentenceEmbedder, folder: Path) -> None:
        self._embedder = embedder
        self._file = folder / f"directory-{embedder.model}.vectors"
        self._faults = FaultLog("the directory searches by words alone")
        self._queries = BoundedCache[str, "SentenceVector"](_QUERIES)

    async def of_query(self, text: str) -> "SentenceVector | None":
        """The vector of a query; None when it cannot be computed now."""
        found = self._queries.get(text)
        if found is None:
            if self._embedder.state != "ready":
                return None
            try:
                found = (await self._embedder.embed([text]))[0]
            except Unavailable:  # the embedder logs it
                return None
            self._queries.put(text, found, found.nbytes)
        return found

    async def fill(self, index: "SearchIndex", documents: DocumentReader) -> None:
        """Give the index the vectors that it waits for: stored ones, and new ones unless another worker computes."""
        try:
            await self._embedder.prepare()
            await self._fill(index, documents)
            self._faults.worked()
        except Unavailable as fault:
            self._faults.failed(fault.detail or fault.description)
        except OSError as fault:
            self._faults.failed(str(fault))

    async def _fill(self, index: "SearchIndex", documents: DocumentReader) -> None:
        if not index.vectors.waiting:
            return
        known = await thread_pools.FILES.run_unhurried(index.vectors.stored_vectors, self._file)
        missing: list[tuple[int, bytes]] = []
        for slot, digest in list(index.vectors.waiting.items()):
            if (vector := known.get(digest)) is None:
                missing.append((slot, digest))
            else:
                index.vectors.put(slot, digest, vector)
        if not missing:
            return
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._file.open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            for start in range(0, len(missing), _BATCH):
                await self._compute(index, dict(missing[start : start + _BATCH]), documents, file)

    async def _compute(
        self, index: "SearchIndex", batch: Mapping[int, bytes], documents: DocumentReader, file: Any
    ) -> None:
        read = await documents([index.ids[slot] for slot in batch])
        texts = {slot: sentences_of(orjson.loads(read[index.ids[slot]])) for slot in batch}
        # A tool that has changed meanwhile waits for its next texts.
        same = {slot: found for slot, found in texts.items() if digest_of(found) == batch[slot]}
        if not same:
            return
        rows = await self._embedder.embed([text for found in same.values() for text in found])
        file.write(index.vectors.put_sums({slot: batch[slot] for slot in same}, rows))
        file.flush()


class CategoryCounts(NamedTuple):
    """Of each category and subcategory the number of visible tools, and of each category when a tool last changed."""

    tools: Mapping[str, int]
    parts: Mapping[str, int]
    updated: Mapping[str, int]


class CatalogueIndex:
    """The index, the number of the last change in it, and a cache of up to `most` bytes of recently read documents.

    Without `vectors`, words alone count. With `folder`, the index of a large catalogue is stored there for other
    workers and later starts; without, or when that fails, it is built in memory.
    """

    def __init__(
        self, store: Store, *, folder: Path | None = None, large: int = _LARGE, most: int = _DOCUMENTS
    ) -> None:
        self._store = store
        self.vectors: ToolVectors | None = None
        self._folder = folder
        self._large = large
        self._faults = FaultLog("the search index is not stored, each worker builds its own")
        self._index: SearchIndex | None = None
        self._seq = 0
        self._lock = asyncio.Lock()
        self._documents = BoundedCache[str, bytes](most)

    def state(self) -> str:
        """The health check: `lesser` while an index that should be stored is in memory."""
        return "lesser: search index in memory" if self._faults.error else "ok"

    @property
    def size(self) -> int:
        """The tools in the index; 0 before it is built."""
        return 0 if self._index is None else len(self._index)

    async def current(self) -> tuple["SearchIndex", int]:
        """The index as of the newest change, and the number of that change."""
        newest = await self._store.read(catalogue_queries.latest_change)
        if self._index is None or newest > self._seq:
            async with self._lock:
                await self._catch_up(newest)
        assert self._index is not None  # noqa: S101  set by `_catch_up`
        return self._index, self._seq

    async def snapshot(self) -> "IndexSnapshot":
        return IndexSnapshot(self, *await self.current())

    async def warm(self) -> None:
        """Build the index of a large catalogue before the first request; later apply new changes.

        A small one is built by the first search: a process that is never asked stays small.

        Sentence vectors are computed here; until then, and without a model, words alone count.
        """
        if self._index is not None or await self._store.read(catalogue_queries.latest_change) > _LARGE:
            index, _ = await self.current()
            if self.vectors is not None:
                await self.vectors.fill(index, self._read)

    async def query_vector(self, text: str) -> "SentenceVector | None":
        """The query's sentence vector; None when it is a tool's name, or when tools have no vectors."""
        index = self._index
        if self.vectors is None or index is None or not index.vectors.present:
            return None
        return None if not text or index.has_name(text) else await self.vectors.of_query(text)

    async def documents(self, ids: Sequence[str]) -> list[bytes]:
        """The documents of these tools, in this order."""
        found = {key: self._documents.get(key) for key in ids}
        if missing := [key for key, document in found.items() if document is None]:
            seq = self._seq
            read = await self._store.read(lambda tx: catalogue_queries.read_documents(tx, missing))
            found.update(read)
            if seq == self._seq:  # else it may be older than a change applied meanwhile
                for key, document in read.items():
                    self._documents.put(key, document, len(document))
        return [document for key in ids if (document := found[key]) is not None]

    async def _catch_up(self, newest: int) -> None:
        if self._index is None:
            self._index = await self._load()
        while self._seq < newest:
            found = await self._store.read(_after(self._seq, _CHUNK))
            for each in found:
                if self._documents.get(each.id) is not None:
                    self._documents.put(each.id, each.document, len(each.document))
            staged = await thread_pools.SEARCH.run_unhurried(self._index.stage, [_entry(each) for each in found])
            self._index.adopt(staged)
            self._seq = found[-1].seq if found else newest

    async def _load(self) -> "SearchIndex":
        """The index of the whole catalogue: a stored one, brought up to date, or a new one."""
        index = None
        if self._folder and await self._store.read(catalogue_queries.count_tools) >= self._large:
            from negotiator.directory.index_folder import IndexFolder

            try:
                index = await self._shared(IndexFolder(self._folder))
                self._faults.worked()
            except (OSError, ValueError) as fault:
                self._faults.failed(str(fault))
        if index is None:
            index = await self._build(await thread_pools.SEARCH.run_unhurried(_empty_index))
        # The index lives as long as the process: the collector must not scan it during a request.
        gc.collect()
        gc.freeze()
        return index

    async def _shared(self, folder: "IndexFolder") -> "SearchIndex":
        """The stored index with the changes since; this process stores it if there is none or it lags, and no other
        stores one.
        """
        while True:
            with folder.builder() as builds:
                index, stored = await self._opened(folder)
                if builds and (index is None or self._seq - stored > len(index) // _LAGS):
                    if index is None:
                        index = await self._build(await thread_pools.SEARCH.run_unhurried(_empty_index))
                    change = await self._change(self._seq)
                    assert change is not None  # noqa: S101  changes are only added
                    await thread_pools.FILES.run_unhurried(folder.store, index, self._seq, change)
            if index is not None:
                return index
            await asyncio.sleep(_WAIT)

    async def _opened(self, folder: "IndexFolder") -> tuple["SearchIndex | None", int]:
        """The newest stored index that belongs to this catalogue, with the changes since, and its last change."""
        for stored in await thread_pools.FILES.run_unhurried(folder.stored):
            if await self._change(stored.seq) == stored.change:
                # A folder that lacks a file or has a damaged one is as good as none.
                with contextlib.suppress(FileNotFoundError, ValueError, LookupError):
                    index = await thread_pools.SEARCH.run_unhurried(_empty_index)
                    await thread_pools.FILES.run_unhurried(stored.fill, index)
                    return await self._build(index, since=stored.seq), stored.seq
        return None, 0

    async def _change(self, seq: int) -> tuple[str, int] | None:
        """The tool and the moment of a change."""
        return await self._store.read(lambda tx: catalogue_queries.find_change(tx, seq))

    async def _build(self, index: "SearchIndex", *, since: int = 0) -> "SearchIndex":
        """The index with every tool whose last change is after `since`, added off the event loop."""
        while found := await self._store.scan(_after(since, _LOAD)):
            await thread_pools.SEARCH.run_unhurried(_add, index, found)
            since = found[-1].seq
        self._seq = since
        return index

    async def _read(self, ids: Sequence[str]) -> dict[str, bytes]:
        return await self._store.read(lambda tx: catalogue_queries.read_documents(tx, ids))


@dataclass(frozen=True, slots=True)
class IndexSnapshot:
    """The catalogue in the index of this process, with every change that was committed before it was asked for."""

    catalogue: CatalogueIndex
    index: "SearchIndex"
    seq: int
    """The number of the last change."""

    @property
    def meaning(self) -> tuple[bool, int]:
        """Whether meaning counts, and how many tools wait for their vector."""
        return self.index.vectors.present, len(self.index.vectors.waiting)

    async def search(self, request: SearchRequest) -> SearchPage:
        """A page; unless the request `is_plain`, its query is read in its language, and by its meaning."""
        from negotiator.directory.search.search import search_page

        if request.is_plain:
            return search_page(self.index, request)
        if request.frozen is None:
            request = replace(request, translated=self.index.translate(request.query))
        vector = None
        if request.sort == "relevance":
            text = request.translated[1] if request.translated else request.query
            vector = await self.catalogue.query_vector(text)
        return search_page(self.index, replace(request, vector=vector))

    def first_named(self, words: Sequence[str]) -> str | None:
        """The oldest visible tool whose name or slug, written as one word, is the first of these that any has."""
        for word in words:
            visible = [slot for slot in self.index.named(word) if self.index.visible()[slot]]
            if visible:
                return self.index.ids[min(visible)]
        return None

    def category_counts(self) -> CategoryCounts:
        updated = {slug: self.index.newest("category", slug) for slug in TAXONOMY}
        return CategoryCounts(self.index.counts("category"), self.index.counts("subcategory"), updated)


def _empty_index() -> "SearchIndex":
    from negotiator.directory.search.index import load_index

    return load_index(SYNONYMS_FILE, LANGUAGES_FILE)


def _after(since: int, limit: int) -> Callable[[Transaction], list[CatalogueTool]]:
    return lambda tx: catalogue_queries.tools_since(tx, since, limit=limit)


def _add(index: "SearchIndex", found: Sequence[CatalogueTool]) -> None:
    index.put([_entry(each) for each in found])


def _entry(changed: CatalogueTool) -> IndexEntry:
    return IndexEntry(changed.id, orjson.loads(changed.document), changed.saves, changed.created_at, changed.updated_at)


_SOFTWARE: Final = re.compile(
    r"\b(?:saas|software|licen[cs]es?|seats?|subscriptions?|cloud|apis?|tokens?|hosting|platform|apps?|"
    r"per user|users?|workspace|crm|database|enterprise plan|renewal)\b",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"[^\W_][\w.+-]*", re.UNICODE)
_LONGEST: Final = 4
_SHORTEST: Final = 3
_MOST: Final = 5


async def find_alternatives(
    catalogue_index: CatalogueIndex, sellers: Sequence[str], texts: Sequence[str]
) -> list[AlternativeView]:
    """Alternatives to the tool that these texts name; empty unless one is recognised.

    `sellers` are the names of the counterparty, `texts` the title and subject of the negotiation.
    """
    if not any(_SOFTWARE.search(text) for text in (*sellers, *texts)):
        return []
    catalogue = await catalogue_index.snapshot()
    tool_id = catalogue.first_named(_joined_names(sellers, texts))
    if tool_id is None:
        return []
    (document,) = await catalogue_index.documents([tool_id])
    return await alternatives_to(catalogue_index, orjson.loads(document))


async def alternatives_to(catalogue_index: CatalogueIndex, tool: ToolDocument) -> list[AlternativeView]:
    """Up to five tools of the same kind and subcategory, most similar first, none of the same publisher."""
    parts = tool["subcategories"][:1]
    if not parts:
        return []
    words = " ".join(tool["tags"])[:256]
    request = SearchRequest(
        query=words,
        filters={"subcategory": parts, "kind": [tool["kind"]], "status": ["active"]},
        sort="relevance" if words else "proven",
        limit=4 * _MOST,
        is_plain=True,
    )
    found = await (await catalogue_index.snapshot()).search(request)
    others = map(orjson.loads, await catalogue_index.documents([hit.id for hit in found.hits if hit.id != tool["id"]]))
    category, makers = TAXONOMY[tool["category"]], _makers(tool)
    job = category.subcategories.get(parts[0], category.name)
    alternatives: list[AlternativeView] = [
        {
            "id": other["id"],
            "slug": other["slug"],
            "name": other["name"],
            "url": other["homepage_url"] or "",
            "why": f"Does the same job as {tool['name']} ({job}): {other['summary']}",
        }
        for other in others
        if makers.isdisjoint(_makers(other))
    ]
    return alternatives[:_MOST]


def _joined_names(sellers: Sequence[str], texts: Sequence[str]) -> list[str]:
    """The possible names in the texts as single words, the longest first; in `texts` a name must be capitalised."""
    named = [name for text in sellers for name in _names(text)]
    named += [name for text in texts for name in _names(text) if name[0][0].isupper()]
    joined = ("".join(name).lower() for name in named)
    return sorted((word for word in joined if len(word) >= _SHORTEST), key=lambda word: -len(word))


def _names(text: str) -> list[list[str]]:
    """Every run of up to four words of a text."""
    found = [word.strip(".-+") for word in _NAME.findall(text)]
    found = [word for word in found if word]
    return [
        found[start : start + length] for length in range(1, _LONGEST + 1) for start in range(len(found) - length + 1)
    ]


def _makers(tool: ToolDocument) -> set[str]:
    """The domain and the name of the publisher."""
    publisher: dict[str, Any] = tool["publisher"] or {}
    return {fold_text(each) for each in (publisher.get("domain"), publisher.get("name")) if each}
