"""Consents: the scopes that a user granted to a client, one row for each pair. The user can list and withdraw them."""

from typing import Final

from sqlalchemy import bindparam, delete
from sqlmodel import col, select

from negotiator.base import values
from negotiator.base.scopes import ordered
from negotiator.store import audit
from negotiator.store.statement import Query, Statement, Transaction, entity, replacement
from negotiator.tokens import authorization_codes
from negotiator.tokens.tables import ClientConsent

_MOST: Final = 200
_row = ClientConsent
_KEEP = replacement(
    ClientConsent,
    ("user_id", "client_id"),
    ("client_name", "place", "scope", "remembered", "auth_method", "granted_at"),
)
_this = (col(_row.user_id) == bindparam("user"), col(_row.client_id) == bindparam("client"))
_FIND = Query(select(_row).where(*_this), entity(ClientConsent))
_OF = Query(
    select(_row).where(col(_row.user_id) == bindparam("user")).order_by(col(_row.granted_at).desc()).limit(_MOST),
    entity(ClientConsent),
)
_DROP = Statement(delete(_row).where(*_this))


def save(
    tx: Transaction,
    user_id: str,
    *,
    client_id: str,
    client_name: str,
    place: str,
    scopes: list[str],
    remembered: bool,
    auth_method: str,
) -> None:
    """Add the scopes to the user's consent for a client, or replace it when the client authenticated better before.

    With `remembered`, later requests for these scopes skip the consent page. `place` is the host that the consent
    page showed for the client.
    """
    before = tx.one(_FIND, user=user_id, client=client_id)
    if before and _is_weaker(before, auth_method):
        authorization_codes.end_all(tx, user_id, client_id)
        before = None
    spared = before.remembered.split() if before else []
    tx.run(
        _KEEP,
        user_id=user_id,
        client_id=client_id,
        client_name=client_name,
        place=place,
        scope=" ".join(ordered([*scopes, *(before.scope.split() if before else ())])),
        remembered=" ".join(ordered([*spared, *scopes] if remembered else spared)),
        auth_method=auth_method,
        granted_at=values.now(),
    )


def covers(tx: Transaction, user_id: str, client_id: str, scopes: list[str], *, auth_method: str) -> bool:
    """Whether all these scopes are among the `remembered` ones of the user's consent for the client.

    Not for a client that proved more when the user consented than it does now.
    """
    found = tx.one(_FIND, user=user_id, client=client_id)
    return found is not None and not _is_weaker(found, auth_method) and set(scopes) <= set(found.remembered.split())


def has_weakened(tx: Transaction, user_id: str, client_id: str, *, auth_method: str) -> bool:
    """Whether the client proved more when the user consented than it does now."""
    found = tx.one(_FIND, user=user_id, client=client_id)
    return found is not None and _is_weaker(found, auth_method)


def _is_weaker(before: ClientConsent, auth_method: str) -> bool:
    return auth_method == "none" and before.auth_method not in (None, "none")


def of_user(tx: Transaction, user_id: str) -> list[ClientConsent]:
    """The user's consents, newest first; at most 200."""
    return tx.all(_OF, user=user_id)


def withdraw(tx: Transaction, user_id: str, client_id: str, *, actor: str) -> bool:
    """Delete the user's consent for a client and end all its codes and tokens; False when there is no consent."""
    if not tx.run(_DROP, user=user_id, client=client_id):
        return False
    authorization_codes.end_all(tx, user_id, client_id)
    audit.record(tx, "consent.withdrawn", client_id, actor=actor, user=user_id)
    return True
