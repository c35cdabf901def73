"""The words that the pages of the directory use for a tool's facts."""

from collections.abc import Mapping
from typing import Final

from negotiator.directory.catalogue_pages import KIND_NAMES
from negotiator.directory.taxonomy import TAXONOMY

KINDS: Final[Mapping[str, str]] = {**KIND_NAMES}
SIGN_IN: Final[Mapping[str, str]] = {
    "none": "None needed",
    "api_key": "API key",
    "oauth2": "Account (OAuth)",
    "other": "Another way",
}
PRICES: Final[Mapping[str, str]] = {
    "free": "Free",
    "freemium": "Free to start",
    "paid": "Paid",
    "open_source": "Free, open source",
    "usage": "By use",
}
SOURCE: Final[Mapping[str, str]] = {"true": "Open", "false": "Closed"}
PUBLISHER: Final[Mapping[str, str]] = {"true": "Verified", "false": "Not verified"}
STATUS: Final[Mapping[str, str]] = {
    "active": "Listed",
    "deprecated": "No longer kept up",
    "quarantined": "Withheld while it is looked at",
    "deleted": "Removed",
}
INTERFACES: Final[Mapping[str, str]] = {
    "streamable-http": "MCP over HTTP",
    "sse": "MCP over SSE",
    "stdio": "MCP on your computer",
    "rest": "REST API",
    "a2a": "Agent to agent (A2A)",
    "cli": "Command line",
    "web": "Website",
}
_NEEDS_ADDRESS: Final = frozenset({"streamable-http", "sse"})
CATEGORIES: Final[Mapping[str, str]] = {slug: each.name for slug, each in TAXONOMY.items()}
FACT_NAMES: Final[Mapping[str, str]] = {
    "*": "Everything",
    "name": "Name",
    "summary": "Summary",
    "description": "Description",
    "kind": "Kind",
    "category": "Category",
    "subcategories": "Used for",
    "tags": "Tags",
    "homepage_url": "Home page",
    "docs_url": "Documentation",
    "repository": "Source code",
    "interfaces": "Ways to call it",
    "packages": "Packages",
    "auth": "How to sign in",
    "pricing": "Price",
    "licence": "Licence",
    "open_source": "Open source",
    "publisher": "Publisher",
    "external_ids": "Names elsewhere",
    "version": "Version",
}
"""The members of a record."""


def part_name(category: str, slug: str) -> str:
    """The name of a subcategory."""
    return TAXONOMY[category].subcategories.get(slug, slug.replace("-", " "))


def way_to_call(kind: str, url: str | None) -> str:
    """A type of interface in words; one that nobody can call without an address says that it has none."""
    return f"{INTERFACES[kind]}{'' if url or kind not in _NEEDS_ADDRESS else ' (no address given)'}"
