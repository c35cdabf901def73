"""`/robots.txt` (RFC 9309): who may read what, for crawlers and for those that read on behalf of models."""

from typing import Final

from negotiator.discovery.site import Site

PATH: Final = "/robots.txt"
CRAWLERS: Final = (
    "*",
    "GPTBot",
    "OAI-SearchBot",
    "ChatGPT-User",
    "ClaudeBot",
    "Claude-Web",
    "anthropic-ai",
    "Google-Extended",
    "PerplexityBot",
    "Amazonbot",
    "Bytespider",
    "CCBot",
    "Applebot-Extended",
)
_CLOSED: Final = ("/api/", "/oauth/")
_SIGNAL: Final = "Content-Signal: search=yes, ai-input=yes, ai-train=no"
_USAGE: Final = "Content-Usage: search=y, train-ai=n"


def robots_txt(site: Site) -> str:
    """Everybody may read the public documents; the API itself is no page.

    Each group repeats every rule: a crawler reads the one group that names it and no other (RFC 9309 §2.2.1).
    """
    personal = {_beginning(site, path) for path in site.personal if "." not in path}
    paths = (*_CLOSED, *sorted(personal))
    closed = "".join(f"Disallow: {site.root}{path}\n" for path in paths)
    opened = f"Allow: {site.root}/api/v1/\n" if site.lists_tools else ""
    rules = f"{_SIGNAL}\n{_USAGE}\n{opened}{closed}Allow: /\n"
    groups = "\n".join(f"User-agent: {crawler}\n{rules}" for crawler in CRAWLERS)
    return (
        f"{groups}\nSitemap: {site.base}/sitemap.xml\nAgentmap: {site.base}/.well-known/ard.json\n"
    )


def _beginning(site: Site, path: str) -> str:
    """What all the personal pages of one kind begin with."""
    first = f"/{path.split('/')[1]}"
    return first if first in site.personal else f"{first}/"
