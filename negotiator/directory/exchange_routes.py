"""The catalogue for other catalogues: an NDJSON export, and the read API of the MCP registry."""

import asyncio
import gzip
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from negotiator.base.errors import NotFound
from negotiator.base.schema import NoInput
from negotiator.directory import catalogue_queries, listing_answers
from negotiator.directory.catalogue_index import CatalogueIndex
from negotiator.directory.exchange_import import OFFICIAL_NAMESPACE, JsonObject, shortened_text
from negotiator.directory.schemas_listing import (
    ListServers,
    ListTools,
    ServerEntry,
    ServerList,
    ServerPath,
    VersionPath,
)
from negotiator.directory.tool_record import ToolView
from negotiator.discovery.public_pages import PUBLISH_GUIDE_PATH
from negotiator.http.cursors import Cursors
from negotiator.http.operation import LINES, Answer, Call, Operation
from negotiator.runtime import thread_pools
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

_public_operation = partial(Operation, access="public", tag="exchange")
SERVER_JSON_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_CHUNK: Final = 1_000
_EMPTY_PAGES: Final = 20
"""At most so many pages without a registered server are passed over in one call, so that clients do not ask in vain."""
_EXPLAINED: Final = f"{PUBLISH_GUIDE_PATH}#where-else-it-appears"
"""Where it is said which servers are listed, since the registry's format has no place for it."""
_OPEN: Final = frozenset({"active", "deprecated"})


@dataclass(slots=True)
class CatalogueExchange:
    """The export and the registry API; the compressed export is cached until the catalogue changes."""

    base: str
    store: Store
    cursors: Cursors
    catalogue_index: CatalogueIndex
    _export: tuple[int, bytes] = (-1, b"")
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def operations(self) -> list[Operation]:
        # The aliases are the paths of the registry API's first version, which older clients use.
        return [
            _public_operation(
                name="export_tools",
                method="GET",
                path="/api/v1/export.ndjson",
                summary="Export the whole catalogue, one tool per line, with the licences of its facts",
                run=self.export,
                media_type=LINES,
                refusals=(304,),
            ),
            _public_operation(
                name="list_servers",
                method="GET",
                path="/v0.1/servers",
                aliases=("/v0/servers",),
                summary="List the MCP servers with a version and a registry name, in the format of the MCP registry",
                run=self.servers,
                input=ListServers,
                output=ServerList,
                refusals=(304,),
            ),
            _public_operation(
                name="list_server_versions",
                method="GET",
                path="/v0.1/servers/{namespace}/{name}/versions",
                aliases=("/v0/servers/{namespace}/{name}/versions",),
                summary="List the versions of an MCP server; the catalogue stores only the latest",
                run=self.versions,
                input=ServerPath,
                output=ServerList,
                refusals=(304, 404),
            ),
            _public_operation(
                name="get_server_version",
                method="GET",
                path="/v0.1/servers/{namespace}/{name}/versions/{version}",
                aliases=("/v0/servers/{namespace}/{name}/versions/{version}",),
                summary="Read one version of an MCP server, or the latest",
                run=self.version,
                input=VersionPath,
                output=ServerEntry,
                refusals=(304, 404),
            ),
        ]

    async def export(self, call: Call[NoInput]) -> Answer:
        """Every active or deprecated tool, oldest change first."""
        seq = await self.store.read(catalogue_queries.latest_change)
        gzipped = "gzip" in call.headers.get("accept-encoding", "")
        headers = listing_answers.cache_headers(call.caller, _export_tag(seq, gzipped=gzipped))
        if (unchanged := listing_answers.not_modified(call, headers)) is not None:
            return unchanged
        async with self._lock:
            if self._export[0] != seq:
                self._export = await self._make()
        made, packed = self._export
        headers["etag"] = _export_tag(made, gzipped=gzipped)
        if gzipped:
            return Answer(packed, None, {**headers, "content-encoding": "gzip"}, LINES)
        return Answer(await thread_pools.FILES.run(gzip.decompress, packed), None, headers, LINES)

    async def servers(self, call: Call[ListServers]) -> Answer:
        """A page of servers in the registry's format."""
        query = call.input
        seq = (await self.catalogue_index.snapshot()).seq
        headers = listing_answers.cache_headers(
            call.caller, listing_answers.weak_tag("servers", seq, query.model_dump_json())
        )
        headers["link"] = f'<{self.base}{_EXPLAINED}>; rel="help"'
        if (unchanged := listing_answers.not_modified(call, headers)) is not None:
            return unchanged
        tools_query = ListTools.model_validate(
            {
                "query": query.search,
                "kind": ["mcp_server"],
                "sort": None if query.search else "created",
                "updated_since": query.updated_since,
                # A mirror that asks for changes must see deletions too.
                "include_deleted": query.include_deleted or query.updated_since is not None,
                "limit": query.limit,
                "cursor": query.cursor,
            }
        )
        views, cursor = await self._registered(tools_query, query.version)
        for _ in range(_EMPTY_PAGES):
            if views or not cursor:
                break
            tools_query = tools_query.model_copy(update={"cursor": cursor})
            views, cursor = await self._registered(tools_query, query.version)
        metadata = {"count": len(views), **({"nextCursor": cursor} if cursor else {})}
        shown = {"servers": list(map(self._entry, views)), "metadata": metadata}
        return Answer(orjson.dumps(shown), headers=headers)

    async def _registered(self, query: ListTools, version: str | None) -> tuple[list[ToolView], str | None]:
        """The registered servers of a page of tools, and the cursor of the next page.

        They may be fewer than the page's limit: some servers of the catalogue have no registry name.
        """
        catalogue = await self.catalogue_index.snapshot()
        found = await catalogue.search(listing_answers.search_request(query, self.cursors))
        documents = await self.catalogue_index.documents([hit.id for hit in found.hits])
        shown = [ToolView.model_validate_json(document) for document in documents]
        views = [view for view in shown if is_registered(view)]
        if version not in (None, "latest"):
            views = [view for view in views if view.version == version]
        return views, listing_answers.next_cursor(query, found, self.cursors)

    async def versions(self, call: Call[ServerPath]) -> Answer:
        """The only stored version."""
        view = await self._find(call.input)
        return self._shown(call, view, {"servers": [self._entry(view)], "metadata": {"count": 1}})

    async def version(self, call: Call[VersionPath]) -> Answer:
        """The stored version, when it is the requested one."""
        view = await self._find(call.input)
        if call.input.version not in ("latest", view.version):
            raise NotFound("There is no such version.")
        return self._shown(call, view, self._entry(view))

    def _entry(self, view: ToolView) -> dict[str, Any]:
        return render_server(view, self.base)

    def _shown(self, call: Call[Any], view: ToolView, body: dict[str, Any]) -> Answer:
        headers = listing_answers.cache_headers(call.caller, f'"{view.id}.{view.revision}"')
        return listing_answers.not_modified(call, headers) or Answer(orjson.dumps(body), headers=headers)

    async def _find(self, named: ServerPath) -> ToolView:
        name = f"{named.namespace}/{named.name}"
        tool = await self.store.read(lambda tx: catalogue_queries.by_external(tx, name))
        view = tool and tool.view
        if view is None or not is_registered(view) or view.kind != "mcp_server" or view.status == "quarantined":
            raise NotFound("There is no such server.")
        return view

    async def _make(self) -> tuple[int, bytes]:
        """A new export of one snapshot, with the number of its last change."""

        def unit(tx: Transaction) -> tuple[int, list[bytes]]:
            seq, found, chunk = 0, list[bytes](), catalogue_queries.tools_since(tx, 0, limit=_CHUNK)
            while chunk:
                seq = chunk[-1].seq
                found += [each.document for each in chunk if each.status in _OPEN]
                chunk = catalogue_queries.tools_since(tx, seq, limit=_CHUNK)
            return catalogue_queries.latest_change(tx), found

        seq, documents = await self.store.scan(unit)
        return seq, await thread_pools.FILES.run_unhurried(_packed, documents)


def _export_tag(seq: int, *, gzipped: bool) -> str:
    return f'"export.{seq}{".gz" if gzipped else ""}"'


def _packed(documents: list[bytes]) -> bytes:
    """The compressed lines, without a timestamp, so that the same catalogue gives the same bytes."""
    lines = [listing_answers.extend_object(each, {"licences": _licences(each)}) for each in documents]
    return gzip.compress(b"\n".join(lines) + b"\n" if lines else b"", 6, mtime=0)


def _licences(document: bytes) -> list[str]:
    """The licences of a record's facts, each once."""
    evidence: list[dict[str, Any]] = orjson.loads(document)["evidence"]
    return sorted({line["licence"] for line in evidence if line["licence"]})


def is_registered(view: ToolView) -> bool:
    """Whether the tool has a registry name and a version, neither of which is invented."""
    return bool(view.external_ids.mcp_registry and view.version)


def own_namespace(base: str) -> str:
    """The reversed host name of this server, as a namespace."""
    return ".".join(reversed((urlsplit(base).hostname or "localhost").split(".")))


def render_server(view: ToolView, base: str) -> JsonObject:
    """The tool as an entry of the registry's answers: server.json, the registry's metadata and our own."""
    server: JsonObject = {
        "$schema": SERVER_JSON_SCHEMA,
        "name": view.external_ids.mcp_registry,
        "title": view.name,
        "description": shortened_text(view.summary, 100),
        "version": view.version,
        "websiteUrl": view.homepage_url,
        "repository": view.repository and view.repository.model_dump(exclude_none=True),
        "packages": _packages(view),
        "remotes": [
            {"type": each.type, "url": each.url}
            for each in view.interfaces
            if each.type in {"streamable-http", "sse"} and each.url
        ],
    }
    official = {
        "status": "deleted" if view.status == "quarantined" else view.status,
        "statusChangedAt": view.status_changed_at,
        "statusMessage": view.status_message,
        "publishedAt": view.created_at,
        "updatedAt": view.updated_at,
        "isLatest": True,
    }
    own = {"id": view.id, "url": f"{base}/api/v1/tools/{view.slug}", "category": view.category}
    return {
        "server": {name: value for name, value in server.items() if value},
        "_meta": {
            OFFICIAL_NAMESPACE: {name: value for name, value in official.items() if value is not None},
            f"{own_namespace(base)}/directory": own,
        },
    }


def _packages(view: ToolView) -> list[JsonObject]:
    return [
        {
            "registryType": package.registry,
            "identifier": package.identifier,
            **({"version": package.version} if package.version else {}),
            **({"fileSha256": package.sha256} if package.sha256 else {}),
            "transport": {"type": "stdio"},
        }
        for package in view.packages
        if package.registry != "cargo"
    ]
