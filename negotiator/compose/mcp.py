"""The MCP endpoint and its server card, made from the service description."""

import dataclasses
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson
from starlette.types import ASGIApp

from negotiator import __version__
from negotiator.compose.services import Services
from negotiator.discovery import mcp_card
from negotiator.discovery.documents import PublicDocument
from negotiator.discovery.skills import offered_skills
from negotiator.http.operation import ServiceDescription
from negotiator.http.pipeline import RefusalRenderer
from negotiator.mcp.endpoint import MCP_PATH, McpEndpoint, requires_credential
from negotiator.mcp.server_info import make_server_info
from negotiator.mcp.skills import McpSkills

if TYPE_CHECKING:
    from negotiator.mcp.server import McpServer


@dataclass(frozen=True, slots=True)
class McpService:
    """The endpoint, and the documents that describe it."""

    endpoint: ASGIApp
    documents: tuple[PublicDocument, ...]


def build_mcp(services: Services, service: ServiceDescription) -> McpService:
    """Build the endpoint; the MCP SDK is imported by the first message or the first request for the card."""
    base = service.base
    pipeline = dataclasses.replace(services.pipeline, refusals=RefusalRenderer(base, MCP_PATH))

    @functools.cache
    def server() -> "McpServer":
        from negotiator.mcp.server import McpServer

        identity = make_server_info(service, __version__)
        return McpServer(service, pipeline, identity, McpSkills(offered_skills(service)))

    @functools.cache
    def card() -> bytes:
        return orjson.dumps(mcp_card.server_card(base, server(), locked=requires_credential(service)))

    return McpService(
        McpEndpoint(service, pipeline, server=server, origins=services.settings.allowed_origins),
        (
            PublicDocument(mcp_card.WELL_KNOWN_CARD_PATH, "application/json", card, mcp_card.CARD_CACHE_HEADERS),
            PublicDocument(mcp_card.CARD_PATH, mcp_card.CARD_TYPE, card, mcp_card.CARD_CACHE_HEADERS),
        ),
    )
