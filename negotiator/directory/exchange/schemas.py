"""What crosses the wire when the catalogue is exchanged. The MCP registry names its parameters in snake case."""

from typing import Annotated

from pydantic import Field

from negotiator.directory.listing.schemas import Listed, Text
from negotiator.directory.record.texts import Moment
from negotiator.edge.operation import Strict


class ListServers(Listed):
    """The registry's own parameters (MCP registry API v0.1)."""

    search: Text | None = None
    version: Annotated[str, Field(max_length=100)] | None = Field(
        None, description="`latest`, or an exact version."
    )
    updated_since: Moment | None = None
    include_deleted: bool = False
    limit: int = Field(30, ge=1, le=100)
    cursor: str | None = Field(None, max_length=2000)


class ServerPath(Strict):
    """A server by its name, which has one slash; as `%2F` or as it is."""

    namespace: str = Field(max_length=100)
    name: str = Field(max_length=100)


class VersionPath(ServerPath):
    """One version of a server, or `latest`."""

    version: str = Field(max_length=100)
