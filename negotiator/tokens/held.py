"""What acts for a user right now: his agents' and clients' live tokens, for him to look at."""

from sqlalchemy import bindparam
from sqlmodel import col, select

from negotiator import values
from negotiator.store.statement import Query, Transaction, entity
from negotiator.tokens.credentials import WITHDRAWN
from negotiator.tokens.tables import AccessToken

_token = AccessToken
_HELD = Query(
    select(_token)
    .where(
        col(_token.user_id) == bindparam("user"),
        col(_token.expires_at) > bindparam("now"),
        col(_token.revoked_at).is_(None),
        ~WITHDRAWN,
    )
    .order_by(col(_token.issued_at).desc())
    .limit(1000),
    entity(AccessToken),
)


def held(tx: Transaction, user_id: str) -> list[AccessToken]:
    """The newest thousand live tokens that act for a user, newest first."""
    return tx.all(_HELD, user=user_id, now=values.now())
