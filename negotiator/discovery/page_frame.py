"""The frame around every public page, and the headers of pages that need no inline code."""

import re
from importlib import resources
from typing import Any, Final

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, select_autoescape

from negotiator.discovery.site import SiteDescription

STYLE_PATH: Final = "/site.css"
STYLE_TYPE: Final = "text/css; charset=utf-8"
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_MARKUP: Final = re.compile(r"[\\`*_\[\]<>#|!]")
PAGE_HEADERS: Final = {"content-security-policy": CONTENT_SECURITY_POLICY}
_LINKS: Final = (("/docs", "Docs"), ("/tools", "Tools"), ("/auth.md", "For agents"))

_OWN: Final = "negotiator.discovery"


class PageFrame:
    """Renders the templates of a package inside the frame."""

    def __init__(self, package: str = _OWN) -> None:
        self._templates = Environment(
            loader=ChoiceLoader([PackageLoader(package), PackageLoader(_OWN)]),
            autoescape=select_autoescape(["html"]),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters["plain"] = escape_markdown

    def render(self, site: SiteDescription, template: str, **values: Any) -> str:
        """The HTML of this template; every template gets the site and its links."""
        links = site_links(site)
        return self._templates.get_template(template).render(site=site, links=links, **values)


def site_links(site: SiteDescription) -> list[tuple[str, str]]:
    """The links at the top of every public page: path and title."""
    entries = (*_LINKS, (site.sign_in, "Sign in"))
    return [(f"{site.root}{path}", title) for path, title in entries if site.has(path)]


def escape_markdown(text: str) -> str:
    """Third-party text for a page of markdown: one line, with every markup character escaped."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))


_frame = PageFrame()


def render_page(site: SiteDescription, template: str, **values: Any) -> str:
    """The HTML of one of this package's templates."""
    return _frame.render(site, template, **values)


def static_file(name: str) -> bytes:
    """A file that pages load: the stylesheet or the icon."""
    return (resources.files("negotiator.discovery") / "templates" / name).read_bytes()
