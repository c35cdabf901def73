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
from dataclasses import dataclass
from typing import Any, Final

from negotiator.trust.issuer import Issuer, canonical_algorithm
from negotiator.trust.keysets import IssuerKeys, KeysUnavailable, NoSuchKey
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
from negotiator.trust.readers.compact import Unverified, read_compact

__all__ = ["Assertion", "AssertionRefused", "Kind", "Reason", "Verifier"]

TYPE: Final = "oauth-id-jag+jwt"

Kind = rules.Kind


@dataclass(frozen=True, slots=True)
class Assertion:
    """A believed assertion. Times are milliseconds; `scopes` is None when the issuer named none.

    `resources` is empty when the issuer named none. `email` is there only when the issuer says it
    is verified and may say so. `confirmation` is None: an assertion bound to a key is refused as
    long as no proof can be taken.
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
    confirmation: dict[str, Any] | None
    kind: Kind


def _check_header(header: dict[str, Any]) -> tuple[str | None, str]:
    """Steps 3 and 4: the exact `typ`, an algorithm anybody may use; gives (kid, alg).

    `jku`, `x5u`, `x5c` and `jwk` are never looked at: keys come from the issuer's configuration
    (RFC 8725 §3.10).
    """
    kind = header.get("typ")
    if not isinstance(kind, str) or kind.lower().removeprefix("application/") != TYPE:
        raise AssertionRefused(
            Reason.TYPE, f"The typ of the assertion must be {TYPE}.", detail=f"typ {kind!r:.80}"
        )
    algorithm = canonical_algorithm(header.get("alg"))
    if algorithm is None:
        raise AssertionRefused(
            Reason.SIGNATURE,
            "The signature algorithm is not allowed.",
            detail=f"alg {header.get('alg')!r:.80}",
        )
    kid = header.get("kid")
    if "kid" in header and not is_text(kid, 255):
        raise AssertionRefused(
            Reason.MALFORMED, "The kid must be a string of 1 to 255 printable characters."
        )
    return kid, algorithm


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

    async def verify(self, text: str, *, kind: Kind, client_id: str | None = None) -> Assertion:
        """The assertion in a compact JWS; `client_id` is the authenticated client, if any."""
        unverified = read_compact(text)
        kid, algorithm = _check_header(unverified.unverified_header)
        issuer = await self._trusted(unverified.unverified_claims, kind)
        await self._check_signature(unverified, issuer, kid=kid, algorithm=algorithm)
        return self._believe(issuer, unverified.unverified_claims, kind=kind, client_id=client_id)

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

    async def _check_signature(
        self, unverified: Unverified, issuer: Issuer, *, kid: str | None, algorithm: str
    ) -> None:
        """Steps 4 and 6: an algorithm and a key of this issuer, over the bytes that were parsed."""
        if algorithm not in issuer.algorithms:
            raise AssertionRefused(
                Reason.SIGNATURE,
                "The signature algorithm is not allowed.",
                detail=f"alg {algorithm}",
            )
        try:
            key = await self._keys.find(issuer, kid, algorithm)
        except NoSuchKey as unknown:
            raise AssertionRefused(
                Reason.SIGNATURE, "The issuer has no such key.", detail=str(unknown)
            ) from unknown
        except KeysUnavailable as unavailable:
            raise AssertionRefused(
                Reason.KEYS_UNAVAILABLE,
                "The keys of the issuer cannot be reached.",
                detail=unavailable.detail,
            ) from unavailable
        if not key.Algorithm.verify(unverified.signing_input, key.key, unverified.signature):
            raise AssertionRefused(
                Reason.SIGNATURE, "The signature does not verify.", detail=f"kid {kid!r}"
            )

    def _believe(
        self, issuer: Issuer, claims: dict[str, Any], *, kind: Kind, client_id: str | None
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
        email = rules.check_email(claims, issuer, kind)
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
