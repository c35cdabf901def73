"""`/`: what this is and how to begin, for people as HTML and for programs as markdown."""

from typing import Final

from negotiator.discovery.agents.skills import skills
from negotiator.discovery.pages import frame
from negotiator.discovery.site import ENROL, REGISTER, SIGN_IN, Site

PATH: Final = "/"
_RELATIONS: Final = (
    ("/.well-known/api-catalog", 'rel="api-catalog"'),
    (
        "/openapi.json",
        'rel="service-desc"; type="application/vnd.oai.openapi+json;version=3.1"',
    ),
    ("/docs", 'rel="service-doc"; type="text/html"'),
    ("/llms.txt", 'rel="describedby"; type="text/plain"'),
    ("/.well-known/ard.json", 'rel="ard"; type="application/json"'),
)


def headers(site: Site) -> dict[str, str]:
    """What the page is served with: where programs read on (RFC 8288), and what it may load."""
    links = [f"<{site.root}{path}>; {relation}" for path, relation in _RELATIONS]
    return {**frame.HEADERS, "link": ", ".join(links)}


def home(site: Site) -> tuple[str, str]:
    """The page as HTML and as markdown."""
    known = {
        "registers": site.service.at(REGISTER, "POST") is not None,
        "enrols": site.service.at(ENROL, "POST") is not None,
        "signs_in": site.has(SIGN_IN),
        "skills": skills(site),
    }
    return frame.render(site, "home.html", **known), frame.render(site, "home.md", **known)
