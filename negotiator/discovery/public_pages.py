"""What the origin says of itself, from templates.

`/` introduces the service, as HTML for people and as markdown for programs. `/auth.md` says how an agent gets a token.
`/llms.txt` is a short map for language models (llmstxt.org), `/llms-full.txt` all in one file. `/webmcp.js` is a script
by which the home page offers the browser's agent the tools that need no credential (WebMCP).
"""

import json
from importlib import resources
from typing import Any, Final

from negotiator.base.scopes import ANONYMOUS, ordered
from negotiator.discovery import openapi_schemas
from negotiator.discovery.authorization_metadata import ID_JAG
from negotiator.discovery.catalogs import AI_CATALOG_PATH, AI_CATALOG_TYPE, CARD_PATH
from negotiator.discovery.openapi import curl_command
from negotiator.discovery.page_frame import PAGE_HEADERS, render_page
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
LLMS_PATH: Final = "/llms.txt"
LLMS_FULL_PATH: Final = "/llms-full.txt"
WEBMCP_PATH: Final = "/webmcp.js"
JAVASCRIPT_TYPE: Final = "text/javascript; charset=utf-8"
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
    return {**PAGE_HEADERS, "link": ", ".join(links)}


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
    return render_page(site, "home.html", **known), render_page(site, "home.md", **known)


def policy_page(site: SiteDescription, path: str) -> str:
    """The page for privacy or terms: the operator's text, its paragraphs apart, else what is true of the program."""
    text = site.policies.get(path, "").split("\n\n")
    parts = [part for paragraph in text if (part := paragraph.strip())]
    title = POLICY_PATHS[path]
    return render_page(site, "policy.html", path=path, title=title, text=parts, services=site.processors)


def auth_md(site: SiteDescription) -> str:
    """`/auth.md`, how an agent gets a token, with commands that it can run: a section for each kind of registration
    that is offered, then the sections that are always there.
    """
    anonymous = ", ".join(f"`{scope}`" for scope in ANONYMOUS)
    return render_page(site, "auth.md", anonymous=anonymous, id_jag=ID_JAG)


_NOTHING: Final[dict[str, Any]] = {"type": "object", "properties": {}}
_NAMED: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "agent_name": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "What a person would know you by.",
        }
    },
    "required": ["agent_name"],
}


def webmcp_js(site: SiteDescription) -> str:
    """The script with the tools of this site."""
    script = resources.files("negotiator.discovery").joinpath("templates/webmcp.js").read_text("utf-8")
    return script.replace("__TOOLS__", json.dumps(webmcp_tools(site), indent=2))


def webmcp_tools(site: SiteDescription) -> list[dict[str, Any]]:
    """The tools: read the instructions for registration, register anonymously, and every public read operation."""
    found = [_tool(site, "read_access_guide", "Read how an agent gets a token here", "/auth.md")]
    for each in site.api:
        if each.access == "public" and each.method == "GET":
            schema: dict[str, Any] = {"type": "object", "properties": {}, **openapi_schemas.input_schema(each.input)}
            found.append({**_tool(site, each.name, each.summary, each.path), "inputSchema": schema})
    if register := site.service.find("register_agent"):
        what = "Register this agent anonymously; the answer carries a bearer token, which is a secret"
        fixed = {"identity_type": "anonymous"}
        place = {"method": "POST", "readOnly": False, "inputSchema": _NAMED, "fixed": fixed}
        found.append({**_tool(site, "register_agent", what, register.path), **place})
    return found


def _tool(site: SiteDescription, name: str, description: str, path: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "method": "GET",
        "path": f"{site.root}{path}",
        "readOnly": True,
        "inputSchema": _NOTHING,
        "fixed": {},
    }


def llms_txt(site: SiteDescription) -> str:
    """The map: a heading, a summary, and sections of links; every link works."""
    return render_page(
        site,
        "llms.md",
        skills=offered_skills(site.service),
        ordered=ordered,
        card=CARD_PATH,
        manual=MANUAL_PATH,
        publish_guide=PUBLISH_GUIDE_PATH,
    )


def llms_full_txt(site: SiteDescription, auth_md: str) -> str:
    """Everything an agent needs in one file: `auth_md`, the skills, and every operation with an example."""
    known = {"skills": offered_skills(site.service), "ordered": ordered, "curl_command": curl_command}
    return render_page(site, "llms-full.md", auth_md=auth_md, **known)
