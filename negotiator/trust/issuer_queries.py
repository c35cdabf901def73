"""Queries of the trusted issuers, which the operator adds and removes and every verification looks up."""

from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlsplit

from sqlalchemy import BigInteger, bindparam, update
from sqlmodel import col, select

from negotiator.base import values
from negotiator.base.errors import FieldError, NotFound, ValidationFailed
from negotiator.base.scopes import ASSISTANT, ordered
from negotiator.store import audit
from negotiator.store.statement import Query, Statement, Transaction, replacement, table
from negotiator.store.store import Store
from negotiator.trust import revocations
from negotiator.trust.issuers import Issuer
from negotiator.trust.tables import TrustedIssuer

_COLUMNS: Final = (
    "algorithms",
    "jwks",
    "jwks_uri",
    "clients",
    "scope",
    "email_domains",
    "email_verifier",
    "max_auth_age",
    "tenanted",
)
_columns = [table(TrustedIssuer).c[name] for name in ("issuer", *_COLUMNS)]


@lru_cache(maxsize=256)
def _read(*row: Any) -> Issuer:
    (issuer, algorithms, jwks, jwks_uri, clients, scope, domains, verifier, max_auth_age, tenanted) = row
    return Issuer(
        issuer,
        tuple(algorithms.split()),
        jwks=jwks,
        jwks_uri=jwks_uri,
        clients=frozenset(clients.split()),
        scopes=tuple(scope.split()),
        email_domains=tuple(domains.split()),
        email_verifier=bool(verifier),
        max_auth_age=max_auth_age,
        tenanted=bool(tenanted),
    )


_live = col(TrustedIssuer.removed_at).is_(None)
_FIND = Query(select(*_columns).where(col(TrustedIssuer.issuer) == bindparam("issuer"), _live), lambda row: _read(*row))
_LIST = Query(select(*_columns).where(_live).order_by(col(TrustedIssuer.issuer)), lambda row: _read(*row))
_KEEP = replacement(TrustedIssuer, ("issuer",), (*_COLUMNS, "removed_at"))
_KNOWN = Query(
    select(TrustedIssuer.removed_at).where(col(TrustedIssuer.issuer) == bindparam("issuer")), lambda row: row[0]
)
_REMOVE = Statement(
    update(TrustedIssuer)
    .where(col(TrustedIssuer.issuer) == bindparam("name"), _live)
    .values(removed_at=bindparam("at", type_=BigInteger))
)


class Issuers:
    """Finds trusted issuers by one short read per assertion, so that a removal takes effect at once."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def find(self, issuer: str) -> Issuer | None:
        """The trusted issuer of exactly this name."""
        return await self._store.read(lambda tx: tx.one(_FIND, issuer=issuer))


def add(
    tx: Transaction, issuer: Issuer, *, own: str, allow_loopback: bool, discovered: str = "", actor: str = "operator"
) -> None:
    """Add a trusted issuer or replace its configuration; 422 as `check_issuer`.

    `discovered` is the `jwks_uri` that its metadata names, for the audit trail.
    """
    check_issuer(issuer, own=own, allow_loopback=allow_loopback)
    was_removed = bool(tx.one(_KNOWN, issuer=issuer.issuer))
    tx.run(_KEEP, issuer=issuer.issuer, added_at=values.now(), **_row(issuer))
    if was_removed:
        revocations.restore(tx, issuer.issuer)
    audit.record(
        tx,
        "issuer.added",
        issuer.issuer,
        actor=actor,
        algorithms=list(issuer.algorithms),
        **({"jwks_uri": discovered} if discovered else {}),
    )


def check_issuer(issuer: Issuer, *, own: str, allow_loopback: bool) -> None:
    """Raise 422 for our own identifier, a URL that is not https, or an unknown scope."""
    if issuer.issuer == own:
        raise ValidationFailed([FieldError("/issuer", "This service cannot be its own identity provider.")])
    for name, url in (("issuer", issuer.issuer), ("jwks_uri", issuer.jwks_uri)):
        if url and not _is_fetchable(url, allow_loopback):
            raise ValidationFailed([FieldError(f"/{name}", f"{url} is not an https URL.")])
    if unknown := set(issuer.scopes) - set(ASSISTANT):
        raise ValidationFailed([FieldError("/scope", f"{min(unknown)} is not a scope.")])


def list_issuers(tx: Transaction) -> list[Issuer]:
    """All trusted issuers by name."""
    return tx.all(_LIST)


def remove(tx: Transaction, issuer: str, *, actor: str = "operator") -> None:
    """Stop trusting an issuer: its assertions and all tokens issued for them become invalid; 404 when unknown."""
    if not tx.run(_REMOVE, name=issuer, at=values.now()):
        raise NotFound(f"{issuer} is not a trusted issuer.")
    revocations.revoke(tx, issuer)
    audit.record(tx, "issuer.removed", issuer, actor=actor)


def revoke_subject(tx: Transaction, issuer: str, subject: str, *, tenant: str = "", actor: str = "operator") -> None:
    """Invalidate every token and every assertion issued for one identity up to now; 404 for an unknown issuer."""
    if tx.one(_FIND, issuer=issuer) is None:
        raise NotFound(f"{issuer} is not a trusted issuer.")
    identity = revocations.identity_key(issuer, tenant, subject)
    revocations.revoke_issued(tx, identity, now=values.now())
    audit.record(tx, "issuer.subject_revoked", issuer, actor=actor, identity=values.digest(subject)[:16])


def summary(issuer: Issuer) -> dict[str, Any]:
    """The issuer as the operator's commands show it."""
    source = "file" if issuer.jwks else issuer.jwks_uri or "discovery"
    return {
        "issuer": issuer.issuer,
        "algorithms": list(issuer.algorithms),
        "keys": source,
        "clients": sorted(issuer.clients),
        "scopes": list(issuer.scopes),
        "email_domains": list(issuer.email_domains),
        "email_verifier": issuer.email_verifier,
        "max_auth_age": issuer.max_auth_age,
    }


def _row(issuer: Issuer) -> dict[str, Any]:
    return {
        "algorithms": " ".join(issuer.algorithms),
        "jwks": issuer.jwks,
        "jwks_uri": issuer.jwks_uri,
        "clients": " ".join(sorted(issuer.clients)),
        "scope": " ".join(ordered(issuer.scopes or ASSISTANT)),
        "email_domains": " ".join(issuer.email_domains),
        "email_verifier": int(issuer.email_verifier),
        "max_auth_age": issuer.max_auth_age,
        "tenanted": int(issuer.tenanted),
        "removed_at": None,
    }


def _is_fetchable(url: str, allow_loopback: bool) -> bool:
    parts = urlsplit(url)
    local = allow_loopback and parts.scheme == "http" and parts.hostname in {"127.0.0.1", "localhost", "::1"}
    return bool(parts.hostname) and (parts.scheme == "https" or local) and not parts.query and not parts.fragment
