"""The cookies of a browser: bound to this very host when it is https, out of reach of scripts and other sites."""

import base64
import binascii
from dataclasses import dataclass
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from negotiator import values

CookieKind = Literal["session", "door", "errand", "device"]


@dataclass(frozen=True, slots=True)
class BrowserCookies:
    """Reads and writes them for the service at `base`."""

    base: str
    pepper: bytes

    def read(self, request: Request, kind: CookieKind) -> str:
        """The text the browser holds; empty when nothing.

        Nothing is unquoted: `write` never quotes, and CPython's `http.cookies` takes quadratic time to undo it before
        3.11.10 and 3.12.6 (CVE-2024-7592), which is why `request.cookies` is not used.
        """
        wanted, found = self._name(kind), ""
        for header in request.headers.getlist("cookie"):
            for pair in header.split(";"):
                name, _, value = pair.partition("=")
                if name.strip() == wanted:
                    found = value.strip()
        return found

    def write(self, response: Response, kind: CookieKind, text: str, *, life: int) -> None:
        """Let the browser hold this for `life` seconds."""
        response.set_cookie(
            self._name(kind),
            text,
            max_age=life,
            path="/",
            secure=self._is_https,
            httponly=True,
            samesite="lax",
        )

    def drop(self, response: Response, kind: CookieKind) -> None:
        """Let the browser forget it."""
        response.delete_cookie(
            self._name(kind), path="/", secure=self._is_https, httponly=True, samesite="lax"
        )

    def seal(self, kind: CookieKind, content: bytes) -> str:
        """Content that only we can have written, as a cookie's text."""
        text = base64.urlsafe_b64encode(content).decode().rstrip("=")
        return f"{text}.{self._signature(kind, text)}"

    def unseal(self, kind: CookieKind, sealed: str) -> bytes | None:
        """What was sealed; None for anything we did not write."""
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
        # `__Host-` makes browsers refuse the cookie from anybody but this very host (RFC 6265bis §4.1.3.2).
        return f"{'__Host-' if self._is_https else ''}negotiator-{kind}"
