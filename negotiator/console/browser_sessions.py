"""Browser sessions: from a cookie to a signed-in or an anonymous session, CSRF checks of forms, and known devices.

The cookies are host-only with https, not readable by scripts, and not sent by other sites' forms.

A form is accepted when it carries the token bound to the cookie it came with and no header (`Sec-Fetch-Site`, `Origin`)
names another site. Both apply to anonymous sessions too, so that no one is signed in to another account unnoticed.

A known device is a browser in which the user has signed in before. Its cookie is signed, names no user, and is bound to
the user and their present password. It only gives password attempts from that browser a budget of their own.
"""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import unquote, urlsplit

import orjson
from starlette.requests import Request
from starlette.responses import Response

from negotiator.base import values
from negotiator.base.errors import Forbidden
from negotiator.base.strict_json import read_object
from negotiator.http.guard import Guard
from negotiator.http.input import read_headers
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.users import session_queries, user_queries
from negotiator.users.session_queries import SignInDetails
from negotiator.users.tables import User

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

    def write_sealed(self, response: Response, kind: CookieKind, content: Mapping[str, object], *, life: int) -> None:
        """Set the cookie to a JSON object with a signature, for `life` seconds."""
        text = base64.urlsafe_b64encode(orjson.dumps(content)).decode().rstrip("=")
        self.write(response, kind, f"{text}.{self._signature(kind, text)}", life=life)

    def read_sealed(self, request: Request, kind: CookieKind) -> dict[str, Any]:
        """The object that `write_sealed` signed; {} for any other text."""
        text, _, signature = self.read(request, kind).partition(".")
        if not values.equal_in_constant_time(signature, self._signature(kind, text)):
            return {}
        return read_object(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))

    def _signature(self, kind: CookieKind, text: str) -> str:
        return values.keyed_digest(self.pepper, f"{kind}:{text}")

    @property
    def _is_https(self) -> bool:
        return self.base.startswith("https:")

    def _name(self, kind: CookieKind) -> str:
        # Browsers accept a `__Host-` cookie from this host only (RFC 6265bis §4.1.3.2).
        return f"{'__Host-' if self._is_https else ''}negotiator-{kind}"


KNOWN_DEVICE_SECONDS: Final = 180 * 86_400
"""Seconds after its last sign-in for which a browser is known."""


def remember_device(cookies: BrowserCookies, response: Response, user: User) -> None:
    """Mark the browser as a known device of this user."""
    content = {"id": values.new_secret(), "at": values.now(), "of": _owner(cookies, user)}
    cookies.write_sealed(response, "device", content, life=KNOWN_DEVICE_SECONDS)


def find_device(cookies: BrowserCookies, request: Request, user: User | None) -> str | None:
    """The id of the browser, if this user signed in with it and has not changed the password since."""
    known = cookies.read_sealed(request, "device")
    owner = _owner(cookies, user)
    if not values.equal_in_constant_time(str(known.get("of", "")), owner) or user is None:
        return None
    return str(known["id"]) if known["at"] + KNOWN_DEVICE_SECONDS * 1000 > values.now() else None


def _owner(cookies: BrowserCookies, user: User | None) -> str:
    named = f"{user.id}:{user.password_hash}" if user else ":"
    return values.keyed_digest(cookies.pepper, f"device of {named}")


_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")
_START = re.compile(r"/(?![/\\\x00-\x20])")
_PATH = re.compile(r"[!-\[\]-~]+")
_LONGEST_PATH: Final = 8192
_OWN_SITES: Final = {"same-origin", "none"}
_HOUR: Final = 3600


@dataclass(frozen=True, slots=True)
class SignedInSession:
    """The session of a signed-in user. Every form carries `csrf`; `auth_time` in milliseconds."""

    user_id: str
    email: str | None
    name: str
    is_admin: bool
    session_id: str
    auth_time: int
    csrf: str

    @property
    def greeting(self) -> str:
        """The name to address the user by."""
        return self.name or self.email or self.user_id


@dataclass(frozen=True, slots=True)
class AnonymousSession:
    """The session of a browser without a signed-in user, identified by a random cookie."""

    secret: str
    csrf: str
    is_new: bool


AnySession = SignedInSession | AnonymousSession


@dataclass(frozen=True, slots=True)
class BrowserSessions:
    """Finds, starts and ends sessions by cookies."""

    cookies: BrowserCookies
    store: Store
    guard: Guard

    async def find(self, request: Request) -> SignedInSession | None:
        """The signed-in session of the request, if it is live."""
        secret = self._secret(request, "session")
        found = await self.store.read(lambda tx: session_queries.find(tx, secret)) if secret else None
        if found is None:
            return None
        if found.is_stale:
            await self.store.write(lambda tx: session_queries.mark_seen(tx, found.session_id))
        return SignedInSession(
            found.user_id,
            found.email,
            found.name,
            bool(found.is_admin),
            found.session_id,
            found.signed_in_at,
            self._token(secret),
        )

    def anonymous(self, request: Request) -> AnonymousSession:
        """The anonymous session of the request."""
        known = self._secret(request, "anonymous")
        secret = known or values.new_secret()
        return AnonymousSession(secret, self._token(secret), is_new=not known)

    def check(self, request: Request, session: AnySession, form: Mapping[str, str], *, token: bool = True) -> None:
        """Refuse with 403 a form that another site or session sent; without `token` only headers are checked."""
        site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
        foreign = (site is not None and site not in _OWN_SITES) or (
            origin not in {None, "null", _origin(self.cookies.base)}
        )
        if foreign or (token and not values.equal_in_constant_time(form.get("csrf", ""), session.csrf)):
            raise Forbidden("This form is too old or came from elsewhere. Open the page again.")

    async def sign_in(
        self,
        request: Request,
        response: Response,
        user_id: str,
        *,
        issuer: str | None = None,
        identity: str | None = None,
    ) -> None:
        """Start a session under a new secret, and end the session that the browser had."""
        old, secret = self._secret(request, "session"), values.new_secret()
        details = SignInDetails(
            browser=browser_name(request.headers.get("user-agent", "")),
            address=self.guard.address(request.scope, read_headers(request.scope)),
            issuer=issuer,
            identity=identity,
        )

        def unit(tx: Transaction) -> User | None:
            if old:
                session_queries.end_by_secret(tx, old)
            session_queries.begin(tx, secret, user_id, means=details)
            return user_queries.by_id(tx, user_id)

        user = await self.store.write(unit)
        self.cookies.write(response, "session", secret, life=session_queries.LIFE // 1000)
        if user:
            remember_device(self.cookies, response, user)
        self.cookies.drop(response, "anonymous")

    async def sign_out(self, request: Request, response: Response) -> None:
        """End the session of the browser."""
        if secret := self._secret(request, "session"):
            await self.store.write(lambda tx: session_queries.end_by_secret(tx, secret))
        self.cookies.drop(response, "session")

    def remember(self, response: Response, session: AnySession) -> None:
        """Set the cookie of a new anonymous session."""
        if isinstance(session, AnonymousSession) and session.is_new:
            self.cookies.write(response, "anonymous", session.secret, life=_HOUR)

    def _token(self, secret: str) -> str:
        return values.keyed_digest(self.cookies.pepper, f"form:{secret}")

    def _secret(self, request: Request, kind: CookieKind) -> str:
        secret = self.cookies.read(request, kind)
        return secret if _SECRET.fullmatch(secret) else ""


def local_path(text: str | None, *, otherwise: str) -> str:
    """The path of this server to continue at; `otherwise` for anything a browser could read as another host.

    Only printable ASCII without a backslash and with one slash at the start, also after percent-decoding twice.
    """
    if text is None or len(text) > _LONGEST_PATH:
        return otherwise
    for decoded in (text, unquote(text), unquote(unquote(text))):
        if not _START.match(decoded):
            return otherwise
    return text if _PATH.fullmatch(text) else otherwise


def browser_name(agent: str) -> str:
    """A short name such as `Firefox on Linux`, from the User-Agent header."""
    names = ("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrom", "Chrome")
    systems = ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows")
    later = ("Mac OS", "macOS"), ("CrOS", "ChromeOS"), ("Linux", "Linux")
    name = next((label for mark, label in (*names, ("Safari", "Safari")) if mark in agent), "")
    system = next((label for mark, label in (*systems, *later) if mark in agent), "")
    return " on ".join(filter(None, (name or "A browser", system)))


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
