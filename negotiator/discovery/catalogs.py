"""Catalogues of the APIs and of what agents can use.

The api-catalog (RFC 9727) is a linkset that names every API of the origin. `/.well-known/ai-catalog.json` (AI Catalog
1.0) and `/.well-known/ard.json` (Agentic Resource Discovery v0.91) serve the same list of resources for agents. The MCP
server card is one document for readers of the v1 schema (SEP-2127) and of its drafts (SEP-1649).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from negotiator.discovery.openapi import OPENAPI_PATH
from negotiator.discovery.site import SiteDescription
from negotiator.discovery.skills import offered_skills

WELL_KNOWN_CARD_PATH: Final = "/.well-known/mcp/server-card.json"
CARD_PATH: Final = "/mcp/server-card"
CARD_TYPE: Final = "application/mcp-server-card+json"
CARD_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
CARD_CACHE_HEADERS: Final = {"cache-control": "public, max-age=3600"}


def server_card(
    base: str, info: Mapping[str, Any], versions: Sequence[str], capabilities: Mapping[str, Any], *, locked: bool
) -> dict[str, Any]:
    """The card of the server at `{base}/mcp`.

    `info` is `serverInfo` as `initialize` gives it, `versions` are the protocol revisions that the server speaks,
    newest first; `locked`: every tool needs a token.
    """
    endpoint = f"{base}/mcp"
    authorization = {
        "name": "Authorization",
        "description": f"Bearer token; how to get one: {base}/auth.md",
        "isRequired": locked,
        "isSecret": True,
    }
    return {
        "$schema": CARD_SCHEMA,
        "name": info["name"],
        "title": info["title"],
        "description": info["description"],
        "version": info["version"],
        "websiteUrl": base,
        "remotes": [
            {
                "type": "streamable-http",
                "url": endpoint,
                "supportedProtocolVersions": list(versions),
                "headers": [authorization],
            }
        ],
        "protocolVersion": versions[0],
        "serverInfo": dict(info),
        "endpoint": endpoint,
        "transport": {"type": "streamable-http", "endpoint": endpoint},
        "capabilities": dict(capabilities),
        "authentication": {"required": locked, "schemes": ["bearer"]},
        "documentationUrl": f"{base}/auth.md",
    }


API_CATALOG_PATH: Final = "/.well-known/api-catalog"
LINKSET_TYPE: Final = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'
OPENAPI_TYPE: Final = "application/vnd.oai.openapi+json;version=3.1"
API_CATALOG_LINK: Final = {"link": f'<{API_CATALOG_PATH}>; rel="api-catalog"'}
_VERSIONED: Final = "/api/v1"
_UNVERSIONED: Final = "/api"


def api_catalog(site: SiteDescription) -> dict[str, Any]:
    """The linkset (RFC 9264 §4.2): the items of the catalogue, then the links of each API by its anchor."""
    paths = {each.path for each in site.api if each.path.startswith(f"{_UNVERSIONED}/")}
    # A path that is only the prefix of a parameter, such as a share link's token, is not a collection.
    collections = sorted({path.partition("/{")[0] for path in paths} & paths)
    items = [{"href": f"{site.base}{path}"} for path in collections]
    versioned = {path for path in paths if path.startswith(f"{_VERSIONED}/")}
    anchors = [*([_VERSIONED] if versioned else []), *([_UNVERSIONED] if paths - versioned else [])]
    return {
        "linkset": [
            {"anchor": f"{site.base}{API_CATALOG_PATH}", "item": items},
            *({"anchor": f"{site.base}{anchor}", **_links(site)} for anchor in anchors),
        ]
    }


def _links(site: SiteDescription) -> dict[str, Any]:
    """The links to an API's description, documentation and status, each with its media type."""
    links = {
        "service-desc": [{"href": f"{site.base}/openapi.json", "type": OPENAPI_TYPE}],
        "service-doc": [
            {"href": f"{site.base}/docs", "type": "text/html"},
            {"href": f"{site.base}/auth.md", "type": "text/markdown"},
        ],
    }
    if health := site.service.url("get_health"):
        links["status"] = [{"href": health, "type": "application/json"}]
    return links


AI_CATALOG_PATH: Final = "/.well-known/ai-catalog.json"
AI_CATALOG_TYPE: Final = "application/ai-catalog+json"
"""AI Catalog 1.0, Media Type and Location Independence; without parameters."""
ARD_PATH: Final = "/.well-known/ard.json"
_ASSISTANT: Final = (
    "What should I offer next in this price negotiation?",
    "Make a plan for renewing a contract",
    "How strong is my position against this supplier?",
)
_DIRECTORY: Final = ("Which MCP server reads a PostgreSQL database?", "Find an open-source tool that transcribes audio")
_SKILLS: Final = {
    "get-a-token": ("How do I register an agent here?", "Get a bearer token without an account"),
    "run-a-negotiation": ("Negotiate this contract for me", "Answer the seller's counteroffer"),
    "rehearse": (
        "Practise a negotiation before the real talk",
        "Play the seller, and tell me afterwards what I left on the table",
    ),
    "search-the-tools-directory": ("Find a tool for this task", "Which AI tools are in this category?"),
}


def ai_catalog(site: SiteDescription) -> dict[str, Any]:
    """The document that both catalogues serve: the publisher, and the entries with their addresses."""
    host = urlsplit(site.base).hostname or "localhost"
    return {
        "specVersion": "1.0",
        "host": {"displayName": "Negotiator", "identifier": f"urn:air:{host}", "documentationUrl": f"{site.base}/docs"},
        "entries": [
            {
                "identifier": f"urn:air:{host}:negotiator:{name}",
                "displayName": title,
                "type": media_type,
                "url": f"{site.base}{path}",
                "description": description,
                "representativeQueries": list(queries),
            }
            for name, title, media_type, path, description, queries in _resources(site)
        ],
    }


def _resources(site: SiteDescription) -> Iterator[tuple[str, str, str, str, str, tuple[str, ...]]]:
    """The resources for agents: name, title, media type, path, description, and questions that each answers."""
    queries = (*(_ASSISTANT if site.negotiates else ()), *(_DIRECTORY if site.lists_tools else ()))
    if queries:
        what = f"HTTP API of the {site.name}: every operation with its schemas, scopes and errors"
        yield "api", "Negotiator API", OPENAPI_TYPE, OPENAPI_PATH, what, queries
    if queries and site.has(CARD_PATH):
        yield "mcp", "Negotiator MCP server", CARD_TYPE, CARD_PATH, f"MCP server of the {site.name}", queries
    for skill in offered_skills(site.service):
        title = skill.name.replace("-", " ").capitalize()
        yield skill.name, title, "text/markdown", skill.path, skill.description, _SKILLS[skill.name]
