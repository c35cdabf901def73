"""The MCP endpoint and its card: the whole description of the service, spoken once more."""

import dataclasses
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import orjson
from starlette.types import ASGIApp

from negotiator import __version__
from negotiator.discovery import card
from negotiator.discovery.documents import Document
from negotiator.edge.operation import Service
from negotiator.edge.refusals import Refusals
from negotiator.mcp.door import PATH, Door, locked
from negotiator.mcp.offers.identity import identity
from negotiator.wiring.ground import Ground

if TYPE_CHECKING:
    from negotiator.mcp.speaker import Speaker


@dataclass(frozen=True, slots=True)
class Speech:
    """The endpoint, and the documents that describe it."""

    door: ASGIApp
    documents: tuple[Document, ...]


def speech(ground: Ground, service: Service) -> Speech:
    """Make them; the SDK is loaded by the first message, or the first look at the card."""
    base = service.base
    doorway = dataclasses.replace(ground.doorway, refusals=Refusals(base, PATH))

    @functools.cache
    def speaker() -> "Speaker":
        from negotiator.mcp.speaker import Speaker

        return Speaker(service, doorway, identity(service, __version__))

    @functools.cache
    def shown() -> bytes:
        return orjson.dumps(card.card(base, speaker(), locked=locked(service)))

    return Speech(
        Door(
            service,
            doorway,
            speaker=speaker,
            origins=(_origin(base), *ground.settings.trusted_origins),
        ),
        (
            Document(card.PATH, "application/json", shown, card.MAX_AGE),
            Document(card.BESIDE, card.MEDIA_TYPE, shown, card.MAX_AGE),
        ),
    )


def _origin(base: str) -> str:
    parts = urlsplit(base)
    return f"{parts.scheme}://{parts.netloc}"
