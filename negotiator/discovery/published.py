"""Every document that the service publishes, made from its description."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import orjson

from negotiator.discovery import catalogue, metadata, openapi, texts
from negotiator.discovery.agents import llms, resources, robots, sitemap, skills, webmcp
from negotiator.discovery.documents import (
    HTML,
    JSON,
    MARKDOWN,
    TEXT,
    Document,
    fixed,
    kept,
    page,
)
from negotiator.discovery.metadata import Authorization
from negotiator.discovery.pages import frame, home, manual
from negotiator.discovery.site import Rates, Site
from negotiator.edge.operation import Service

_ICON: Final = "/icon.svg"
_ALWAYS: Final = (
    *(home.PATH, manual.PATH, frame.STYLE, _ICON, openapi.PATH, "/auth.md", metadata.JWKS_PATH),
    *(llms.PATH, llms.FULL_PATH, robots.PATH, skills.INDEX, catalogue.PATH),
    *(resources.AI_CATALOG, resources.ARD, webmcp.PATH),
    *(metadata.RESOURCE_PATH, metadata.SERVER_PATH, metadata.OPENID_PATH),
)


def site_of(
    service: Service,
    version: str,
    beside: Iterable[str],
    *,
    personal: Iterable[str] = (),
    rates: Rates | None = None,
) -> Site:
    """What the documents are made of; `beside` are the paths that others serve, `personal` those for who signed in."""
    return Site(service, version, frozenset((*_ALWAYS, *beside)), frozenset(personal), rates)


def published(
    site: Site, authorization: Authorization, *, jwks: Callable[[], Any]
) -> tuple[Document, ...]:
    """The documents; all but the keys, which rotate, are made once, the large ones when they are first asked for."""
    return (
        *_metadata(site, authorization, jwks),
        *_catalogues(site),
        *_for_agents(site),
        *_for_people(site),
    )


def _metadata(
    site: Site, authorization: Authorization, jwks: Callable[[], Any]
) -> Iterable[Document]:
    described = {
        **{
            f"{metadata.RESOURCE_PATH}{path}": metadata.protected_resource(
                site.service, path, proof_algorithms=authorization.proof_algorithms
            )
            for path in metadata.parts(site.service.scopes)
        },
        metadata.SERVER_PATH: metadata.authorization_server(site.service, authorization),
        metadata.OPENID_PATH: metadata.openid_configuration(site.service, authorization),
    }
    yield from (_json(path, document) for path, document in described.items())
    yield Document(metadata.JWKS_PATH, "application/jwk-set+json", lambda: orjson.dumps(jwks()))


def _catalogues(site: Site) -> Iterable[Document]:
    linkset = orjson.dumps(catalogue.api_catalog(site))
    yield fixed(catalogue.PATH, catalogue.MEDIA_TYPE, linkset, catalogue.LINK)
    yield kept(
        openapi.PATH,
        catalogue.OPENAPI_TYPE,
        lambda: orjson.dumps(openapi.document(site.service, site.version)),
    )
    listed = resources.catalog(site)
    yield _json(resources.AI_CATALOG, listed)
    yield _json(resources.ARD, listed)
    yield _json(skills.INDEX, skills.index(site))


def _for_agents(site: Site) -> Iterable[Document]:
    access = texts.auth_md(site)
    yield fixed("/auth.md", MARKDOWN, access.encode())
    yield fixed(llms.PATH, TEXT, llms.llms_txt(site).encode())
    yield kept(llms.FULL_PATH, TEXT, lambda: llms.llms_full_txt(site, access).encode())
    yield fixed(robots.PATH, TEXT, robots.robots_txt(site).encode())
    for skill in skills.skills(site):
        yield fixed(skill.path, MARKDOWN, skill.text.encode())


def _for_people(site: Site) -> Iterable[Document]:
    html, markdown = home.home(site)
    yield page(home.PATH, html, markdown, home.headers(site))
    yield kept(manual.PATH, HTML, lambda: manual.manual(site).encode(), frame.HEADERS)
    yield fixed(frame.STYLE, frame.STYLE_TYPE, frame.static("site.css"))
    yield fixed(_ICON, "image/svg+xml", frame.static("icon.svg"))
    yield kept(webmcp.PATH, webmcp.MEDIA_TYPE, lambda: webmcp.webmcp_js(site).encode())
    if not site.has(sitemap.PATH):  # where there is a catalogue, the sitemap is made of that
        canonical = [(f"{site.base}{path}", None) for path in (home.PATH, manual.PATH)]
        yield fixed(sitemap.PATH, sitemap.MEDIA_TYPE, sitemap.urlset(canonical).encode())


def _json(path: str, document: Any) -> Document:
    return fixed(path, JSON, orjson.dumps(document))
