"""Reads the catalogue over HTTP. All operations are public; a credential that is sent must still be valid."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import orjson

from negotiator.base import values
from negotiator.base.bounded_cache import BoundedCache
from negotiator.base.schema import NoInput
from negotiator.directory import catalogue_queries, listing_answers
from negotiator.directory.catalogue_index import CatalogueIndex, alternatives_to
from negotiator.directory.schemas_listing import (
    TOOL_PATH,
    TOOLS_PATH,
    AlternativeList,
    BatchGet,
    CategoryList,
    ChangeList,
    ListChanges,
    ListTools,
    ToolBatch,
    ToolList,
    ToolPath,
)
from negotiator.directory.tool_record import ToolView
from negotiator.http.cursors import Cursors
from negotiator.http.operation import Answer, Call, Operation, ToolOffer
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

_public_operation = partial(Operation, access="public", tag="tools")
_CACHE_BYTES: Final = 4 * 2**20
"""Bytes of list answers that are cached."""


@dataclass(frozen=True, slots=True)
class CatalogueListing:
    """Lists, single tools, categories and changes; `base` is the base URL of links."""

    base: str
    store: Store
    cursors: Cursors
    catalogue_index: CatalogueIndex
    _cache: BoundedCache[str, tuple[bytes, str | None]] = field(
        default_factory=lambda: BoundedCache[str, tuple[bytes, str | None]](_CACHE_BYTES)
    )

    def operations(self) -> list[Operation]:
        return [
            _public_operation(
                name="list_tools",
                method="GET",
                path=TOOLS_PATH,
                summary="Search and filter the directory of AI tools",
                run=self.list,
                input=ListTools,
                output=ToolList,
                refusals=(304,),
                tool=ToolOffer(
                    "Search tools",
                    hint=(
                        "Use it when the user looks for an app, API, MCP server, agent, skill or model; get_tool reads "
                        "one whole."
                    ),
                    name="search_tools",
                    foreign=True,
                    public=True,
                    leave_out=(
                        *("q", "search", "subcategory", "tag", "auth", "licence", "publisher"),
                        *("interface", "verified", "status", "updated_since", "include_deleted", "sort", "facets"),
                    ),
                    brief=(
                        *("total", "next_cursor", "query", "items.id", "items.slug", "items.name", "items.summary"),
                        *("items.kind", "items.category", "items.homepage_url", "items.pricing"),
                        *("items.open_source", "items.score"),
                    ),
                ),
            ),
            _public_operation(
                name="get_tool",
                method="GET",
                path=TOOL_PATH,
                summary="Read one tool by its id or its present or former slug",
                run=self.get,
                input=ToolPath,
                output=ToolView,
                refusals=(304, 404, 410),
                tool=ToolOffer(
                    "Read a tool",
                    hint="Use it for its links, interfaces, prices and sign-in, before you recommend it.",
                    foreign=True,
                    public=True,
                ),
            ),
            _public_operation(
                name="get_tools",
                method="POST",
                path="/api/v1/tools/batch-get",
                summary="Read up to 100 tools at once, in the requested order",
                run=self.batch,
                input=BatchGet,
                output=ToolBatch,
            ),
            _public_operation(
                name="list_alternatives",
                method="GET",
                path="/api/v1/tools/{id}/alternatives",
                summary="List tools that do the same job as a tool, of other publishers, the most similar first",
                run=self.alternatives,
                input=ToolPath,
                output=AlternativeList,
                refusals=(404, 410),
            ),
            _public_operation(
                name="list_categories",
                method="GET",
                path="/api/v1/categories",
                summary="List the categories with their number of tools",
                run=self.categories,
                output=CategoryList,
                refusals=(304,),
                tool=ToolOffer(
                    "List categories",
                    hint="Use it for the slugs that search_tools filters by.",
                    brief=("items.slug", "items.name", "items.description", "items.tool_count"),
                ),
            ),
            _public_operation(
                name="list_changes",
                method="GET",
                path="/api/v1/changes",
                summary="List the changes of the catalogue after a number, oldest first, with deletions",
                run=self.changes,
                input=ListChanges,
                output=ChangeList,
                refusals=(304,),
            ),
        ]

    async def list(self, call: Call[ListTools]) -> Answer:
        """A page of tools."""
        query = call.input
        catalogue = await self.catalogue_index.snapshot()
        parameters = query.model_dump_json(exclude_defaults=True)
        # A new tool is found by its words at once, by its meaning once it no longer waits for its vector.
        changing = (values.now() // values.DAY, *catalogue.meaning) if query.text else 0
        tag = listing_answers.weak_tag(catalogue.seq, changing, parameters)
        headers = listing_answers.cache_headers(call.caller, tag)
        if (unchanged := listing_answers.not_modified(call, headers)) is not None:
            return unchanged
        cached = self._cache.get(tag)
        if cached is None:
            found = await catalogue.search(listing_answers.search_request(query, self.cursors))
            cursor = listing_answers.next_cursor(query, found, self.cursors)
            ids = [hit.id for hit in found.hits]
            documents = dict(zip(ids, await self.catalogue_index.documents(ids), strict=True))
            link = listing_answers.next_link(f"{self.base}{TOOLS_PATH}", query, cursor) if cursor else None
            cached = (listing_answers.list_body(found, documents, cursor, text=query.text), link)
            self._cache.put(tag, cached, len(cached[0]))
        body, link = cached
        return Answer(body, headers={**headers, "link": link} if link else headers)

    async def get(self, call: Call[ToolPath]) -> Answer:
        """One tool; its present path is in `content-location`."""
        tool = await self.store.read(lambda tx: catalogue_queries.require(tx, call.input.id))
        headers = listing_answers.cache_headers(call.caller, f'"{tool.revision}"', modified=tool.updated_at)
        headers["content-location"] = f"{self.base}{TOOLS_PATH}/{tool.slug}"
        return listing_answers.not_modified(call, headers) or Answer(tool.document, headers=headers)

    async def alternatives(self, call: Call[ToolPath]) -> AlternativeList:
        """Tools of the same kind and subcategory, up to five."""
        tool = await self.store.read(lambda tx: catalogue_queries.require(tx, call.input.id))
        return {"items": await alternatives_to(self.catalogue_index, orjson.loads(tool.document)), "next_cursor": None}

    async def batch(self, call: Call[BatchGet]) -> Answer:
        """Many tools; unknown ones are listed in `missing`, deleted ones are included."""
        ids = list(dict.fromkeys(call.input.ids))

        def unit(tx: Transaction) -> list[bytes | None]:
            found = (catalogue_queries.find(tx, key) for key in ids)
            return [tool and tool.document for tool in found]

        documents = await self.store.read(unit)
        present = [document for document in documents if document is not None]
        missing = [key for key, document in zip(ids, documents, strict=True) if document is None]
        rest = {"count": len(present), "missing": missing, "next_cursor": None}
        return Answer(listing_answers.items_object(listing_answers.json_array(present), rest))

    async def categories(self, call: Call[NoInput]) -> Answer:
        catalogue = await self.catalogue_index.snapshot()
        headers = listing_answers.cache_headers(call.caller, listing_answers.weak_tag("categories", catalogue.seq))
        if (unchanged := listing_answers.not_modified(call, headers)) is not None:
            return unchanged
        counts = catalogue.category_counts()
        return Answer(orjson.dumps(listing_answers.categories_with_counts(counts)), headers=headers)

    async def changes(self, call: Call[ListChanges]) -> Answer:
        """A page of changes; `last` is the next value of `since`."""
        query = call.input
        since: int = self.cursors.open(query.cursor, "changes") if query.cursor else query.since

        def unit(tx: Transaction) -> tuple[list[dict[str, Any]], int]:
            return catalogue_queries.list_changes(tx, since, limit=query.limit + 1), catalogue_queries.latest_change(tx)

        found, latest = await self.store.read(unit)
        headers = listing_answers.cache_headers(
            call.caller, listing_answers.weak_tag("changes", latest, since, query.limit)
        )
        if (unchanged := listing_answers.not_modified(call, headers)) is not None:
            return unchanged
        items, next_cursor = self.cursors.page(found, query.limit, lambda change: change["seq"], "changes")
        last: int = items[-1]["seq"] if items else max(since, latest)
        rest = {"count": len(items), "last": last, "latest": latest, "next_cursor": next_cursor}
        return Answer(listing_answers.items_object(orjson.dumps(items), rest), headers=headers)
