"""Schemas of the MCP registry API, whose parameters are in snake case."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from negotiator.base.schema import Strict
from negotiator.directory.record_text import MomentText
from negotiator.directory.schemas_listing import ListingQuery, SearchText
from negotiator.http.cursors import Cursor


class ListServers(ListingQuery):
    """The parameters of the registry (MCP registry API v0.1)."""

    search: SearchText | None = None
    version: Annotated[str, Field(max_length=100)] | None = Field(None, description="`latest`, or an exact version.")
    updated_since: MomentText | None = None
    include_deleted: bool = False
    limit: int = Field(30, ge=1, le=100)
    cursor: Cursor = None


class ServerPath(Strict):
    """A server by its name with one slash, plain or as `%2F`."""

    namespace: str = Field(max_length=100)
    name: str = Field(max_length=100)


class VersionPath(ServerPath):
    """A version of a server, or `latest`."""

    version: str = Field(max_length=100)


_Schema = TypedDict("_Schema", {"$schema": str})


class ServerJson(_Schema):
    """A server in server.json format; unknown members are left out."""

    name: str
    title: str
    description: str
    version: str
    websiteUrl: NotRequired[str]  # noqa: N815  name in the registry's API
    repository: NotRequired[dict[str, Any]]
    packages: NotRequired[list[dict[str, Any]]]
    remotes: NotRequired[list[dict[str, Any]]]


class ServerEntry(TypedDict):
    """A server in the registry's envelope; `_meta` has the registry's metadata and ours, by namespace."""

    server: ServerJson
    _meta: dict[str, dict[str, Any]]


class ServerPageMetadata(TypedDict):
    """The number of servers on the page, and the next cursor."""

    count: int
    nextCursor: NotRequired[str]


class ServerList(TypedDict):
    """A page of servers, or the versions of one.

    Listed are active MCP servers of the catalogue (`kind` `mcp_server`) that state both a `version` and their name in
    the MCP registry (`external_ids.mcp_registry`): server.json needs both, and neither is made up. The entries that the
    catalogue starts with state no version, so the list is empty until servers are submitted or imported with one. All
    MCP servers are at `/api/v1/tools?kind=mcp_server`.
    """

    servers: list[ServerEntry]
    metadata: ServerPageMetadata
