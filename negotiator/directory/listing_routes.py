"""Reading the catalogue over HTTP. Everything here is public; a credential that is sent must be good all the same."""

from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from negotiator import values
from negotiator.bounded_cache import BoundedCache
from negotiator.directory import catalogue_queries, change_queries, listing_answers
from negotiator.directory.catalogue_index import CatalogueIndex
from negotiator.directory.schemas_listing import (
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
from negotiator.schema import NoInput
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

_TAG: Final = "tools"
TOOLS_PATH: Final = "/api/v1/tools"
TOOL_PATH: Final = "/api/v1/tools/{id}"
_REMEMBERED: Final = 4 * 2**20
"""Bytes of answers that are kept as they were put together."""
_DAY: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class CatalogueListing:
    """Lists, single tools, categories and the feed; `base` is what links begin with."""

    base: str
    store: Store
    cursors: Cursors
    following: CatalogueIndex
    _remembered: BoundedCache[str, tuple[bytes, str | None]] = field(
        default_factory=lambda: BoundedCache[str, tuple[bytes, str | None]](_REMEMBERED)
    )

    def operations(self) -> "list[Operation]":
        """What the slice offers."""
        return [
            Operation(
                name="list_tools",
                method="GET",
                path=TOOLS_PATH,
                summary="Search and filter the directory of AI tools",
                run=self.list,
                input=ListTools,
                output=ToolList,
                access="public",
                refusals=(304,),
                tool=ToolOffer(
                    "Search tools",
                    hint=(
                        "Use it when the user looks for an app, API, MCP server, agent, skill or model; get_tool reads "
                        "one whole."
                    ),
                    name="search_tools",
                    foreign=True,
                    leave_out=(
                        *("q", "search", "subcategory", "tag", "auth", "licence", "publisher"),
                        *(
                            "interface",
                            "verified",
                            "status",
                            "updated_since",
                            "include_deleted",
                            "sort",
                            "facets",
                        ),
                    ),
                    brief=(
                        *("id", "slug", "name", "summary", "kind", "category", "homepage_url"),
                        *("pricing", "open_source", "score"),
                    ),
                ),
                tag=_TAG,
            ),
            Operation(
                name="get_tool",
                method="GET",
                path=TOOL_PATH,
                summary="One tool by its id or by a slug that it has or had",
                run=self.get,
                input=ToolPath,
                output=ToolView,
                access="public",
                refusals=(304, 404, 410),
                tool=ToolOffer(
                    "Read a tool",
                    hint="Use it for its links, interfaces, prices and sign-in, before you recommend it.",
                    foreign=True,
                ),
                tag=_TAG,
            ),
            *self._together(),
        ]

    def _together(self) -> "list[Operation]":
        """What tells of many tools at once."""
        return [
            Operation(
                name="get_tools",
                method="POST",
                path="/api/v1/tools/batch-get",
                summary="Up to 100 tools at once, in the order asked for",
                run=self.batch,
                input=BatchGet,
                output=ToolBatch,
                access="public",
                tag=_TAG,
            ),
            Operation(
                name="list_categories",
                method="GET",
                path="/api/v1/categories",
                summary="The taxonomy, with how many tools each category has",
                run=self.categories,
                output=CategoryList,
                access="public",
                refusals=(304,),
                tool=ToolOffer(
                    "List categories", hint="Use it for the slugs that search_tools filters by."
                ),
                tag=_TAG,
            ),
            Operation(
                name="list_changes",
                method="GET",
                path="/api/v1/changes",
                summary="What changed in the catalogue since a number, oldest first, with tombstones",
                run=self.changes,
                input=ListChanges,
                output=ChangeList,
                access="public",
                refusals=(304,),
                tag=_TAG,
            ),
        ]

    async def list(self, call: Call[ListTools]) -> Answer:
        """A page of tools."""
        from negotiator.directory.search.search import search_page

        asked = call.input
        index, seq = await self.following.current()
        said = asked.model_dump_json(exclude_defaults=True)
        tag = listing_answers.weak_tag(seq, values.now() // _DAY if asked.text else 0, said)
        headers = listing_answers.cache_headers(call.caller, tag)
        if (known := listing_answers.not_modified(call, headers)) is not None:
            return known
        remembered = self._remembered.get(tag)
        if remembered is None:
            found = search_page(index, listing_answers.search_request(asked, self.cursors))
            cursor = listing_answers.next_cursor(asked, found, self.cursors)
            ids = [hit.id for hit in found.hits]
            documents = dict(zip(ids, await self.following.documents(ids), strict=True))
            link = (
                listing_answers.next_link(f"{self.base}{TOOLS_PATH}", asked, cursor)
                if cursor
                else None
            )
            remembered = (
                listing_answers.list_body(found, documents, cursor, text=asked.text),
                link,
            )
            self._remembered.put(tag, remembered, len(remembered[0]))
        body, link = remembered
        return Answer(body, headers={**headers, "link": link} if link else headers)

    async def get(self, call: Call[ToolPath]) -> Answer:
        """One tool; under a former slug it says where it is now."""
        tool = await self.store.read(lambda tx: catalogue_queries.require(tx, call.input.id))
        headers = listing_answers.cache_headers(
            call.caller, f'"{tool.revision}"', modified=tool.updated_at
        )
        headers["content-location"] = f"{self.base}{TOOLS_PATH}/{tool.slug}"
        return listing_answers.not_modified(call, headers) or Answer(tool.document, headers=headers)

    async def batch(self, call: Call[BatchGet]) -> Answer:
        """Many tools; those that never were are named in `missing`, removed ones are tombstones."""
        ids = list(dict.fromkeys(call.input.ids))

        def unit(tx: Transaction) -> list[bytes | None]:
            found = (catalogue_queries.find(tx, key) for key in ids)
            return [tool and tool.document for tool in found]

        documents = await self.store.read(unit)
        there = [document for document in documents if document is not None]
        missing = [key for key, document in zip(ids, documents, strict=True) if document is None]
        rest = {"count": len(there), "missing": missing, "next_cursor": None}
        return Answer(listing_answers.items_object(listing_answers.json_array(there), rest))

    async def categories(self, call: Call[NoInput]) -> Answer:
        """The taxonomy with counts."""
        index, seq = await self.following.current()
        headers = listing_answers.cache_headers(
            call.caller, listing_answers.weak_tag("categories", seq)
        )
        if (known := listing_answers.not_modified(call, headers)) is not None:
            return known
        return Answer(orjson.dumps(listing_answers.categories_with_counts(index)), headers=headers)

    async def changes(self, call: Call[ListChanges]) -> Answer:
        """A page of the feed; `last` is what to send as `since` next time."""
        asked = call.input
        since: int = self.cursors.open(asked.cursor, "changes") if asked.cursor else asked.since

        def unit(tx: Transaction) -> tuple[list[dict[str, Any]], int]:
            return change_queries.page(tx, since, limit=asked.limit + 1), change_queries.latest(tx)

        found, latest = await self.store.read(unit)
        headers = listing_answers.cache_headers(
            call.caller, listing_answers.weak_tag("changes", latest, since, asked.limit)
        )
        if (known := listing_answers.not_modified(call, headers)) is not None:
            return known
        shown = found[: asked.limit]
        last: int = shown[-1]["seq"] if shown else max(since, latest)
        following = self.cursors.seal(last, "changes") if len(found) > len(shown) else None
        rest = {"count": len(shown), "last": last, "latest": latest, "next_cursor": following}
        return Answer(listing_answers.items_object(orjson.dumps(shown), rest), headers=headers)
