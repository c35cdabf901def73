"""The invitation link that creates the first user: `serve` prints it.

It is valid for one day, until it is used or until a user account exists. It is signed instead of stored, so that
every worker can check it and a restart adds no row.
"""

import re
from typing import Final

from negotiator.base import values
from negotiator.base.errors import Gone
from negotiator.store import atomic_updates
from negotiator.store.statement import Transaction
from negotiator.trust.revocations import FOREVER
from negotiator.users import user_queries

LIFE: Final = values.DAY
_FORM = re.compile(r"([0-9a-f]{8,12})-([0-9a-f]{64})")


def invite(pepper: bytes) -> str:
    """A new invitation: the time in hexadecimal milliseconds, a hyphen and the signature."""
    stamp = f"{values.now():x}"
    return f"{stamp}-{_signature(pepper, stamp)}"


def is_open(tx: Transaction, pepper: bytes, invitation: str) -> bool:
    """Whether the signature is valid, the invitation is less than a day old and no user account exists yet."""
    found = _FORM.fullmatch(invitation)
    if found is None or not values.equal_in_constant_time(_signature(pepper, found[1]), found[2]):
        return False
    return values.now() - int(found[1], 16) < LIFE and not user_queries.any_exist(tx)


def accept(tx: Transaction, pepper: bytes, invitation: str, *, email: str, name: str, password_hash: str) -> str:
    """Create the first user as an administrator and return their id.

    410 when the invitation is not open; of several concurrent calls one succeeds and the others get 410.
    """
    first = is_open(tx, pepper, invitation) and atomic_updates.spend(tx, "invitation", "first user", expires_at=FOREVER)
    if not first:
        raise Gone("This link was used, is more than a day old, or never was.")
    return user_queries.add(tx, email, name=name, is_admin=True, password_hash=password_hash, actor="invitation")


def _signature(pepper: bytes, stamp: str) -> str:
    return values.keyed_digest(pepper, f"first-user:{stamp}")
