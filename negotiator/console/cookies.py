"""Cookies of the pages: host-only with https, not readable by scripts, not sent by other sites' forms."""

import base64
import binascii
from dataclasses import dataclass
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from negotiator.base import values

CookieKind = Literal["session", "anonymous", "pending-sign-in", "device", "asked-later"]


@dataclass(frozen=True, slots=True)
class BrowserCookies:
    """Reads and writes the cookies of the service at `base`."""

    base: str
    pepper: bytes

    def read(self, request: Request, kind: CookieKind) -> str:
        """The cookie's text, empty when there is none.

        Nothing is unquoted: `write` never quotes, and CPython's `http.cookies` takes quadratic time to unquote before
        3.11.10 and 3.12.6 (CVE-2024-7592), which is why `request.cookies` is not used.
        """
        cookie_name, found = self._name(kind), ""
        for header in request.headers.getlist("cookie"):
            for pair in header.split(";"):
                name, _, value = pair.partition("=")
                if name.strip() == cookie_name:
                    found = value.strip()
        return found

    def write(self, response: Response, kind: CookieKind, text: str, *, life: int) -> None:
        """Set the cookie for `life` seconds."""
        response.set_cookie(
            self._name(kind), text, max_age=life, path="/", secure=self._is_https, httponly=True, samesite="lax"
        )

    def drop(self, response: Response, kind: CookieKind) -> None:
        response.delete_cookie(self._name(kind), path="/", secure=self._is_https, httponly=True, samesite="lax")

    def seal(self, kind: CookieKind, content: bytes) -> str:
        """Content with a signature, as a cookie's text."""
        text = base64.urlsafe_b64encode(content).decode().rstrip("=")
        return f"{text}.{self._signature(kind, text)}"

    def unseal(self, kind: CookieKind, sealed: str) -> bytes | None:
        """The content that `seal` signed; None for any other text."""
        text, _, signature = sealed.partition(".")
        if not values.equal_in_constant_time(signature, self._signature(kind, text)):
            return None
        try:
            return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except (binascii.Error, ValueError):
            return None

    def _signature(self, kind: CookieKind, text: str) -> str:
        return values.keyed_digest(self.pepper, f"{kind}:{text}")

    @property
    def _is_https(self) -> bool:
        return self.base.startswith("https:")

    def _name(self, kind: CookieKind) -> str:
        # Browsers accept a `__Host-` cookie from this host only (RFC 6265bis §4.1.3.2).
        return f"{'__Host-' if self._is_https else ''}negotiator-{kind}"
