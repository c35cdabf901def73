"""The api-catalog (RFC 9727): a linkset that names every API of the origin."""

from typing import Any, Final

from negotiator.edge.operation import Service

PATH: Final = "/.well-known/api-catalog"
MEDIA_TYPE: Final = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'
OPENAPI_TYPE: Final = "application/vnd.oai.openapi+json;version=3.1"


def api_catalog(service: Service) -> dict[str, Any]:
    """The linkset (RFC 9264 §4.2): the catalogue's items, then how to use what is under each."""
    anchors = sorted(
        {
            _collection(operation.path)
            for operation in service.operations
            if operation.path.startswith("/api/")
        }
    )
    items = [{"href": f"{service.base}{anchor}"} for anchor in anchors]
    described = {
        "anchor": f"{service.base}/api",
        "service-desc": [{"href": f"{service.base}/openapi.json", "type": OPENAPI_TYPE}],
        "service-doc": [{"href": f"{service.base}/auth.md", "type": "text/markdown"}],
    }
    if health := service.url("get_health"):
        described["status"] = [{"href": health, "type": "application/json"}]
    return {"linkset": [{"anchor": f"{service.base}{PATH}", "item": items}, described]}


def _collection(path: str) -> str:
    """The collection an operation belongs to: its path up to the first parameter."""
    return path.partition("/{")[0]
