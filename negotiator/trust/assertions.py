"""From a string to an `Assertion`: the one place where an identity assertion becomes believed.

The order and rules are those of ID-JAG -04 §4.4.1 with RFC 7521 §5.2, RFC 7523 §3, RFC 8725bis and
the MCP enterprise profile §7.4 to 7.6. The text is parsed once, by strict readers, and the
signature is checked over the very bytes that were parsed. Three steps are left to the caller's
transaction: spending the `jti`, the revocation watermark, and finding the user.

An e-mail assertion is the same JWT with the same `typ`, from an issuer the operator made an e-mail
verifier: a second `typ` would only ask more of verifiers, and the one-time `jti` already keeps one
text to one use.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from negotiator.trust import signatures
from negotiator.trust.issuer import Issuer
from negotiator.trust.keysets import IssuerKeys
from negotiator.trust.readers import rules
from negotiator.trust.readers.claims import (
    AssertionRefused,
    Reason,
    is_text,
    optional_scopes,
    optional_text,
    required_moment,
    required_text,
    texts,
)
from negotiator.trust.readers.compact import read_compact

__all__ = ["Assertion", "AssertionRefused", "Kind", "Reason", "Verifier"]

TYPE: Final = "oauth-id-jag+jwt"

Kind = rules.Kind


@dataclass(frozen=True, slots=True)
class Assertion:
    """A believed assertion. Times are milliseconds; `scopes` is None when the issuer named none.

    `resources` is empty when the issuer named none. `email` is there only when the issuer says it
    is verified and may say so. `confirmation` is the thumbprint of the key the assertion is bound
    to, which its sender has proven to hold.
    """

    issuer: Issuer
    subject: str
    tenant: str | None
    client_id: str
    jti: str
    issued_at: int
    expires_at: int
    scopes: tuple[str, ...] | None
    resources: tuple[str, ...]
    email: str | None
    email_verified: bool
    name: str | None
    auth_time: int | None
    acr: str | None
    amr: tuple[str, ...]
    confirmation: str | None
    kind: Kind


class Verifier:
    """Believes assertions made for `audience`, our issuer identifier, or raises `AssertionRefused`.

    `resources` are the identifiers an assertion may be narrowed to, `find_issuer` gives the
    configured issuer of an exact name, and `clock` tells milliseconds.
    """

    def __init__(
        self,
        *,
        audience: str,
        resources: frozenset[str],
        find_issuer: Callable[[str], Awaitable[Issuer | None]],
        keys: IssuerKeys,
        clock: Callable[[], int],
    ) -> None:
        self._audience = audience
        self._resources = resources
        self._find_issuer = find_issuer
        self._keys = keys
        self._clock = clock

    async def verify(
        self,
        text: str,
        *,
        kind: Kind,
        client_id: str | None = None,
        key: str | None = None,
        ignore_unverified_email: bool = False,
    ) -> Assertion:
        """The assertion in a compact JWS; `client_id` is the authenticated client, if any.

        `key` is the thumbprint of the key that the sender has proven to hold, if there was a proof. With
        `ignore_unverified_email` an ID-JAG may carry an address that its issuer has not verified: it is dropped.
        """
        unverified = read_compact(text)
        kid, algorithm = signatures.read_header(unverified.unverified_header, TYPE)
        issuer = await self._trusted(unverified.unverified_claims, kind)
        await signatures.check(unverified, issuer, self._keys, kid=kid, algorithm=algorithm)
        claims = unverified.unverified_claims
        believed = self._believe(
            issuer,
            claims,
            kind=kind,
            client_id=client_id,
            ignore_unverified_email=ignore_unverified_email,
        )
        return replace(believed, confirmation=rules.check_confirmation(claims, key))

    async def _trusted(self, unverified_claims: dict[str, Any], kind: Kind) -> Issuer:
        """Step 5: exactly a configured issuer, never ourselves, that may speak of this kind."""
        name = required_text(unverified_claims, "iss", limit=512)
        issuer = None if name == self._audience else await self._find_issuer(name)
        if (
            issuer is None
            or issuer.issuer != name
            or (kind == "verified_email" and not issuer.email_verifier)
        ):
            raise AssertionRefused(
                Reason.ISSUER,
                "The issuer of the assertion is not trusted for this.",
                detail=f"iss {name!r}, {kind}",
            )
        return issuer

    def _believe(
        self,
        issuer: Issuer,
        claims: dict[str, Any],
        *,
        kind: Kind,
        client_id: str | None,
        ignore_unverified_email: bool,
    ) -> Assertion:
        """Steps 7 to 15, on claims whose signature holds."""
        now = self._clock()
        subject, jti = required_text(claims, "sub"), required_text(claims, "jti")
        issued_at, expires_at = required_moment(claims, "iat"), required_moment(claims, "exp")
        granted = optional_scopes(claims)
        acr, amr = optional_text(claims, "acr"), texts(claims, "amr") or ()
        name = claims.get("name")
        rules.check_audience(claims, self._audience)
        rules.check_times(claims, now, issued_at=issued_at, expires_at=expires_at)
        client = rules.check_client(claims, issuer, client_id)
        tenant = rules.check_tenant(claims, issuer)
        rules.check_bindings(claims)
        resources = rules.check_resources(claims, self._resources)
        email = rules.check_email(claims, issuer, kind, ignore_unverified=ignore_unverified_email)
        return Assertion(
            issuer=issuer,
            subject=subject,
            tenant=tenant,
            client_id=client,
            jti=jti,
            issued_at=issued_at,
            expires_at=expires_at,
            scopes=granted,
            resources=resources,
            email=email,
            email_verified=email is not None,
            # A name is for eyes only: one that cannot be shown is no reason to keep its owner out.
            name=name if is_text(name, 255) else None,
            auth_time=rules.check_login(claims, issuer, now),
            acr=acr,
            amr=amr,
            confirmation=None,
            kind=kind,
        )
