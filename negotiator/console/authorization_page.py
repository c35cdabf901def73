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
from negotiator.caller import anonymous_caller
from negotiator.console.browser_sessions import AnySession, SignedInSession
from negotiator.console.page_router import SIGN_IN_PATH, FormFields, PageRouter
from negotiator.discovery.authorization_metadata import AUTHORIZE_PATH
from negotiator.errors import InvalidRequest, Refusal
from negotiator.http.input import read_body
from negotiator.http.limits import too_many_requests
from negotiator.store.statement import Transaction
from negotiator.tokens import authorization_codes, clients, consent_queries, redirect_uris
from negotiator.tokens import authorization_request as asking
from negotiator.tokens.authorization_codes import NewGrant
from negotiator.tokens.authorization_request import (
    BACK_FROM_SIGN_IN,
    AuthorizationRequest,
    AuthorizationRequestRefused,
    RequestParameters,
)
from negotiator.tokens.client_documents import ClientLookup
from negotiator.tokens.id_tokens import IdTokenSigner
from negotiator.users import session_queries

CONSENT_PATH: Final = "/oauth/consent"
_BODY: Final = 16 * 1024


@dataclass(frozen=True, slots=True)
class AuthorizationPage:
    """The authorization endpoint. `scopes` are those of the service with their meaning, `pepper` keys codes."""

    room: PageRouter
    known: ClientLookup
    identity: IdTokenSigner
    resources: frozenset[str]
    scopes: Mapping[str, str]
    pepper: bytes

    def routes(self) -> list[Route]:
        """The endpoint by GET and POST, and where its page sends the user's answer."""
        return [
            self.room.open_page(AUTHORIZE_PATH, self.show),
            Route(AUTHORIZE_PATH, self.relay, methods=["POST"]),
            self.room.open_form(CONSENT_PATH, self.decide, strangers_need_token=False),
        ]

    async def relay(self, request: Request) -> Response:
        """A request by POST (OpenID Core §3.1.2.1) becomes one by GET; it could carry no cookie of ours."""
        try:
            reading = await self.room.limits.charge(anonymous_caller(self.room.address(request)))
            if not reading.taken:
                raise too_many_requests(reading)
            length = request.headers.get("content-length")
            body = await read_body(request.receive, _BODY, length)
            if not body.isascii():
                raise InvalidRequest("The request is malformed.")
            pairs = parse_qsl(body.decode(), keep_blank_values=True)
        except Refusal as refusal:
            return self._page(None, refusal)
        return self.room.pages.see(f"{AUTHORIZE_PATH}?{urlencode(pairs)}")

    async def show(self, request: Request, who: AnySession) -> Response:
        """Answer at once what can be, send whoever is not signed in to sign in, ask the rest."""
        try:
            asked = await self._read(request)
            if self._needs_sign_in(asked, who, request):
                if "none" in asked.prompts:
                    raise self._wrong(asked, "login_required", "The user has to sign in.")
                return self._sign_in(asked, request)
            assert isinstance(who, SignedInSession)  # noqa: S101  a stranger needs to sign in
            if await self._is_spared(asked, who):
                return await self._grant(asked, who, asked.scopes)
            if "none" in asked.prompts:
                raise self._wrong(asked, "consent_required", "The user has to be asked.")
        except AuthorizationRequestRefused as wrong:
            return self._answer(
                wrong.redirect_uri,
                {"error": wrong.error, "error_description": wrong.description},
                wrong.state,
            )
        return self._ask(asked, who, request)

    async def decide(self, request: Request, who: AnySession, form: FormFields) -> Response:
        """The user's answer, to the very request that is still in the query."""
        try:
            asked = await self._read(request)
            if self._needs_sign_in(asked, who, request):
                return self._sign_in(asked, request)
            assert isinstance(who, SignedInSession)  # noqa: S101  a stranger needs to sign in
            granted = [name for name in asked.scopes if form.get(f"scope:{name}") == "on"]
            if form.get("decision") != "allow" or not granted:
                raise self._wrong(asked, "access_denied", "The user said no.")
            return await self._grant(asked, who, granted)
        except AuthorizationRequestRefused as wrong:
            return self._answer(
                wrong.redirect_uri,
                {"error": wrong.error, "error_description": wrong.description},
                wrong.state,
            )

    async def _read(self, request: Request) -> AuthorizationRequest:
        members = RequestParameters(request.url.query)
        client = await self.known.find(members.get("client_id", ""), self.room.address(request))
        if client is None:
            raise InvalidRequest("No client of this name is known here, or its document is not.")
        return asking.parse_request(
            members, client, resources=self.resources, offered=set(self.scopes)
        )

    def _needs_sign_in(
        self, asked: AuthorizationRequest, who: AnySession, request: Request
    ) -> bool:
        if not isinstance(who, SignedInSession):
            return True
        hint = request.query_params.get("id_token_hint")
        if hint and self.identity.hinted_subject(hint) != who.user_id:
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

    def _sign_in(self, asked: AuthorizationRequest, request: Request) -> Response:
        """Off to the sign-in page, whoever is there; he comes back with the same request."""
        kept = [
            (name, value)
            for name, value in parse_qsl(request.url.query, keep_blank_values=True)
            if name != BACK_FROM_SIGN_IN
        ]
        if asked.max_age is not None or asked.prompts & {"login", "select_account"}:
            kept.append((BACK_FROM_SIGN_IN, str(values.now() // 1000)))
        back = urlencode({"again": "1", "next": f"{AUTHORIZE_PATH}?{urlencode(kept)}"})
        return self.room.pages.see(f"{SIGN_IN_PATH}?{back}")

    async def _is_spared(self, asked: AuthorizationRequest, visitor: SignedInSession) -> bool:
        """Whether the user need not be asked again (RFC 8252 §8.6: never when anybody could be the client)."""
        if "consent" in asked.prompts or not _is_certain(asked):
            return False
        client_id = asked.client.client_id
        return await self.room.store.read(
            lambda tx: consent_queries.covers(tx, visitor.user_id, client_id, asked.scopes)
        )

    async def _grant(
        self, asked: AuthorizationRequest, visitor: SignedInSession, scopes: list[str]
    ) -> Response:
        client = asked.client

        def unit(tx: Transaction) -> str:
            issuer, identity = session_queries.provider_identity(tx, visitor.session_id)
            clients.mark_used(tx, client.client_id)
            consent_queries.save(
                tx,
                visitor.user_id,
                client_id=client.client_id,
                client_name=client.row.name,
                place=_place(asked),
                scopes=scopes,
                remembered=_is_certain(asked),
            )
            granted = NewGrant(
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
            return authorization_codes.issue_code(tx, granted, pepper=self.pepper)

        code = await self.room.store.write(unit)
        return self._answer(asked.redirect_uri, {"code": code}, asked.state)

    def _ask(
        self, asked: AuthorizationRequest, visitor: SignedInSession, request: Request
    ) -> Response:
        row = asked.client.row
        return self.room.render(
            "consent.html",
            visitor,
            forms_may_end_at=(redirect_uris.origin(asked.redirect_uri),),
            action=f"{urlsplit(self.room.pages.base).path}{CONSENT_PATH}?{request.url.query}",
            name=row.name,
            place=_place(asked),
            origin=row.origin,
            back_to=redirect_uris.display_host(asked.redirect_uri),
            loopback=redirect_uris.is_loopback(asked.redirect_uri),
            wanted={name: self.scopes[name] for name in asked.scopes},
            others=[text for name, text in self.scopes.items() if name not in asked.scopes],
        )

    def _answer(
        self, redirect_uri: str, told: Mapping[str, str], state: str | None
    ) -> RedirectResponse:
        """Back to the client, with `state` and `iss` (RFC 9207 §2)."""
        issuer = {"state": state, "iss": self.identity.issuer}
        return _UnquotedRedirect(redirect_uris.add_parameters(redirect_uri, {**told, **issuer}))

    def _wrong(
        self, asked: AuthorizationRequest, error: str, description: str
    ) -> AuthorizationRequestRefused:
        return AuthorizationRequestRefused(
            error, description, redirect_uri=asked.redirect_uri, state=asked.state
        )

    def _page(self, who: AnySession | None, refusal: Refusal) -> Response:
        return self.room.render(
            "refused.html",
            who,
            refusal.status,
            headers=refusal.headers,
            reason=refusal.description,
        )


class _UnquotedRedirect(RedirectResponse):
    """A redirect to a URI as it is: Starlette would quote it, and the client compare it."""

    def __init__(self, url: str) -> None:
        super().__init__("/", 303, headers={"cache-control": "no-store"})
        self.headers["location"] = url


def _is_certain(asked: AuthorizationRequest) -> bool:
    """Whether nobody else can be this client: it has a secret, or only one host receives its codes."""
    return not asked.client.is_public or redirect_uris.is_https_only(asked.redirect_uri)


def _place(asked: AuthorizationRequest) -> str:
    """What the user can hold on to: the host of the client's document, else where it is answered."""
    if asked.client.row.origin == "document":
        return redirect_uris.display_host(asked.client.client_id)
    return redirect_uris.display_host(asked.redirect_uri)
