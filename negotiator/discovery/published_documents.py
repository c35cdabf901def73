"""Every document that the service publishes, made from its description."""

from collections.abc import Iterable
from typing import Any, Final

import orjson

from negotiator.discovery import authorization_metadata, catalogs, crawlers, openapi, page_frame, public_pages, skills
from negotiator.discovery.authorization_metadata import AuthorizationServerInfo
from negotiator.discovery.documents import HTML, JSON, MARKDOWN, TEXT, PublicDocument, lazy_document, static_document
from negotiator.discovery.site import SiteDescription
from negotiator.keys.keyring import Keyring

_ICON: Final = "/icon.svg"
PUBLISHED_PATHS: Final = frozenset(
    {
        public_pages.HOME_PATH,
        public_pages.MANUAL_PATH,
        *public_pages.POLICY_PATHS,
        page_frame.STYLE_PATH,
        _ICON,
        openapi.OPENAPI_PATH,
        "/auth.md",
        authorization_metadata.JWKS_PATH,
        authorization_metadata.RESOURCE_PATH,
        authorization_metadata.SERVER_PATH,
        authorization_metadata.OPENID_PATH,
        public_pages.LLMS_PATH,
        public_pages.LLMS_FULL_PATH,
        crawlers.ROBOTS_PATH,
        skills.SKILLS_INDEX_PATH,
        catalogs.API_CATALOG_PATH,
        catalogs.AI_CATALOG_PATH,
        catalogs.ARD_PATH,
        public_pages.WEBMCP_PATH,
    }
)
"""What every service publishes."""


def published_documents(
    site: SiteDescription, authorization: AuthorizationServerInfo, keyring: Keyring
) -> tuple[PublicDocument, ...]:
    """The documents. All but the keys, which rotate, are made once; the large ones at the first request."""
    return (*_metadata(site, authorization, keyring), *_catalogues(site), *_for_agents(site), *_for_people(site))


def _metadata(
    site: SiteDescription, authorization: AuthorizationServerInfo, keyring: Keyring
) -> Iterable[PublicDocument]:
    described = {
        **{
            f"{authorization_metadata.RESOURCE_PATH}{path}": authorization_metadata.protected_resource(
                site.service, path, proof_algorithms=authorization.proof_algorithms
            )
            for path in authorization_metadata.resource_paths(site.service.scopes, site.mcp)
        },
        authorization_metadata.SERVER_PATH: authorization_metadata.authorization_server(site.service, authorization),
        authorization_metadata.OPENID_PATH: authorization_metadata.openid_configuration(site.service, authorization),
    }
    yield from (_json(path, document) for path, document in described.items())
    yield PublicDocument(
        authorization_metadata.JWKS_PATH,
        "application/jwk-set+json",
        lambda: orjson.dumps(keyring.jwks()),
        prepare=keyring.freshen,
    )


def _catalogues(site: SiteDescription) -> Iterable[PublicDocument]:
    linkset = orjson.dumps(catalogs.api_catalog(site))
    yield static_document(catalogs.API_CATALOG_PATH, catalogs.LINKSET_TYPE, linkset, catalogs.API_CATALOG_LINK)
    yield lazy_document(
        openapi.OPENAPI_PATH,
        catalogs.OPENAPI_TYPE,
        lambda: orjson.dumps(openapi.openapi_document(site.service, site.version)),
    )
    listed = catalogs.ai_catalog(site)
    yield static_document(catalogs.AI_CATALOG_PATH, catalogs.AI_CATALOG_TYPE, orjson.dumps(listed))
    yield _json(catalogs.ARD_PATH, listed)
    yield _json(skills.SKILLS_INDEX_PATH, skills.skills_index(site.service))


def _for_agents(site: SiteDescription) -> Iterable[PublicDocument]:
    access = public_pages.auth_md(site)
    yield static_document("/auth.md", MARKDOWN, access.encode())
    yield static_document(public_pages.LLMS_PATH, TEXT, public_pages.llms_txt(site).encode())
    yield lazy_document(public_pages.LLMS_FULL_PATH, TEXT, lambda: public_pages.llms_full_txt(site, access).encode())
    yield static_document(crawlers.ROBOTS_PATH, TEXT, crawlers.robots_txt(site).encode())
    for skill in skills.offered_skills(site.service):
        yield static_document(skill.path, MARKDOWN, skill.content)


def _for_people(site: SiteDescription) -> Iterable[PublicDocument]:
    html, markdown = public_pages.home_page(site)
    headers = public_pages.home_headers(site)
    yield PublicDocument(public_pages.HOME_PATH, HTML, html.encode, headers, markdown.encode())
    for path in public_pages.POLICY_PATHS:
        yield static_document(path, HTML, public_pages.policy_page(site, path).encode(), page_frame.PAGE_HEADERS)
    yield static_document(page_frame.STYLE_PATH, page_frame.STYLE_TYPE, page_frame.static_file("site.css"))
    yield static_document(_ICON, "image/svg+xml", page_frame.static_file("icon.svg"))
    yield lazy_document(
        public_pages.WEBMCP_PATH, public_pages.JAVASCRIPT_TYPE, lambda: public_pages.webmcp_js(site).encode()
    )
    if not site.has(crawlers.SITEMAP_PATH):  # the directory makes the sitemap from its catalogue
        canonical = [(f"{site.base}{path}", None) for path in (public_pages.HOME_PATH, public_pages.MANUAL_PATH)]
        yield static_document(crawlers.SITEMAP_PATH, crawlers.SITEMAP_TYPE, crawlers.url_set(canonical).encode())


def _json(path: str, document: Any) -> PublicDocument:
    return static_document(path, JSON, orjson.dumps(document))
