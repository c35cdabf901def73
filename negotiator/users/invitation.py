"""The link that makes the first user: printed by `serve`, good for a day, dead once used or once anybody exists.

It is signed, not stored: every worker can tell it, and a start that is repeated makes no second row.
"""

import re
from typing import Final

from negotiator import values
from negotiator.errors import Gone
from negotiator.store import atomic_updates
from negotiator.store.statement import Transaction
from negotiator.trust.revocations import FOREVER
from negotiator.users import user_queries

LIFE: Final = values.DAY
_FORM = re.compile(r"([0-9a-f]{8,12})-([0-9a-f]{64})")


def invite(pepper: bytes) -> str:
    """A new invitation, to print in a link."""
    stamp = f"{values.now():x}"
    return f"{stamp}-{_signature(pepper, stamp)}"


def is_open(tx: Transaction, pepper: bytes, invitation: str) -> bool:
    """Whether the invitation is ours, not a day old, and nobody exists yet."""
    found = _FORM.fullmatch(invitation)
    if found is None or not values.equal_in_constant_time(_signature(pepper, found[1]), found[2]):
        return False
    return 0 <= values.now() - int(found[1], 16) < LIFE and not user_queries.any_exist(tx)


def accept(
    tx: Transaction,
    pepper: bytes,
    invitation: str,
    *,
    email: str,
    name: str,
    password_hash: str,
) -> str:
    """Make the first user, an administrator, and answer his id; of any number at once one wins, the rest get 410."""
    first = is_open(tx, pepper, invitation) and atomic_updates.spend(
        tx, "invitation", "first user", expires_at=FOREVER
    )
    if not first:
        raise Gone("This link was used, is more than a day old, or never was.")
    return user_queries.add(
        tx, email, name=name, is_admin=True, password_hash=password_hash, actor="invitation"
    )


def _signature(pepper: bytes, stamp: str) -> str:
    return values.keyed_digest(pepper, f"first-user:{stamp}")
