"""Queries over the access tokens that act for a user, for the pages that list them."""

from sqlalchemy import BigInteger, bindparam, func, update
from sqlmodel import col, select

from negotiator.base import values
from negotiator.store.statement import Query, Statement, Transaction, entity
from negotiator.tokens.access_tokens import WITHDRAWN
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
_LAST_ISSUED = Query(
    select(_token.client_id, func.max(_token.issued_at))
    .where(col(_token.user_id) == bindparam("user"))
    .group_by(col(_token.client_id)),
    lambda row: (str(row[0]), int(row[1])),
)
_END_AGENTS = Statement(
    update(_token)
    .where(
        col(_token.user_id) == bindparam("user"),
        col(_token.client_id).like("agt\\_%", escape="\\"),
        col(_token.revoked_at).is_(None),
        col(_token.expires_at) > bindparam("now", type_=BigInteger),
    )
    .values(revoked_at=bindparam("now", type_=BigInteger))
)


def live_tokens(tx: Transaction, user_id: str) -> list[AccessToken]:
    """The newest thousand live tokens that act for a user, newest first."""
    return tx.all(_HELD, user=user_id, now=values.now())


def last_issued(tx: Transaction, user_id: str) -> dict[str, int]:
    """When each client last got a token that acts for the user (milliseconds); deleted tokens do not count."""
    return dict(tx.all(_LAST_ISSUED, user=user_id))


def end_agents(tx: Transaction, user_id: str) -> int:
    """Revoke every live token that an agent holds for this user; returns how many there were."""
    tx.announce(user_id)
    return tx.run(_END_AGENTS, user=user_id, now=values.now())
