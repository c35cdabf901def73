"""Renders pages from templates, with a policy that allows only our own stylesheet and without caching."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from negotiator.values import timestamp

_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action {forms}; "
    "frame-ancestors 'none'; base-uri 'none'"
)
_STYLE: Final = "console.css"


def _moment(at: int) -> str:
    """Milliseconds as `2026-11-21 16:45 UTC`."""
    return timestamp(at)[:16].replace("T", " ") + " UTC"


_templates = Environment(
    loader=PackageLoader("negotiator.console"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters["moment"] = _moment


@dataclass(frozen=True, slots=True)
class PageRenderer:
    """Renders templates for the service at `base`; links stay below its path."""

    base: str

    def routes(self) -> list[Route]:
        return [Route(f"/{_STYLE}", _style, methods=["GET"])]

    def render(
        self,
        template: str,
        status: int = 200,
        *,
        form_redirect_origins: Iterable[str] = (),
        headers: dict[str, str] | None = None,
        **context: Any,
    ) -> Response:
        """Render a page.

        Browsers apply `form-action` to redirects too. A form whose answer redirects to another origin names it in
        `form_redirect_origins` (`https://host:port`, or a scheme with its colon).
        """
        root = urlsplit(self.base).path
        content = _templates.get_template(template).render(
            **{"here": "", "base": self.base, "root": root, "version": _version(), **context}
        )
        policy = _POLICY.format(forms=" ".join(("'self'", *form_redirect_origins)))
        own_headers = {"content-security-policy": policy, "cache-control": "no-store"}
        return HTMLResponse(content, status, headers={**own_headers, **(headers or {})})

    def see(self, path: str) -> Response:
        """Redirect to another page by GET (RFC 9700 §2.6: 303 after a form)."""
        return RedirectResponse(f"{self.base}{path}", 303, headers={"cache-control": "no-store"})


async def _style(_request: Request) -> Response:
    """The stylesheet. Templates name it with its digest, so browsers may cache it for good."""
    headers = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(_source(), media_type="text/css", headers=headers)


@cache
def _source() -> str:
    loader = _templates.loader
    assert loader is not None  # noqa: S101  set at the top
    return loader.get_source(_templates, _STYLE)[0]


@cache
def _version() -> str:
    """A digest of the stylesheet."""
    return hashlib.sha256(_source().encode()).hexdigest()[:12]
