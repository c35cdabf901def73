"""The public pages `/` and `/docs`.

`/` introduces the service, as HTML for people and as markdown for programs. `/docs` shows every operation on one page,
read from the service description; it loads nothing from other origins.
"""

from dataclasses import dataclass
from typing import Final

from negotiator.discovery import operation_examples, page_frame
from negotiator.discovery.catalogs import AI_CATALOG_PATH, AI_CATALOG_TYPE
from negotiator.discovery.site import SiteDescription
from negotiator.discovery.skills import offered_skills
from negotiator.http.operation import Operation
from negotiator.scopes import ordered

HOME_PATH: Final = "/"
_RELATIONS: Final = (
    ("/.well-known/api-catalog", 'rel="api-catalog"'),
    (
        "/openapi.json",
        'rel="service-desc"; type="application/vnd.oai.openapi+json;version=3.1"',
    ),
    ("/docs", 'rel="service-doc"; type="text/html"'),
    ("/llms.txt", 'rel="describedby"; type="text/plain"'),
    ("/.well-known/ard.json", 'rel="ard"; type="application/json"'),
    (AI_CATALOG_PATH, f'rel="ai-catalog"; type="{AI_CATALOG_TYPE}"'),
)


def home_headers(site: SiteDescription) -> dict[str, str]:
    """The page's headers: links to the documents for programs (RFC 8288), and its content security policy."""
    links = [f"<{site.root}{path}>; {relation}" for path, relation in _RELATIONS]
    return {**page_frame.PAGE_HEADERS, "link": ", ".join(links)}


def home_page(site: SiteDescription) -> tuple[str, str]:
    known = {
        "registers": site.offers("register_agent"),
        "enrols": site.offers("register_directory_agent"),
        "signs_in": site.has(site.sign_in),
        "prepares": site.offers("open_negotiation") and site.has(site.sign_in),
        "skills": offered_skills(site.service),
    }
    return page_frame.render_page(site, "home.html", **known), page_frame.render_page(
        site, "home.md", **known
    )


MANUAL_PATH: Final = "/docs"
_NEEDS: Final = {
    "open": "No credential",
    "public": "Works without a credential",
    "bearer": "Bearer token",
}


@dataclass(frozen=True, slots=True)
class ManualSection:
    """One operation as the page shows it."""

    operation: Operation
    needs: str
    scopes: list[str]
    example: str


def manual_page(site: SiteDescription) -> str:
    """The HTML of `/docs`: the operations by slice, in the order of the service description."""
    groups: dict[str, list[ManualSection]] = {}
    for operation in site.api:
        groups.setdefault(operation.tag, []).append(_section(operation, site.base))
    return page_frame.render_page(site, "docs.html", groups=groups)


def _section(operation: Operation, base: str) -> ManualSection:
    shown = operation_examples.curl_command(operation, base)
    return ManualSection(operation, _NEEDS[operation.access], ordered(operation.scopes), shown)
