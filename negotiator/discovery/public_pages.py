"""The public pages: `/` introduces the service, as HTML for people and as markdown for programs; `/auth.md`."""

from typing import Final

from negotiator.base.scopes import ANONYMOUS
from negotiator.discovery import page_frame
from negotiator.discovery.authorization_metadata import ID_JAG
from negotiator.discovery.catalogs import AI_CATALOG_PATH, AI_CATALOG_TYPE
from negotiator.discovery.site import SiteDescription
from negotiator.discovery.skills import offered_skills

HOME_PATH: Final = "/"
MANUAL_PATH: Final = "/docs"
"""The guides and the reference."""
GUIDES_PATH: Final = f"{MANUAL_PATH}/guides"
GUIDE_PATH: Final = f"{GUIDES_PATH}/{{name}}"
PUBLISH_GUIDE_PATH: Final = f"{GUIDES_PATH}/publish-a-tool"
REFERENCE_PATH: Final = f"{MANUAL_PATH}/api"
GROUP_PATH: Final = f"{REFERENCE_PATH}/{{group}}"
DOCS_PATHS: Final = (MANUAL_PATH, GUIDE_PATH, REFERENCE_PATH, GROUP_PATH)
"""The pages of guides and reference, which pages of any origin may read."""
POLICY_PATHS: Final = {"/privacy": "Privacy", "/terms": "Terms of use"}
_RELATIONS: Final = (
    ("/.well-known/api-catalog", 'rel="api-catalog"'),
    ("/openapi.json", 'rel="service-desc"; type="application/vnd.oai.openapi+json;version=3.1"'),
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
        "submits": site.offers("submit_tool") and site.has(site.sign_in),
        "publish_guide": PUBLISH_GUIDE_PATH,
        "skills": offered_skills(site.service),
    }
    return page_frame.render_page(site, "home.html", **known), page_frame.render_page(site, "home.md", **known)


def policy_page(site: SiteDescription, path: str) -> str:
    """The page for privacy or terms: the operator's text, its paragraphs apart, else what is true of the program."""
    text = site.policies.get(path, "").split("\n\n")
    parts = [part for paragraph in text if (part := paragraph.strip())]
    title = POLICY_PATHS[path]
    return page_frame.render_page(site, "policy.html", path=path, title=title, text=parts, services=site.processors)


def auth_md(site: SiteDescription) -> str:
    """`/auth.md`, how an agent gets a token, with commands that it can run: a section for each kind of registration
    that is offered, then the sections that are always there.
    """
    anonymous = ", ".join(f"`{scope}`" for scope in ANONYMOUS)
    return page_frame.render_page(site, "auth.md", anonymous=anonymous, id_jag=ID_JAG)
