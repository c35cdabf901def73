"""`/oauth/token`, `/oauth/revoke`, `/oauth/introspect` (RFC 6749, 7523, 7009, 7662)."""

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NotRequired
from urllib.parse import unquote

from typing_extensions import TypedDict

from negotiator.base.errors import InvalidRequest
from negotiator.base.schema import Lenient
from negotiator.base.scopes import OPENID
from negotiator.http.limits import REVOCATION_BUDGET
from negotiator.http.operation import Answer, Call, Operation
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.tokens import client_authentication
from negotiator.tokens.access_tokens import AccessTokens
from negotiator.tokens.api_keys import ApiKeyAuthenticator
from negotiator.tokens.assertion_grants import BearerAssertionVerifier, IdentityAssertionExchange, PresentedAssertion
from negotiator.tokens.authlib_server import TokenServer
from negotiator.tokens.client_authentication import ClientAssertion, ClientAssertionVerifier
from negotiator.tokens.client_documents import ClientLookup
from negotiator.tokens.clients import CODE_FLOW_GRANTS, JWT_BEARER, PRIVATE_KEY_JWT, TOKEN_TYPES, RegisteredClient
from negotiator.tokens.id_tokens import IdTokenSigner
from negotiator.tokens.refresh_tokens import RefreshTokens, sender_of
from negotiator.tokens.token_grants import Change, StoredGrant, StoreGrant, grant_token, introspect_token, revoke_token
from negotiator.trust.dpop import DpopProofChecker

TOKEN_PATH = "/oauth/token"  # noqa: S105
_NO_CACHE = {"cache-control": "no-store", "pragma": "no-cache"}


class TokenRequest(Lenient):
    """The form of the token endpoint; the members that are needed depend on `grant_type`."""

    grant_type: str
    scope: str | None = None
    resource: str | None = None
    assertion: str | None = None
    code: str | None = None
    redirect_uri: str | None = None
    code_verifier: str | None = None
    refresh_token: str | None = None
    requested_token_type: str | None = None
    client_id: str | None = None
    client_secret: str | None = None
    client_assertion_type: str | None = None
    client_assertion: str | None = None


class TokenAction(Lenient):
    """The form of the revocation and introspection endpoints."""

    token: str
    token_type_hint: str | None = None
    client_id: str | None = None
    client_secret: str | None = None
    client_assertion_type: str | None = None
    client_assertion: str | None = None


class TokenResponse(TypedDict):
    """The response of the token endpoint (RFC 6749 §5.1)."""

    access_token: str
    token_type: str
    expires_in: int
    scope: str
    refresh_token: NotRequired[str]
    id_token: NotRequired[str]


class TokenRevoked(TypedDict):
    """The empty response of the revocation endpoint (RFC 7009 §2.2)."""


class TokenView(TypedDict):
    """The introspection response (RFC 7662 §2.2); only `active` for a token that is dead or not the client's own."""

    active: bool
    scope: NotRequired[str]
    client_id: NotRequired[str]
    token_type: NotRequired[str]
    exp: NotRequired[int]
    iat: NotRequired[int]
    sub: NotRequired[str]
    aud: NotRequired[str | list[str]]
    iss: NotRequired[str]
    jti: NotRequired[str]


@dataclass(frozen=True, slots=True)
class TokenEndpoints:
    """The OAuth endpoints that issue, revoke and describe tokens. `pepper` keys the digests of codes."""

    store: Store
    credentials: AccessTokens
    presenter: BearerAssertionVerifier
    known: ClientLookup
    client_assertions: ClientAssertionVerifier
    refreshing: RefreshTokens
    pepper: bytes
    identity: IdTokenSigner
    resources: frozenset[str]
    life: int
    keys: ApiKeyAuthenticator
    proofs: DpopProofChecker
    exchange: IdentityAssertionExchange

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="issue_token",
                method="POST",
                path=TOKEN_PATH,
                summary="Exchange a code, a refresh token, a client's credentials or an ID-JAG for an access token",
                run=self.token,
                input=TokenRequest,
                output=TokenResponse,
                access="open",
                encoding="form",
                refusals=(400, 401, 503),
                tag="tokens",
            ),
            Operation(
                name="revoke_token",
                method="POST",
                path="/oauth/revoke",
                urgent=True,
                summary="End an access token, or a refresh token with all tokens of its grant, at once",
                run=self.revoke,
                input=TokenAction,
                output=TokenRevoked,
                access="open",
                encoding="form",
                budget=lambda _: REVOCATION_BUDGET,
                refusals=(400, 401),
                tag="tokens",
            ),
            Operation(
                name="introspect_token",
                method="POST",
                path="/oauth/introspect",
                summary="Describe one of the calling client's own tokens",
                run=self.introspect,
                input=TokenAction,
                output=TokenView,
                access="open",
                encoding="form",
                refusals=(400, 401),
                tag="tokens",
            ),
        ]

    async def token(self, call: Call[TokenRequest]) -> Answer:
        """Issue a token by one of the registered grants."""
        form, authorization = call.input, call.headers.get("authorization")
        fields = _fields(form)
        claimed = _claimed_client(fields, authorization)
        if form.resource and not set(form.resource.split()) <= self.resources:
            raise InvalidRequest("A resource is not one of this service's.", error="invalid_target")
        if form.requested_token_type not in (None, *TOKEN_TYPES):
            raise InvalidRequest("requested_token_type names no type that is issued here.")
        key = await self.proofs.key(call.headers, method="POST", path=TOKEN_PATH)
        if form.grant_type == JWT_BEARER and authorization is None and self.exchange.takes(fields):
            store_token = await self.store.read(
                lambda tx: self.exchange.accept(tx, fields, key=key, address=call.address)
            )
            return self._answer(StoredGrant(await self.store.write(store_token)))
        presented = None
        if form.grant_type == JWT_BEARER:
            if not form.assertion:
                raise InvalidRequest("The parameter assertion is missing.")
            # Keys may have to be fetched, which must happen before the transaction opens.
            presented = await self.presenter.present(form.assertion, claimed, key=key)
        known = await self._identify(claimed, fields, call.address)

        def validate(tx: Transaction) -> StoreGrant:
            return grant_token(self._server(tx, call, fields, *known, presented=presented, key=key))

        return self._answer(await self.store.write(await self.store.read(validate)))

    def _answer(self, stored: StoredGrant) -> Answer:
        token = self.credentials.issue(stored.token)
        body: dict[str, Any] = {
            "access_token": token.text,
            "token_type": token.subject.token_type,
            "expires_in": token.life,
            "scope": " ".join(token.scopes),
        }
        if stored.refresh_token is not None:
            body["refresh_token"] = stored.refresh_token.text
        if stored.signed_in is not None and OPENID in token.scopes:
            body["id_token"] = self.identity.token(stored.signed_in, access_token=token.text)
        return Answer(body, 200, _NO_CACHE)

    async def revoke(self, call: Call[TokenAction]) -> Answer:
        """Revoke a token (RFC 7009)."""
        return await self._act(call, revoke_token)

    async def introspect(self, call: Call[TokenAction]) -> Answer:
        """Describe a token (RFC 7662)."""
        return await self._act(call, introspect_token)

    async def _act(
        self, call: Call[TokenAction], act: Callable[[TokenServer], tuple[dict[str, Any], Change | None]]
    ) -> Answer:
        fields = _fields(call.input)
        claimed = _claimed_client(fields, call.headers.get("authorization"))
        known = await self._identify(claimed, fields, call.address)
        body, change = await self.store.read(lambda tx: act(self._server(tx, call, fields, *known)))
        if change is not None:
            await self.store.write(change)
        return Answer(body, 200, _NO_CACHE)

    async def _identify(
        self, claimed: str | None, fields: dict[str, str], address: str
    ) -> tuple[RegisteredClient | None, ClientAssertion | None]:
        """A client that may have to be looked up elsewhere, and its verified assertion; before a transaction opens."""
        known = await self.known.document(claimed, address)
        text = fields.get("client_assertion")
        if claimed is None or text is None:
            return known, None
        known = known or await self.known.row(claimed)
        if known is None or known.row.auth_method != PRIVATE_KEY_JWT:
            return known, None
        # With a code or a refresh token an assertion for the token endpoint, which RFC 7523 §3 allows, opens nothing to
        # a server in the middle; the largest chat product signs such ones.
        names_endpoint = fields.get("grant_type") in CODE_FLOW_GRANTS
        endpoint = f"{self.client_assertions.issuer}{TOKEN_PATH}" if names_endpoint else None
        return known, await self.client_assertions.verify(text, known.row, address=address, token_endpoint=endpoint)

    def _server(
        self,
        tx: Transaction,
        call: Call[Any],
        fields: dict[str, str],
        known: RegisteredClient | None,
        proof: ClientAssertion | None,
        *,
        presented: PresentedAssertion | None = None,
        key: str | None = None,
    ) -> TokenServer:
        return TokenServer(
            tx,
            fields,
            call.headers.get("authorization"),
            self.credentials,
            self.keys,
            refreshing=self.refreshing,
            pepper=self.pepper,
            life=self.life,
            address=call.address,
            sender=sender_of(call.address, call.headers),
            known=known,
            proof=proof,
            presented=presented,
            key=key,
        )


def _fields(form: TokenRequest | TokenAction) -> dict[str, str]:
    return form.model_dump(exclude_none=True)


def _claimed_client(form: dict[str, str], authorization: str | None) -> str | None:
    """The client id that the request states, not yet verified.

    400 when the request authenticates in two ways (RFC 6749 §2.3) or states two different ids.
    """
    named = form.get("client_id")
    ways = [authorization is not None, "client_secret" in form, "client_assertion" in form]
    if sum(ways) > 1:
        raise InvalidRequest("Authenticate in one way only.")
    if authorization is not None:
        claimed = _basic(authorization)
    elif "client_assertion" in form:
        claimed = client_authentication.claimed_client_id(form)
    else:
        return named
    if named is not None and named != claimed:
        raise InvalidRequest("client_id and what authenticates the client disagree.")
    return claimed


def _basic(authorization: str) -> str:
    """The client id of an Authorization header (RFC 6749 §2.3.1)."""
    scheme, _, encoded = authorization.partition(" ")
    if scheme.lower() != "basic":
        raise InvalidRequest("Clients authenticate by HTTP Basic, by a key or in the form.")
    try:
        return unquote(base64.b64decode(encoded, validate=True).decode().partition(":")[0])
    except (binascii.Error, UnicodeDecodeError):
        raise InvalidRequest("The Authorization header is malformed.") from None
