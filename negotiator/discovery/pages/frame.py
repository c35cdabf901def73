"""The frame around every public page, and the headers that pages without inline code may carry."""

from importlib import resources
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from negotiator.discovery.site import SIGN_IN, Site

STYLE: Final = "/site.css"
STYLE_TYPE: Final = "text/css; charset=utf-8"
POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: Final = {"content-security-policy": POLICY}
_LINKS: Final = (
    ("/docs", "Docs"),
    ("/tools", "Tools"),
    ("/auth.md", "For agents"),
    (SIGN_IN, "Sign in"),
)

_templates = Environment(
    loader=PackageLoader("negotiator.discovery.pages"),
    autoescape=select_autoescape(["html"]),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(site: Site, template: str, **values: Any) -> str:
    """The template of this name inside the frame, with what every page knows: the site, its links."""
    links = [(f"{site.root}{path}", title) for path, title in _LINKS if site.has(path)]
    return _templates.get_template(template).render(site=site, links=links, **values)


def static(name: str) -> bytes:
    """A file that pages load: the stylesheet, the icon."""
    return (resources.files("negotiator.discovery.pages") / "templates" / name).read_bytes()
