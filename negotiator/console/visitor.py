"""Who a browser belongs to: from its cookie to a signed-in `Visitor`, or a `Stranger`; and whose form this is.

A form is believed when it carries the token of the very cookie it came with, and no header says that another
site sent it (`Sec-Fetch-Site`, `Origin`). Both hold for strangers too: else somebody could be signed in as
somebody else without noticing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

from starlette.requests import Request
from starlette.responses import Response

from negotiator import values
from negotiator.console import devices
from negotiator.console.cookies import Cookies, Kind
from negotiator.edge.endpoint import read_headers
from negotiator.edge.guard import Guard
from negotiator.errors import Forbidden
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.users import people, sessions
from negotiator.users.sessions import Means
from negotiator.users.tables import User

_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")
_START = re.compile(r"/(?![/\\\x00-\x20])")
_PATH = re.compile(r"[!-\[\]-~]+")
_LONGEST_PATH: Final = 8192
_FROM_US: Final = {"same-origin", "none"}
_HOUR: Final = 3600


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who is signed in. `csrf` belongs into each of his forms; `auth_time` in milliseconds."""

    user_id: str
    email: str | None
    name: str
    is_admin: bool
    session_id: str
    auth_time: int
    csrf: str

    @property
    def greeting(self) -> str:
        """What to call him."""
        return self.name or self.email or self.user_id


@dataclass(frozen=True, slots=True)
class Stranger:
    """Somebody who is not signed in: a browser, known by a cookie that says nothing."""

    secret: str
    csrf: str
    is_new: bool


Somebody = Visitor | Stranger


@dataclass(frozen=True, slots=True)
class Visitors:
    """Tells them by their cookies."""

    cookies: Cookies
    store: Store
    guard: Guard

    async def find(self, request: Request) -> Visitor | None:
        """The visitor, if his session is live."""
        secret = self._secret(request, "session")
        found = await self.store.read(lambda tx: sessions.find(tx, secret)) if secret else None
        if found is None:
            return None
        if found.is_stale:
            await self.store.write(lambda tx: sessions.seen(tx, found.session_id))
        return Visitor(
            found.user_id,
            found.email,
            found.name,
            bool(found.is_admin),
            found.session_id,
            found.signed_in_at,
            self._token(secret),
        )

    def stranger(self, request: Request) -> Stranger:
        """The browser of somebody who is not signed in."""
        known = self._secret(request, "door")
        secret = known or values.new_secret()
        return Stranger(secret, self._token(secret), is_new=not known)

    def check(
        self, request: Request, who: Somebody, form: Mapping[str, str], *, token: bool = True
    ) -> None:
        """Refuse with 403 a form that is not this visitor's own; without `token` by its headers only."""
        site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
        foreign = (site is not None and site not in _FROM_US) or (
            origin not in {None, "null", _origin(self.cookies.base)}
        )
        if foreign or (token and not values.same(form.get("csrf", ""), who.csrf)):
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
        """Begin a session under a secret that nobody had before, and end the one this browser came with."""
        old, secret = self._secret(request, "session"), values.new_secret()
        means = Means(
            browser=browser(request.headers.get("user-agent", "")),
            address=self.guard.address(request.scope, read_headers(request.scope)),
            issuer=issuer,
            identity=identity,
        )

        def unit(tx: Transaction) -> User | None:
            if old:
                sessions.end_behind(tx, old)
            sessions.begin(tx, secret, user_id, means=means)
            return people.by_id(tx, user_id)

        user = await self.store.write(unit)
        self.cookies.write(response, "session", secret, life=sessions.LIFE // 1000)
        if user:
            devices.remember(self.cookies, response, user)
        self.cookies.drop(response, "door")

    async def sign_out(self, request: Request, response: Response) -> None:
        """End the session this browser came with."""
        if secret := self._secret(request, "session"):
            await self.store.write(lambda tx: sessions.end_behind(tx, secret))
        self.cookies.drop(response, "session")

    def remember(self, response: Response, who: Somebody) -> None:
        """Give a new browser the cookie its forms are held against."""
        if isinstance(who, Stranger) and who.is_new:
            self.cookies.write(response, "door", who.secret, life=_HOUR)

    def _token(self, secret: str) -> str:
        return values.keyed_digest(self.cookies.pepper, f"form:{secret}")

    def _secret(self, request: Request, kind: Kind) -> str:
        secret = self.cookies.read(request, kind)
        return secret if _SECRET.fullmatch(secret) else ""


def own_path(text: str | None, *, otherwise: str) -> str:
    """A path of ours to go on to; whatever a browser could read as another place becomes `otherwise`.

    Only printable ASCII without a backslash, one slash at the start, also after percent-decoding twice.
    """
    if text is None or len(text) > _LONGEST_PATH:
        return otherwise
    for seen in (text, unquote(text), unquote(unquote(text))):
        if not _START.match(seen):
            return otherwise
    return text if _PATH.fullmatch(text) else otherwise


def browser(agent: str) -> str:
    """`Firefox on Linux`, as far as a User-Agent tells; for people who look through their sessions."""
    names = ("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrom", "Chrome")
    systems = ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows")
    later = ("Mac OS", "macOS"), ("CrOS", "ChromeOS"), ("Linux", "Linux")
    name = next((said for mark, said in (*names, ("Safari", "Safari")) if mark in agent), "")
    system = next((said for mark, said in (*systems, *later) if mark in agent), "")
    return " on ".join(filter(None, (name or "A browser", system)))


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
