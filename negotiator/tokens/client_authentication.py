"""Client authentication by `private_key_jwt`: the client signs a JWT for one request.

Sources: RFC 7523 §2.2 and §3, and draft-ietf-oauth-rfc7523bis (here: 7523bis).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from negotiator.base import values
from negotiator.base.errors import Unauthorized, Unavailable
from negotiator.base.strict_json import UnverifiedJws, is_object
from negotiator.runtime.telemetry import logger
from negotiator.store import atomic_updates
from negotiator.store.statement import Transaction
from negotiator.tokens.tables import Client
from negotiator.trust import assertions, keysets
from negotiator.trust.claims import AssertionRefused, Reason, optional_moment, required_moment, required_text
from negotiator.trust.client_url_fetch import ClientUrlFetcher
from negotiator.trust.issuers import ALGORITHMS, Issuer
from negotiator.trust.keysets import IssuerKeys, KeysRefused
from negotiator.trust.signatures import check_signature, read_compact, read_header

log = logger(__name__)

ASSERTION_TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
CLIENT_ASSERTION_TYPE: Final = "client-authentication+jwt"
_LONGEST_ID: Final = 1024
_ONCE: Final = "client"
"""The kind of the digests of used assertions in `spent`."""


def claimed_client_id(form: Mapping[str, str]) -> str | None:
    """The client id that the form's client assertion states, not yet verified; None when none can be read."""
    if form.get("client_assertion_type") != ASSERTION_TYPE:
        return None
    try:
        return _named(read_compact(form.get("client_assertion", "")))
    except AssertionRefused:
        return None


def read_client_keys(document: object) -> str:
    """The client's JWK Set as JSON text for the database; raises `KeysRefused` when it has no usable key."""
    found = keysets.parse(document, ALGORITHMS) if is_object(document) else None
    if found is None or not found.keys:
        raise KeysRefused("has no key that could be used")
    return json.dumps(document, separators=(",", ":"))


class ClientAuthenticationFailed(Unauthorized):
    """Client authentication failed (RFC 6749 §5.2)."""

    default_error = "invalid_client"

    def __init__(
        self,
        description: str = "The client could not be authenticated: send `client_id`, and `client_secret` or "
        "`client_assertion` if the client has one.",
    ) -> None:
        super().__init__(description, headers={"www-authenticate": 'Basic realm="negotiator"'})


@dataclass(frozen=True, slots=True)
class ClientAssertion:
    """A verified assertion of a client, which works once, until `expires_at` (milliseconds)."""

    digest: str
    expires_at: int

    def is_used(self, tx: Transaction) -> bool:
        return atomic_updates.is_spent(tx, _ONCE, self.digest)

    def use(self, tx: Transaction) -> bool:
        """Mark the assertion as used; False when it was used before."""
        return atomic_updates.spend(tx, _ONCE, self.digest, expires_at=self.expires_at)


@dataclass(frozen=True, slots=True)
class ClientAssertionVerifier:
    """Verifies the assertions of clients for this `issuer`.

    `published` are the key sets at addresses that clients name, and `hosts` fetches them; both are apart from those of
    documents and of issuers, so that no stranger's fetch delays an assertion.
    """

    issuer: str
    published: IssuerKeys
    hosts: ClientUrlFetcher

    async def verify(
        self, text: str, client: Client, *, address: str, token_endpoint: str | None = None
    ) -> ClientAssertion | None:
        """The assertion of this client; None for one that is not valid. Whether it was used before is not checked.

        The audience must be the issuer alone: another server could trick the client into signing an assertion for a URL
        of ours (7523bis §4). `token_endpoint` is taken too where that gains nobody anything. A fetch of keys is charged
        to the network address `address`. Raises `Unavailable` while the client's keys cannot be fetched.
        """
        try:
            unverified = read_compact(text)
            await self._check_signature(unverified, client, address)
            return _read_claims(unverified, client.id, self.issuer, token_endpoint)
        except AssertionRefused as refused:
            if refused.reason == Reason.KEYS_UNAVAILABLE:
                raise Unavailable(
                    "The keys of this client cannot be fetched now.",
                    error="temporarily_unavailable",
                    detail=refused.detail,
                    retry_after=refused.retry_after or 1,
                ) from None
            # Every failed authentication is answered alike; the log has the reason.
            log.info("client refused", client_id=client.id, detail=f"{refused} {refused.detail}")
            return None

    async def _check_signature(self, unverified: UnverifiedJws, client: Client, address: str) -> None:
        """Check the type, if the header states one, and the signature by the client's key that the header names."""
        header = unverified.unverified_header
        stated = header.get("typ", CLIENT_ASSERTION_TYPE)
        kid, algorithm = read_header(
            {**header, "typ": CLIENT_ASSERTION_TYPE if stated == "JWT" else stated}, CLIENT_ASSERTION_TYPE
        )
        uri = client.jwks_uri or ""
        source = Issuer(uri or f"the keys of {client.id}", ALGORITHMS, jwks=client.jwks or "", jwks_uri=uri)
        fetch = partial(self.hosts.document, limit=keysets.MAX_BYTES, address=address)
        await check_signature(unverified, source, self.published, kid=kid, algorithm=algorithm, fetch=fetch)
        if uri:
            self.hosts.accept(uri)


def _read_claims(unverified: UnverifiedJws, client_id: str, issuer: str, token_endpoint: str | None) -> ClientAssertion:
    claims = unverified.unverified_claims
    if _named(unverified) != client_id:
        raise AssertionRefused(Reason.CLIENT, "The assertion speaks for another client.")
    assertions.check_audience(
        claims, token_endpoint if token_endpoint and claims.get("aud") == token_endpoint else issuer
    )
    now, expires_at = values.now(), required_moment(claims, "exp")
    issued_at = optional_moment(claims, "iat")
    issued_at = min(now, expires_at - 1) if issued_at is None else issued_at
    assertions.check_times(claims, now, issued_at=issued_at, expires_at=expires_at)
    once = values.digest(f"{client_id}\x1f{required_text(claims, 'jti')}")
    return ClientAssertion(once, expires_at + assertions.SKEW)


def _named(unverified: UnverifiedJws) -> str:
    """The client id in `iss` and `sub`, which must be equal (RFC 7523 §3)."""
    claims = unverified.unverified_claims
    issuer, subject = (required_text(claims, name, limit=_LONGEST_ID, reason=Reason.CLIENT) for name in ("iss", "sub"))
    if issuer != subject:
        raise AssertionRefused(Reason.CLIENT, "The issuer of the assertion is not its subject.")
    return subject
