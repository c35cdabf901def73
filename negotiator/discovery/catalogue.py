"""The api-catalog (RFC 9727): a linkset that names every API of the origin."""

from typing import Any, Final

from negotiator.discovery.site import Site

PATH: Final = "/.well-known/api-catalog"
MEDIA_TYPE: Final = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'
OPENAPI_TYPE: Final = "application/vnd.oai.openapi+json;version=3.1"
LINK: Final = {"link": f'<{PATH}>; rel="api-catalog"'}
_HEALTH: Final = "/api/health"
_VERSIONED: Final = "/api/v1"
_UNVERSIONED: Final = "/api"


def api_catalog(site: Site) -> dict[str, Any]:
    """The linkset (RFC 9264 §4.2): the catalogue's items, then how to use what is under each anchor."""
    paths = {each.path for each in site.api if each.path.startswith(f"{_UNVERSIONED}/")}
    # What stands above a parameter alone, such as a share link's token, is no collection of its own.
    collections = sorted({_collection(path) for path in paths} & paths)
    items = [{"href": f"{site.base}{path}"} for path in collections]
    versioned = {path for path in paths if path.startswith(f"{_VERSIONED}/")}
    anchors = [
        *([_VERSIONED] if versioned else []),
        *([_UNVERSIONED] if paths - versioned else []),
    ]
    return {
        "linkset": [
            {"anchor": f"{site.base}{PATH}", "item": items},
            *({"anchor": f"{site.base}{anchor}", **_links(site)} for anchor in anchors),
        ]
    }


def _links(site: Site) -> dict[str, Any]:
    """Where an API is described, explained, and watched; each with the type it answers with."""
    links = {
        "service-desc": [{"href": f"{site.base}/openapi.json", "type": OPENAPI_TYPE}],
        "service-doc": [
            {"href": f"{site.base}/docs", "type": "text/html"},
            {"href": f"{site.base}/auth.md", "type": "text/markdown"},
        ],
    }
    if site.service.at(_HEALTH):
        links["status"] = [{"href": f"{site.base}{_HEALTH}", "type": "application/json"}]
    return links


def _collection(path: str) -> str:
    """The collection an operation belongs to: its path up to the first parameter."""
    return path.partition("/{")[0]
