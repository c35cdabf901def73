"""`/oauth/authorize`: a client asks, the user, signed in, answers (RFC 6749 §4.1, RFC 9207, OpenID Core §3.1.2).

The request is in the query from beginning to end, of the page and of its form, and is read anew each time: nothing is
kept until the user says yes. Whatever is answered carries `iss`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from negotiator import values
from negotiator.caller import nobody
from negotiator.console.room import Form, Room
from negotiator.console.visitor import Somebody, Visitor
from negotiator.edge.input import read_body
from negotiator.errors import InvalidRequest, Refusal
from negotiator.limits.budgets import refuse
from negotiator.store.statement import Transaction
from negotiator.tokens import clients
from negotiator.tokens.flow import asked as asking
from negotiator.tokens.flow import authorizations, consents, redirects
from negotiator.tokens.flow.asked import BACK_FROM_SIGN_IN, Asked, AskedWrongly, Members
from negotiator.tokens.flow.authorizations import Granted
from negotiator.tokens.flow.identity import Identity
from negotiator.tokens.registration.known import KnownClients
from negotiator.users import sessions

PATH: Final = "/oauth/authorize"
FORM: Final = "/oauth/consent"
_BODY: Final = 16 * 1024


@dataclass(frozen=True, slots=True)
class Authorize:
    """The authorization endpoint. `scopes` are those of the service with their meaning, `pepper` keys codes."""

    room: Room
    known: KnownClients
    identity: Identity
    resources: frozenset[str]
    scopes: Mapping[str, str]
    pepper: bytes

    def routes(self) -> list[Route]:
        """The endpoint by GET and POST, and where its page sends the user's answer."""
        return [
            self.room.open_page(PATH, self.show),
            Route(PATH, self.relay, methods=["POST"]),
            self.room.open_form(FORM, self.decide, strangers_need_token=False),
        ]

    async def relay(self, request: Request) -> Response:
        """A request by POST (OpenID Core §3.1.2.1) becomes one by GET; it could carry no cookie of ours."""
        try:
            reading = await self.room.limits.charge(nobody(self.room.address(request)))
            if not reading.taken:
                raise refuse(reading)
            length = request.headers.get("content-length")
            body = await read_body(request.receive, _BODY, length)
            if not body.isascii():
                raise InvalidRequest("The request is malformed.")
            pairs = parse_qsl(body.decode(), keep_blank_values=True)
        except Refusal as refusal:
            return self._page(None, refusal)
        return self.room.pages.see(f"{PATH}?{urlencode(pairs)}")

    async def show(self, request: Request, who: Somebody) -> Response:
        """Answer at once what can be, send whoever is not signed in to sign in, ask the rest."""
        try:
            asked = await self._read(request)
            if self._needs_sign_in(asked, who, request):
                if "none" in asked.prompts:
                    raise self._wrong(asked, "login_required", "The user has to sign in.")
                return self._sign_in(asked, request)
            assert isinstance(who, Visitor)  # noqa: S101  a stranger needs to sign in
            if await self._is_spared(asked, who):
                return await self._grant(asked, who, asked.scopes)
            if "none" in asked.prompts:
                raise self._wrong(asked, "consent_required", "The user has to be asked.")
        except AskedWrongly as wrong:
            return self._answer(
                wrong.redirect_uri,
                {"error": wrong.error, "error_description": wrong.description},
                wrong.state,
            )
        return self._ask(asked, who, request)

    async def decide(self, request: Request, who: Somebody, form: Form) -> Response:
        """The user's answer, to the very request that is still in the query."""
        try:
            asked = await self._read(request)
            if self._needs_sign_in(asked, who, request):
                return self._sign_in(asked, request)
            assert isinstance(who, Visitor)  # noqa: S101  a stranger needs to sign in
            granted = [name for name in asked.scopes if form.get(f"scope:{name}") == "on"]
            if form.get("decision") != "allow" or not granted:
                raise self._wrong(asked, "access_denied", "The user said no.")
            return await self._grant(asked, who, granted)
        except AskedWrongly as wrong:
            return self._answer(
                wrong.redirect_uri,
                {"error": wrong.error, "error_description": wrong.description},
                wrong.state,
            )

    async def _read(self, request: Request) -> Asked:
        members = Members(request.url.query)
        client = await self.known.find(members.get("client_id", ""), self.room.address(request))
        if client is None:
            raise InvalidRequest("No client of this name is known here, or its document is not.")
        return asking.read(members, client, resources=self.resources, offered=set(self.scopes))

    def _needs_sign_in(self, asked: Asked, who: Somebody, request: Request) -> bool:
        if not isinstance(who, Visitor):
            return True
        hint = request.query_params.get("id_token_hint")
        if hint and self.identity.hinted(hint) != who.user_id:
            return True
        at = who.auth_time // 1000
        if asked.signed_in_after is not None:
            return at < asked.signed_in_after
        if asked.prompts & {"login", "select_account"}:
            return True
        # A maximum age of nothing is a wish for a fresh sign-in, within the same second too.
        return asked.max_age is not None and (
            asked.max_age == 0 or values.now() // 1000 - at > asked.max_age
        )

    def _sign_in(self, asked: Asked, request: Request) -> Response:
        """Off to the sign-in page, whoever is there; he comes back with the same request."""
        kept = [
            (name, value)
            for name, value in parse_qsl(request.url.query, keep_blank_values=True)
            if name != BACK_FROM_SIGN_IN
        ]
        if asked.max_age is not None or asked.prompts & {"login", "select_account"}:
            kept.append((BACK_FROM_SIGN_IN, str(values.now() // 1000)))
        back = urlencode({"again": "1", "next": f"{PATH}?{urlencode(kept)}"})
        return self.room.pages.see(f"/sign-in?{back}")

    async def _is_spared(self, asked: Asked, visitor: Visitor) -> bool:
        """Whether the user need not be asked again (RFC 8252 §8.6: never when anybody could be the client)."""
        if "consent" in asked.prompts or not _is_certain(asked):
            return False
        client_id = asked.client.client_id
        return await self.room.store.read(
            lambda tx: consents.spares(tx, visitor.user_id, client_id, asked.scopes)
        )

    async def _grant(self, asked: Asked, visitor: Visitor, scopes: list[str]) -> Response:
        client = asked.client

        def unit(tx: Transaction) -> str:
            issuer, identity = sessions.standing(tx, visitor.session_id)
            clients.used(tx, client.client_id)
            consents.keep(
                tx,
                visitor.user_id,
                client_id=client.client_id,
                client_name=client.row.name,
                place=_place(asked),
                scopes=scopes,
                remembered=_is_certain(asked),
            )
            granted = Granted(
                client.client_id,
                visitor.user_id,
                scopes,
                asked.resource,
                asked.redirect_uri,
                asked.nonce,
                asked.challenge,
                visitor.auth_time,
                issuer,
                identity,
                asked.key,
            )
            return authorizations.issue(tx, granted, pepper=self.pepper)

        code = await self.room.store.write(unit)
        return self._answer(asked.redirect_uri, {"code": code}, asked.state)

    def _ask(self, asked: Asked, visitor: Visitor, request: Request) -> Response:
        row = asked.client.row
        return self.room.render(
            "consent.html",
            visitor,
            forms_may_end_at=(redirects.origin(asked.redirect_uri),),
            action=f"{urlsplit(self.room.pages.base).path}{FORM}?{request.url.query}",
            name=row.name,
            place=_place(asked),
            origin=row.origin,
            back_to=redirects.place(asked.redirect_uri),
            loopback=redirects.is_loopback(asked.redirect_uri),
            wanted={name: self.scopes[name] for name in asked.scopes},
            others=[text for name, text in self.scopes.items() if name not in asked.scopes],
        )

    def _answer(
        self, redirect_uri: str, told: Mapping[str, str], state: str | None
    ) -> RedirectResponse:
        """Back to the client, with `state` and `iss` (RFC 9207 §2)."""
        issuer = {"state": state, "iss": self.identity.issuer}
        return _Exactly(redirects.answer(redirect_uri, {**told, **issuer}))

    def _wrong(self, asked: Asked, error: str, description: str) -> AskedWrongly:
        return AskedWrongly(error, description, redirect_uri=asked.redirect_uri, state=asked.state)

    def _page(self, who: Somebody | None, refusal: Refusal) -> Response:
        return self.room.render(
            "refused.html",
            who,
            refusal.status,
            headers=refusal.headers,
            reason=refusal.description,
        )


class _Exactly(RedirectResponse):
    """A redirect to a URI as it is: Starlette would quote it, and the client compare it."""

    def __init__(self, url: str) -> None:
        super().__init__("/", 303, headers={"cache-control": "no-store"})
        self.headers["location"] = url


def _is_certain(asked: Asked) -> bool:
    """Whether nobody else can be this client: it has a secret, or only one host receives its codes."""
    return not asked.client.is_public or redirects.is_claimed(asked.redirect_uri)


def _place(asked: Asked) -> str:
    """What the user can hold on to: the host of the client's document, else where it is answered."""
    if asked.client.row.origin == "document":
        return redirects.place(asked.client.client_id)
    return redirects.place(asked.redirect_uri)
