"""What agents can use here, as one list in two forms: `/.well-known/ai-catalog.json` and `/.well-known/ard.json`.

AI Catalog 1.0 and Agentic Resource Discovery v0.91 read the same entries from two places.
"""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from negotiator.discovery.agents.skills import skills
from negotiator.discovery.catalogue import OPENAPI_TYPE
from negotiator.discovery.openapi import PATH as OPENAPI
from negotiator.discovery.site import Site

AI_CATALOG: Final = "/.well-known/ai-catalog.json"
ARD: Final = "/.well-known/ard.json"
CARD: Final = "/mcp/server-card"
_CARD_TYPE: Final = "application/mcp-server-card+json"
_ASSISTANT: Final = (
    "What should I offer next in this price negotiation?",
    "Make a plan for renewing a contract",
    "How strong is my position against this supplier?",
)
_DIRECTORY: Final = (
    "Which MCP server reads a PostgreSQL database?",
    "Find an open-source tool that transcribes audio",
)
_SKILLS: Final = {
    "get-a-token": ("How do I register an agent here?", "Get a bearer token without an account"),
    "run-a-negotiation": (
        "Negotiate this contract for me",
        "Answer the seller's counteroffer",
    ),
    "search-the-tools-directory": (
        "Find a tool for this task",
        "Which AI tools are in this category?",
    ),
}


@dataclass(frozen=True, slots=True)
class Resource:
    """One thing an agent can use: what it is, where it is described, what one would ask to find it."""

    name: str
    title: str
    media_type: str
    path: str
    description: str
    queries: tuple[str, ...]


def resources(site: Site) -> list[Resource]:
    """The list; each is there because what it points to is."""
    queries = (*(_ASSISTANT if site.negotiates else ()), *(_DIRECTORY if site.lists_tools else ()))
    found: list[Resource] = []
    if queries:
        what = f"HTTP API of the {site.name}: every operation with its schemas, scopes and errors"
        found.append(Resource("api", "Negotiator API", OPENAPI_TYPE, OPENAPI, what, queries[:5]))
    if queries and site.has(CARD):
        what = f"MCP server of the {site.name}"
        found.append(Resource("mcp", "Negotiator MCP server", _CARD_TYPE, CARD, what, queries[:5]))
    return [
        *found,
        *(
            Resource(
                skill.name,
                skill.name.replace("-", " ").capitalize(),
                "text/markdown",
                skill.path,
                skill.description,
                _SKILLS[skill.name],
            )
            for skill in skills(site)
        ),
    ]


def catalog(site: Site) -> dict[str, Any]:
    """The list as both readers take it: who publishes it, and the entries, each by its address."""
    host = urlsplit(site.base).hostname or "localhost"
    return {
        "specVersion": "1.0",
        "host": {
            "displayName": "Negotiator",
            "identifier": f"urn:air:{host}",
            "documentationUrl": f"{site.base}/docs",
        },
        "entries": [
            {
                "identifier": f"urn:air:{host}:negotiator:{each.name}",
                "displayName": each.title,
                "type": each.media_type,
                "url": f"{site.base}{each.path}",
                "description": each.description,
                "representativeQueries": list(each.queries),
            }
            for each in resources(site)
        ],
    }
