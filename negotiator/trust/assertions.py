"""Verifies identity assertions: ID-JAGs and e-mail assertions.

The order and rules are those of ID-JAG -04 §4.4.1 with RFC 7521 §5.2, RFC 7523 §3, RFC 8725bis and the MCP enterprise
profile §7.4 to 7.6. The text is parsed once, by strict readers, and the signature is checked over the bytes that were
parsed. Three steps are left to the caller's transaction: marking the `jti` as used, the revocation watermark, and
finding the user. Step numbers in this module are those of ID-JAG validation; times are milliseconds.

An e-mail assertion is the same JWT with the same `typ`, from an issuer that the operator configured as an e-mail
verifier.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from negotiator.trust import signatures
from negotiator.trust.claims import (
    AssertionRefused,
    Reason,
    is_moment,
    is_text,
    mail_domain,
    optional_moment,
    optional_object,
    optional_scopes,
    optional_text,
    required_moment,
    required_text,
    texts,
)
from negotiator.trust.issuers import Issuer
from negotiator.trust.keysets import IssuerKeys
from negotiator.trust.signatures import read_compact

LIFETIME: Final = 600_000
SKEW: Final = 60_000

AssertionKind = Literal["id_jag", "verified_email"]


def check_audience(claims: dict[str, Any], audience: str) -> None:
    """Step 8: the audience is our issuer identifier alone, and `aud_tenant` is absent, since we have no tenants."""
    named = claims.get("aud")
    if not isinstance(named, str | list):
        raise AssertionRefused(Reason.MALFORMED, "The claim aud must be a string or an array of one.")
    if named not in (audience, [audience]) or "aud_tenant" in claims:
        raise AssertionRefused(
            Reason.AUDIENCE, "The assertion was made for another audience.", detail=f"aud {named!r:.200}"
        )


def check_times(claims: dict[str, Any], now: int, *, issued_at: int, expires_at: int) -> None:
    """Step 9: `iat`, `nbf` and `exp`, with `SKEW` for different clocks, and a maximal life and age of `LIFETIME`."""
    not_before = optional_moment(claims, "nbf") or 0
    if expires_at <= now - SKEW:
        fault = "The assertion has expired."
    elif max(issued_at, not_before) > now + SKEW:
        fault = "The assertion is not valid yet."
    elif not 0 < expires_at - issued_at <= LIFETIME or now - issued_at > LIFETIME:
        fault = f"The assertion may live and be at most {LIFETIME // 1000} seconds old."
    else:
        return
    times = f"iat {issued_at} nbf {not_before} exp {expires_at} now {now}"
    raise AssertionRefused(Reason.EXPIRED, fault, detail=times)


def check_client(claims: dict[str, Any], issuer: Issuer, client_id: str | None) -> str:
    """Step 10: the assertion names the authenticated client, else one on the issuer's list, if that has any."""
    named = required_text(claims, "client_id", limit=512, reason=Reason.CLIENT)
    if client_id is not None:
        fits = named == client_id
    else:
        fits = not issuer.clients or named in issuer.clients
    if not fits:
        raise AssertionRefused(
            Reason.CLIENT,
            "The assertion was made for another client.",
            detail=f"client_id {named!r}, authenticated {client_id!r}",
        )
    return named


def check_tenant(claims: dict[str, Any], issuer: Issuer) -> str | None:
    """Step 11: a tenant exactly when the issuer is configured with tenants.

    A tenant from an issuer configured without tenants is refused: ignoring it would merge the same `sub` of two
    tenants into one account.
    """
    tenant = optional_text(claims, "tenant")
    if (tenant is not None) != issuer.tenanted:
        raise AssertionRefused(
            Reason.MALFORMED,
            "The claim tenant does not fit how this issuer is configured.",
            detail=f"tenant {tenant!r}",
        )
    return tenant


def check_bindings(claims: dict[str, Any]) -> None:
    """Step 12: refuse `authorization_details`, of which no type is supported.

    `sub_id` and `act` must be objects but are not used; nor is `aud_sub`.
    """
    optional_object(claims, "sub_id")
    optional_object(claims, "act")
    if claims.get("authorization_details", []) != []:
        raise AssertionRefused(Reason.MALFORMED, "The claim authorization_details has no type known here.")


def check_confirmation(claims: dict[str, Any], key: str | None) -> str | None:
    """Step 13: the thumbprint of the key that the assertion is bound to; None if it is not bound.

    `key` is the thumbprint of the key that the sender has proven to hold. A `cnf` of any method but `jkt` is refused
    (ID-JAG §9.8).
    """
    confirmation = optional_object(claims, "cnf")
    if confirmation is None:
        return None
    bound = confirmation.get("jkt")
    if list(confirmation) != ["jkt"] or not is_text(bound, 64):
        raise AssertionRefused(Reason.PROOF, "The assertion needs a proof not known here.")
    if key is None:
        raise AssertionRefused(Reason.PROOF, "The assertion needs a DPoP proof.")
    if key != bound:
        raise AssertionRefused(Reason.PROOF, "The assertion is bound to another key.")
    return bound


def check_resources(claims: dict[str, Any], ours: frozenset[str]) -> tuple[str, ...]:
    """Step 14: every resource named is one of ours."""
    named = texts(claims, "resource", single=True) or ()
    if not ours.issuperset(named):
        raise AssertionRefused(
            Reason.RESOURCE, "The assertion is for another resource.", detail=f"resource {named!r:.200}"
        )
    return named


def check_email(
    claims: dict[str, Any], issuer: Issuer, kind: AssertionKind, *, ignore_unverified: bool = False
) -> str | None:
    """Step 15: the e-mail address if the issuer has verified it and may assert it, else None.

    An ID-JAG needs no address; its identity is (`iss`, `sub`). ID-JAG §3 defines `email` but not `email_verified`:
    with `ignore_unverified` an unverified address is dropped, so that it is neither stored nor compared with any
    account; otherwise it is refused (auth.md). In an e-mail assertion the address is the identity.
    """
    email, verified = optional_text(claims, "email"), claims.get("email_verified", False)
    domain = mail_domain(email) if email else None
    listed = not issuer.email_domains or domain in issuer.email_domains
    if verified is True and domain is not None and listed:
        return email
    if (
        kind == "verified_email"
        or (email is not None and verified is not True and not ignore_unverified)
        or not isinstance(verified, bool)
    ):
        raise AssertionRefused(
            Reason.UNVERIFIED_EMAIL,
            "The issuer vouches for no e-mail address that it may speak for.",
            detail=f"email {email!r:.260}, verified {verified!r:.20}",
        )
    return None


def check_login(claims: dict[str, Any], issuer: Issuer, now: int) -> int | None:
    """Step 15: when the user signed in, not in the future and, with a policy, not too long ago.

    With a policy every fault asks for a new login (RFC 9470 §3); without one it is a malformed claim.
    """
    value = claims.get("auth_time")
    at = int(value * 1000) if is_moment(value) else None
    if at is not None and at > now + SKEW:
        at = None
    oldest = None if issuer.max_auth_age is None else now - issuer.max_auth_age * 1000 - SKEW
    if oldest is not None and (at is None or at < oldest):
        raise AssertionRefused(
            Reason.LOGIN_REQUIRED,
            "The user has to sign in again.",
            detail=f"auth_time {value!r:.80}",
            max_age=issuer.max_auth_age,
        )
    if at is None and "auth_time" in claims:
        raise AssertionRefused(Reason.MALFORMED, "The claim auth_time must be a number of seconds, not in the future.")
    return at


ID_JAG_TYPE: Final = "oauth-id-jag+jwt"


@dataclass(frozen=True, slots=True)
class Assertion:
    """A verified assertion. Times are milliseconds; `scopes` is None when the issuer named none.

    `resources` is empty when the issuer named none. `email` is set only when the issuer has verified it and may assert
    it. `confirmation` is the thumbprint of the key that the assertion is bound to, which its sender has proven to hold.
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
    kind: AssertionKind


class AssertionVerifier:
    """Verifies assertions made for `audience`, our issuer identifier; raises `AssertionRefused`.

    `resources` are the identifiers that an assertion may be narrowed to, `find_issuer` returns the configured issuer of
    an exact name, and `clock` returns milliseconds.
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
        kind: AssertionKind,
        client_id: str | None = None,
        key: str | None = None,
        ignore_unverified_email: bool = False,
    ) -> Assertion:
        """The assertion in a compact JWS; `client_id` is the authenticated client, if any.

        `key` is the thumbprint of the key that the sender has proven to hold, if there was a proof. With
        `ignore_unverified_email` an ID-JAG may carry an address that its issuer has not verified: it is dropped.
        """
        unverified = read_compact(text)
        kid, algorithm = signatures.read_header(unverified.unverified_header, ID_JAG_TYPE)
        issuer = await self._trusted(unverified.unverified_claims, kind)
        await signatures.check_signature(unverified, issuer, self._keys, kid=kid, algorithm=algorithm)
        claims = unverified.unverified_claims
        verified = self._read_claims(
            issuer, claims, kind=kind, client_id=client_id, ignore_unverified_email=ignore_unverified_email
        )
        bound = check_confirmation(claims, key)
        return replace(verified, confirmation=bound) if bound else verified

    async def _trusted(self, unverified_claims: dict[str, Any], kind: AssertionKind) -> Issuer:
        """Step 5: the configured issuer of this exact name, never ourselves, that may issue this kind."""
        name = required_text(unverified_claims, "iss", limit=512)
        issuer = None if name == self._audience else await self._find_issuer(name)
        if issuer is None or issuer.issuer != name or (kind == "verified_email" and not issuer.email_verifier):
            raise AssertionRefused(
                Reason.ISSUER, "The issuer of the assertion is not trusted for this.", detail=f"iss {name!r}, {kind}"
            )
        return issuer

    def _read_claims(
        self,
        issuer: Issuer,
        claims: dict[str, Any],
        *,
        kind: AssertionKind,
        client_id: str | None,
        ignore_unverified_email: bool,
    ) -> Assertion:
        """Steps 7 to 15, on claims whose signature was verified."""
        now = self._clock()
        subject, jti = required_text(claims, "sub"), required_text(claims, "jti")
        issued_at, expires_at = required_moment(claims, "iat"), required_moment(claims, "exp")
        granted = optional_scopes(claims)
        acr, amr = optional_text(claims, "acr"), texts(claims, "amr") or ()
        name = claims.get("name")
        check_audience(claims, self._audience)
        check_times(claims, now, issued_at=issued_at, expires_at=expires_at)
        client = check_client(claims, issuer, client_id)
        tenant = check_tenant(claims, issuer)
        check_bindings(claims)
        resources = check_resources(claims, self._resources)
        email = check_email(claims, issuer, kind, ignore_unverified=ignore_unverified_email)
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
            # The name is only displayed, so an unprintable one is dropped instead of refused.
            name=name if is_text(name, 255) else None,
            auth_time=check_login(claims, issuer, now),
            acr=acr,
            amr=amr,
            confirmation=None,
            kind=kind,
        )
