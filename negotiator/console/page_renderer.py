"""Renders pages from templates, and serves the files that they load; nothing comes from another origin."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from negotiator.base.values import timestamp
from negotiator.console.guides_content import client_setups
from negotiator.console.negotiation_words import (
    amount_text,
    counted_text,
    day_text,
    issue_options,
    issue_unit,
    limit_title,
    percent_text,
    time_text,
)

_POLICY: Final = (
    "default-src 'none'; style-src 'self'; {scripts}img-src 'self' data:; "
    "media-src 'self' blob:; form-action {forms}; frame-ancestors 'none'; base-uri 'none'"
)
_SCRIPTS: Final = "script-src 'self'; connect-src 'self'; "
_PERMISSIONS: Final = "camera=(), geolocation=(), microphone=()"
_CSS: Final = "text/css; charset=utf-8"
_JAVASCRIPT: Final = "text/javascript; charset=utf-8"
_FILES: Final = {
    "console.css": _CSS,
    **dict.fromkeys(
        ("console.js", "passkeys.js", "live.js", "live_audio.js", "live_link.js", "rehearse.js", "htmx.js", "tools.js"),
        _JAVASCRIPT,
    ),
}
_HTMX_PACKAGE: Final = "django-htmx"
_HTMX_FILE: Final = "django_htmx/static/django_htmx/htmx-2.min.js"


_COMPACTED: Final = (
    (re.compile(rb"/\*.*?\*/", re.S), b""),
    (re.compile(rb"\s+"), b" "),
    (re.compile(rb" ?([{};]) ?"), rb"\1"),
    (re.compile(rb"(?<=[a-z]): "), b":"),
    (re.compile(rb", "), b","),
    (re.compile(rb";}"), b"}"),
)


def _moment(at: int | str) -> str:
    """Milliseconds or an RFC 3339 moment, to the minute: `3 December 2026, 14:05 UTC`."""
    return time_text(at if isinstance(at, str) else timestamp(at))


def _day(at: int | str) -> str:
    """The day of milliseconds or of an RFC 3339 moment: `3 December 2026`."""
    return day_text(at if isinstance(at, str) else timestamp(at))


def qr_code(text: str) -> Markup:
    """An SVG of the text, dark on light in both colour schemes, because many cameras read no other."""
    import segno  # imported here: few pages show one

    drawn = segno.make(str(text), error="m", micro=False)
    svg = drawn.svg_inline(
        omitsize=True,
        border=4,
        dark="#000",
        light="#fff",
        svgclass="qr-code",
        lineclass=None,
        title="QR code of the text beside it",
    )
    return Markup(svg)  # noqa: S704  made of numbers only


_templates = Environment(
    loader=PackageLoader("negotiator.console"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
cast("dict[str, Any]", _templates.filters).update(
    {
        "moment": _moment,
        "day": _day,
        "money": amount_text,
        "percent": percent_text,
        "counted": counted_text,
        "qr_code": qr_code,
    }
)
cast("dict[str, Any]", _templates.globals).update(
    {"client_setups": client_setups, "unit_of": issue_unit, "options_of": issue_options, "limit_title": limit_title}
)


@dataclass(frozen=True, slots=True)
class PageRenderer:
    """Renders templates for the service at `base`; links stay below its path."""

    base: str

    def routes(self) -> list[Route]:
        return [Route(f"/{name}", _file, methods=["GET"]) for name in _FILES]

    def render(
        self,
        template: str,
        status: int = 200,
        *,
        form_redirect_origins: Iterable[str] = (),
        headers: dict[str, str] | None = None,
        scripted: bool = True,
        **context: Any,
    ) -> Response:
        """Render a page; one that is not `scripted` loads no script, and the browser runs none in it.

        Browsers apply `form-action` to redirects too. A form whose answer redirects to another origin names it in
        `form_redirect_origins` (`https://host:port`, or a scheme with its colon).
        """
        root = urlsplit(self.base).path
        content = _templates.get_template(template).render(
            **{"here": "", "base": self.base, "root": root, "version": _version()} | {"scripted": scripted, **context}
        )
        policy = _POLICY.format(
            scripts=_SCRIPTS if scripted else "", forms=" ".join(("'self'", *form_redirect_origins))
        )
        own_headers = {
            "content-security-policy": policy,
            "permissions-policy": _PERMISSIONS,
            "cache-control": "no-store",
        }
        return HTMLResponse(content, status, headers={**own_headers, **(headers or {})})

    def see(self, path: str) -> Response:
        """Redirect to another page by GET (RFC 9700 §2.6: 303 after a form)."""
        return RedirectResponse(f"{self.base}{path}", 303, headers={"cache-control": "no-store"})


async def _file(request: Request) -> Response:
    """A file that pages load. Templates name it with a digest, so browsers may cache it for good."""
    name = request.url.path.rsplit("/", 1)[-1]
    headers = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(_content(name), media_type=_FILES[name], headers=headers)


@cache
def _content(name: str) -> bytes:
    if name == "htmx.js":
        return Path(str(metadata.distribution(_HTMX_PACKAGE).locate_file(_HTMX_FILE))).read_bytes()
    content = (resources.files("negotiator.console") / "templates" / name).read_bytes()
    return compact_css(content) if name == "console.css" else content


def compact_css(content: bytes) -> bytes:
    """A stylesheet without comments and needless space; none of its strings may have two blanks in a row."""
    for pattern, kept in _COMPACTED:
        content = pattern.sub(kept, content)
    return content


@cache
def _version() -> str:
    """A digest of all files."""
    return hashlib.sha256(b"".join(_content(name) for name in _FILES)).hexdigest()[:12]
