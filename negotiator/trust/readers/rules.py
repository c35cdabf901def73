"""What the claims of a signed assertion must say, rule by rule.

The numbers are the steps of ID-JAG validation (`assertions`). Each function takes claims whose
signature holds, and gives what its rule yields or raises `AssertionRefused`. Times are
milliseconds.
"""

from typing import Any, Final, Literal

from negotiator.trust.issuer import Issuer
from negotiator.trust.readers.claims import (
    AssertionRefused,
    Reason,
    is_moment,
    is_text,
    mail_domain,
    optional_moment,
    optional_object,
    optional_text,
    required_text,
    texts,
)

LIFETIME: Final = 600_000
SKEW: Final = 60_000

Kind = Literal["id_jag", "verified_email"]


def check_audience(claims: dict[str, Any], audience: str) -> None:
    """Step 8: our issuer identifier and no other, in an array alone; we have no tenants."""
    named = claims.get("aud")
    if not isinstance(named, str | list):
        raise AssertionRefused(
            Reason.MALFORMED, "The claim aud must be a string or an array of one."
        )
    if named not in (audience, [audience]) or "aud_tenant" in claims:
        raise AssertionRefused(
            Reason.AUDIENCE,
            "The assertion was made for another audience.",
            detail=f"aud {named!r:.200}",
        )


def check_times(claims: dict[str, Any], now: int, *, issued_at: int, expires_at: int) -> None:
    """Step 9. The skew is for clocks that differ; our own bound on age is wide without it."""
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
    """Step 10: the authenticated client, else one on the issuer's list, if that has any."""
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

    A tenant from an issuer configured without is refused: passing it over would make one account of
    the same `sub` in two tenants.
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
    """Step 12: what would widen the assertion by rules we do not have.

    No issuer is tied to a SAML one, so `sub_id` is never used; nor are `aud_sub` and an actor. No
    type of `authorization_details` exists here.
    """
    optional_object(claims, "sub_id")
    optional_object(claims, "act")
    if claims.get("authorization_details", []) != []:
        raise AssertionRefused(
            Reason.MALFORMED, "The claim authorization_details has no type known here."
        )


def check_confirmation(claims: dict[str, Any], key: str | None) -> str | None:
    """Step 13: the key an assertion is bound to, which its sender has to have proven to hold.

    `key` is the thumbprint of the one he did prove. A `cnf` of any other method is refused (ID-JAG
    §9.8): what is not understood cannot be checked.
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
    """Step 14: every resource named is one of ours; one stranger among them spoils the list."""
    named = texts(claims, "resource", single=True) or ()
    if not ours.issuperset(named):
        raise AssertionRefused(
            Reason.RESOURCE,
            "The assertion is for another resource.",
            detail=f"resource {named!r:.200}",
        )
    return named


def check_email(
    claims: dict[str, Any], issuer: Issuer, kind: Kind, *, ignore_unverified: bool = False
) -> str | None:
    """Step 15: an address the issuer has verified and may speak for, else None.

    An ID-JAG without an address is still an ID-JAG, its identity is (`iss`, `sub`). ID-JAG §3 knows
    `email` and not `email_verified`: with `ignore_unverified` such an address is dropped, so that it
    is neither stored nor compared with any account; without, it is refused (auth.md). In an e-mail
    assertion the address is the identity.
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
    """Step 15: when the user signed in; never in the future, by policy not long ago.

    With a policy every fault is a login to be repeated (RFC 9470 §3), without one it is a bad
    claim.
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
        raise AssertionRefused(
            Reason.MALFORMED, "The claim auth_time must be a number of seconds, not in the future."
        )
    return at
