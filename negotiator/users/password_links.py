"""The links by which users set a password: one who forgot theirs, and one who was invited and has none yet.

A link is signed over the account's present password hash instead of stored, so it ends with every change of the
password. It works once, for its time, and only while the account is open.
"""

import re
from typing import Final

from negotiator.base import values
from negotiator.base.errors import Gone
from negotiator.store import atomic_updates
from negotiator.store.statement import Transaction
from negotiator.users import user_queries
from negotiator.users.tables import User

NEW_PASSWORD_PATH: Final = "/password"  # noqa: S105  the link follows it
RESET_LIFE: Final = values.HOUR // 2
INVITATION_LIFE: Final = 7 * values.DAY
_FORM = re.compile(r"(usr_[0-7][0-9a-hjkmnp-tv-z]{25})-([0-9a-f]{8,12})-([0-9a-f]{64})")
_ENDED: Final = "This link was used, is too old, or the password was changed since. Ask for a new one."


def write_link(pepper: bytes, user: User, *, life: int) -> str:
    """The secret part of a new link that works for `life` milliseconds."""
    until = f"{values.now() + life:x}"
    return f"{user.id}-{until}-{_signature(pepper, user, until)}"


def read_link(tx: Transaction, pepper: bytes, link: str) -> User:
    """The user whose link this is; 410 when it does not work or no longer works."""
    found = _FORM.fullmatch(link)
    user = user_queries.by_id(tx, found[1]) if found else None
    if (
        found is None
        or user is None
        or user.disabled_at is not None
        or int(found[2], 16) <= values.now()
        or not values.equal_in_constant_time(_signature(pepper, user, found[2]), found[3])
    ):
        raise Gone(_ENDED)
    return user


def set_password(tx: Transaction, pepper: bytes, link: str, password_hash: str) -> None:
    """Set the password of the link's user and end all their browser sessions; 410 as `read_link`.

    Of several concurrent calls with one link one succeeds and the others get 410.
    """
    user = read_link(tx, pepper, link)
    until = int(link.split("-")[1], 16)
    if not atomic_updates.spend(tx, "password-link", values.digest(link), expires_at=until):
        raise Gone(_ENDED)
    user_queries.set_password(tx, user.id, password_hash, actor="link")


def _signature(pepper: bytes, user: User, until: str) -> str:
    return values.keyed_digest(pepper, f"password-link:{user.id}:{user.email}:{user.password_hash}:{until}")
