"""Every document that the service publishes, made from its description."""

from collections.abc import Callable
from typing import Any, Final

import orjson

from negotiator.discovery import catalogue, manual, metadata, openapi, texts
from negotiator.discovery.documents import Document, fixed
from negotiator.discovery.metadata import Authorization
from negotiator.edge.operation import Service

_JSON: Final = "application/json"
_TEXT: Final = "text/plain; charset=utf-8"
_MARKDOWN: Final = "text/markdown; charset=utf-8"
_HTML: Final = "text/html; charset=utf-8"
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"


def published(
    service: Service, authorization: Authorization, *, version: str, jwks: Callable[[], Any]
) -> tuple[Document, ...]:
    """The documents; all but the keys, which rotate, are made once."""
    described = {
        metadata.RESOURCE_PATH: metadata.protected_resource(service),
        f"{metadata.RESOURCE_PATH}{metadata.MCP}": metadata.protected_resource(
            service, metadata.MCP
        ),
        metadata.SERVER_PATH: metadata.authorization_server(service, authorization),
        metadata.OPENID_PATH: metadata.openid_configuration(service, authorization),
    }
    linkset = orjson.dumps(catalogue.api_catalog(service))
    link = {"link": f'<{catalogue.PATH}>; rel="api-catalog"'}
    description = orjson.dumps(openapi.document(service, version))
    pages = {
        ("/auth.md", _MARKDOWN): texts.auth_md(service, authorization),
        ("/llms.txt", _TEXT): texts.llms_txt(service),
        ("/robots.txt", _TEXT): texts.robots_txt(service),
    }
    return (
        *(fixed(path, _JSON, orjson.dumps(document)) for path, document in described.items()),
        fixed(catalogue.PATH, catalogue.MEDIA_TYPE, linkset, link),
        Document(metadata.JWKS_PATH, "application/jwk-set+json", lambda: orjson.dumps(jwks())),
        fixed(openapi.PATH, catalogue.OPENAPI_TYPE, description),
        fixed(
            manual.PATH,
            _HTML,
            manual.manual(service).encode(),
            {"content-security-policy": _POLICY},
        ),
        *(fixed(path, media_type, text.encode()) for (path, media_type), text in pages.items()),
    )
