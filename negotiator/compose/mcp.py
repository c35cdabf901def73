"""The MCP endpoint and its card: the whole description of the service, spoken once more."""

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
from negotiator.http.operation import ServiceDescription
from negotiator.http.pipeline import RefusalRenderer
from negotiator.mcp.endpoint import MCP_PATH, McpEndpoint, requires_credential
from negotiator.mcp.server_info import make_server_info

if TYPE_CHECKING:
    from negotiator.mcp.server import McpServer


@dataclass(frozen=True, slots=True)
class McpService:
    """The endpoint, and the documents that describe it."""

    door: ASGIApp
    documents: tuple[PublicDocument, ...]


def build_mcp(ground: Services, service: ServiceDescription) -> McpService:
    """Make them; the SDK is loaded by the first message, or the first look at the card."""
    base = service.base
    doorway = dataclasses.replace(ground.doorway, refusals=RefusalRenderer(base, MCP_PATH))

    @functools.cache
    def speaker() -> "McpServer":
        from negotiator.mcp.server import McpServer

        return McpServer(service, doorway, make_server_info(service, __version__))

    @functools.cache
    def shown() -> bytes:
        return orjson.dumps(
            mcp_card.server_card(base, speaker(), locked=requires_credential(service))
        )

    return McpService(
        McpEndpoint(
            service,
            doorway,
            speaker=speaker,
            origins=ground.settings.allowed_origins,
        ),
        (
            PublicDocument(
                mcp_card.WELL_KNOWN_CARD_PATH,
                "application/json",
                shown,
                mcp_card.CARD_CACHE_HEADERS,
            ),
            PublicDocument(
                mcp_card.CARD_PATH, mcp_card.CARD_TYPE, shown, mcp_card.CARD_CACHE_HEADERS
            ),
        ),
    )
