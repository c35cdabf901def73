"""Whom an event is about (RFC 9493, SSF 1.0 §3): somebody of the very issuer that reports, or nobody we know."""

from dataclasses import dataclass
from typing import Any

from negotiator.strict import is_object
from negotiator.trust.issuer import Issuer
from negotiator.trust.readers.claims import (
    AssertionRefused,
    Reason,
    mail_domain,
    optional_object,
    optional_text,
    required_text,
)


@dataclass(frozen=True, slots=True)
class Reported:
    """Somebody at the issuer: by `subject`, or by `email` among those whose identity is the issuer's."""

    tenant: str = ""
    subject: str | None = None
    email: str | None = None


def read(claims: dict[str, Any], issuer: Issuer, *, by_sub: bool) -> Reported | None:
    """Whom the claims name; None for a stream or a kind of subject that is nobody here.

    `by_sub` allows auth.md's form, a plain `sub`. Somebody of another issuer is refused: no issuer may end what
    stands on another's word.
    """
    named = optional_object(claims, "sub_id")
    if named is None:
        if not by_sub:
            raise AssertionRefused(Reason.MALFORMED, "The claim sub_id is missing.")
        named = {"format": "iss_sub", "iss": issuer.issuer, "sub": required_text(claims, "sub")}
    tenant = optional_text(claims, "tenant")
    if named.get("format") == "complex":
        tenant = _tenant(named) or tenant
        user: object = named.get("user")
        named = user if is_object(user) else {"format": "opaque"}
    found = _simple(named, issuer)
    if found is None:
        return None
    if (tenant is not None) != issuer.tenanted:
        raise AssertionRefused(
            Reason.MALFORMED, "The tenant does not fit how this issuer is configured."
        )
    return Reported(tenant or "", found.subject, found.email)


def _simple(named: dict[str, Any], issuer: Issuer) -> Reported | None:
    match named.get("format"):
        case "iss_sub":
            if required_text(named, "iss", limit=512) != issuer.issuer:
                raise AssertionRefused(Reason.NOT_ENTITLED, "The subject is another issuer's.")
            return Reported(subject=required_text(named, "sub"))
        case "email":
            email = required_text(named, "email", limit=254)
            return Reported(email=email.lower()) if mail_domain(email) else None
        case str():
            return None
        case _:
            raise AssertionRefused(Reason.MALFORMED, "The subject has no format.")


def _tenant(named: dict[str, Any]) -> str | None:
    tenant = optional_object(named, "tenant")
    return None if tenant is None else required_text(tenant, "id")
