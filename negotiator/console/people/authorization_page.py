"""`/oauth/authorize`: the authorization endpoint and its consent page (RFC 6749 §4.1, RFC 9207, OpenID Core §3.1.2).

The request stays in the query of the page and of its form and is parsed again each time; nothing is stored before the
user consents. Every answer carries `iss`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from negotiator.base import values
from negotiator.base.caller import anonymous_caller
from negotiator.base.errors import InvalidRequest, Refusal
from negotiator.base.scopes import CATEGORIES_READ, TOOLS_READ
from negotiator.console.browser_sessions import AnySession, SignedInSession
from negotiator.console.page_router import SIGN_IN_PATH, FormFields, PageRouter
from negotiator.console.people.scope_words import describe_scopes
from negotiator.discovery.authorization_metadata import AUTHORIZE_PATH
from negotiator.http.input import read_body
from negotiator.http.limits import too_many_requests
from negotiator.store.statement import Transaction
from negotiator.tokens import authorization_codes, authorization_request, clients, consent_queries, redirect_uris
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
_OPEN_TO_ALL: Final = frozenset({TOOLS_READ, CATEGORIES_READ})
"""What a program may do without this consent, too."""


@dataclass(frozen=True, slots=True)
class AuthorizationPage:
    """The authorization endpoint. `scopes` maps the service's scopes to their meaning, `pepper` keys codes."""

    router: PageRouter
    client_lookup: ClientLookup
    identity: IdTokenSigner
    resources: frozenset[str]
    scopes: Mapping[str, str]
    pepper: bytes

    def routes(self) -> list[Route]:
        """The endpoint by GET and POST, and the target of its consent form."""
        return [
            self.router.open_page(AUTHORIZE_PATH, self.show),
            Route(AUTHORIZE_PATH, self.relay, methods=["POST"]),
            self.router.open_form(CONSENT_PATH, self.decide, anonymous_needs_token=False),
        ]

    async def relay(self, request: Request) -> Response:
        """Redirect a request by POST (OpenID Core §3.1.2.1) to GET, because a cross-site POST carries no cookie."""
        try:
            reading = await self.router.limits.charge(anonymous_caller(self.router.address(request)))
            if not reading.taken:
                raise too_many_requests(reading)
            length = request.headers.get("content-length")
            body = await read_body(request.receive, _BODY, length)
            if not body.isascii():
                raise InvalidRequest("The request is malformed.")
            pairs = parse_qsl(body.decode(), keep_blank_values=True)
        except Refusal as refusal:
            return self.router.refused(refusal, None)
        return self.router.pages.see(f"{AUTHORIZE_PATH}?{urlencode(pairs)}")

    async def show(self, request: Request, session: AnySession) -> Response:
        """Answer the request at once where possible, send the user to sign in, or ask for consent."""
        try:
            authorization = await self._read(request)
            if self._needs_sign_in(authorization, session, request):
                if "none" in authorization.prompts:
                    raise self._refusal(authorization, "login_required", "The user has to sign in.")
                return self._sign_in(authorization, request)
            assert isinstance(session, SignedInSession)  # noqa: S101  narrowed by `_needs_sign_in`
            if await self._has_consent(authorization, session):
                return await self._grant(authorization, session, authorization.scopes)
            if "none" in authorization.prompts:
                raise self._refusal(authorization, "consent_required", "The user has to give consent.")
        except AuthorizationRequestRefused as refused:
            return self._answer_refused(refused)
        return self._ask(authorization, session, request)

    async def decide(self, request: Request, session: AnySession, form: FormFields) -> Response:
        """Apply the user's decision to the request, which is still in the query."""
        try:
            authorization = await self._read(request)
            if self._needs_sign_in(authorization, session, request):
                return self._sign_in(authorization, request)
            assert isinstance(session, SignedInSession)  # noqa: S101  narrowed by `_needs_sign_in`
            granted = [name for name in authorization.scopes if form.get(f"scope:{name}") == "on"]
            if form.get("decision") != "allow" or not granted:
                raise self._refusal(authorization, "access_denied", "The user refused.")
            return await self._grant(authorization, session, granted)
        except AuthorizationRequestRefused as refused:
            return self._answer_refused(refused)

    async def _read(self, request: Request) -> AuthorizationRequest:
        members = RequestParameters(request.url.query)
        named = members.get("client_id", "")
        if not named:
            raise InvalidRequest("This address names no program (client_id). Go back to the program and connect again.")
        client = await self.client_lookup.find(named, self.router.address(request))
        if client is None:
            raise InvalidRequest(
                "This program is not known here. Remove the connection in the program and connect it again, so that it "
                "registers anew. If that does not help, ask an administrator of this server to add it."
            )
        return authorization_request.parse_request(members, client, resources=self.resources, offered=set(self.scopes))

    def _needs_sign_in(self, authorization: AuthorizationRequest, session: AnySession, request: Request) -> bool:
        if not isinstance(session, SignedInSession):
            return True
        hint = request.query_params.get("id_token_hint")
        if hint and self.identity.hinted_subject(hint) != session.user_id:
            return True
        at = session.auth_time // 1000
        if authorization.signed_in_after is not None:
            return at < authorization.signed_in_after
        if authorization.prompts & {"login", "select_account"}:
            return True
        # A maximum age of zero demands a new sign-in, within the same second too.
        return authorization.max_age is not None and (
            authorization.max_age == 0 or abs(values.now() // 1000 - at) > authorization.max_age
        )

    def _sign_in(self, authorization: AuthorizationRequest, request: Request) -> Response:
        """Redirect to the sign-in page, which returns to the same request."""
        parameters = [
            (name, value)
            for name, value in parse_qsl(request.url.query, keep_blank_values=True)
            if name != BACK_FROM_SIGN_IN
        ]
        if authorization.max_age is not None or authorization.prompts & {"login", "select_account"}:
            parameters.append((BACK_FROM_SIGN_IN, str(values.now() // 1000)))
        back = urlencode({"again": "1", "next": f"{AUTHORIZE_PATH}?{urlencode(parameters)}"})
        return self.router.pages.see(f"{SIGN_IN_PATH}?{back}")

    async def _has_consent(self, authorization: AuthorizationRequest, session: SignedInSession) -> bool:
        """Whether a stored consent covers the request (RFC 8252 §8.6: never for a client that others can imitate)."""
        if "consent" in authorization.prompts or not _is_identified(authorization):
            return False
        client = authorization.client
        return await self.router.store.read(
            lambda tx: consent_queries.covers(
                tx, session.user_id, client.client_id, authorization.scopes, auth_method=client.row.auth_method
            )
        )

    async def _grant(
        self, authorization: AuthorizationRequest, session: SignedInSession, scopes: list[str]
    ) -> Response:
        client = authorization.client

        def unit(tx: Transaction) -> str:
            issuer, identity = session_queries.provider_identity(tx, session.session_id)
            clients.mark_used(tx, client.client_id)
            consent_queries.save(
                tx,
                session.user_id,
                client_id=client.client_id,
                client_name=client.row.name,
                place=_recognisable_host(authorization),
                scopes=scopes,
                remembered=_is_identified(authorization),
                auth_method=client.row.auth_method,
            )
            granted = NewGrant(
                client.client_id,
                session.user_id,
                scopes,
                authorization.resource,
                authorization.redirect_uri,
                authorization.nonce,
                authorization.challenge,
                session.auth_time,
                issuer,
                identity,
                authorization.key,
            )
            return authorization_codes.issue_code(tx, granted, pepper=self.pepper)

        code = await self.router.store.write(unit)
        return self._answer(authorization.redirect_uri, {"code": code}, authorization.state)

    def _ask(self, authorization: AuthorizationRequest, session: SignedInSession, request: Request) -> Response:
        row = authorization.client.row
        return self.router.render(
            "consent.html",
            session,
            form_redirect_origins=(redirect_uris.origin(authorization.redirect_uri),),
            scripted=False,
            action=f"{urlsplit(self.router.pages.base).path}{CONSENT_PATH}?{request.url.query}",
            name=row.name,
            place=_recognisable_host(authorization),
            origin=row.origin,
            back_to=redirect_uris.display_host(authorization.redirect_uri),
            on_device=redirect_uris.is_on_device(authorization.redirect_uri),
            requested=describe_scopes(authorization.scopes),
            others=describe_scopes(self.scopes.keys() - {*authorization.scopes, *_OPEN_TO_ALL}),
        )

    def _answer(self, redirect_uri: str, answer: Mapping[str, str], state: str | None) -> RedirectResponse:
        """Redirect to the client with `state` and `iss` (RFC 9207 §2)."""
        issuer = {"state": state, "iss": self.identity.issuer}
        return _UnquotedRedirect(redirect_uris.add_parameters(redirect_uri, {**answer, **issuer}))

    def _answer_refused(self, refused: AuthorizationRequestRefused) -> RedirectResponse:
        told = {"error": refused.error, "error_description": refused.description}
        return self._answer(refused.redirect_uri, told, refused.state)

    def _refusal(
        self, authorization: AuthorizationRequest, error: str, description: str
    ) -> AuthorizationRequestRefused:
        return AuthorizationRequestRefused(
            error, description, redirect_uri=authorization.redirect_uri, state=authorization.state
        )


class _UnquotedRedirect(RedirectResponse):
    """A redirect that does not quote the URI as Starlette does: the client compares it byte for byte."""

    def __init__(self, url: str) -> None:
        super().__init__("/", 303, headers={"cache-control": "no-store"})
        self.headers["location"] = url


def _is_identified(authorization: AuthorizationRequest) -> bool:
    """Whether no other program can pose as this client: it has a secret, or one https host receives its codes."""
    return not authorization.client.is_public or redirect_uris.is_https_only(authorization.redirect_uri)


def _recognisable_host(authorization: AuthorizationRequest) -> str:
    """The host by which a user can recognise the client: of its metadata document, else of its redirect URI."""
    if authorization.client.row.origin == "document":
        return redirect_uris.display_host(authorization.client.client_id)
    return redirect_uris.display_host(authorization.redirect_uri)
