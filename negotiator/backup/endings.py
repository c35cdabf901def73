"""What ended after a backup was made: read from the database that a restore replaces, and repeated in the backup's.

Only a database that went on from the backup tells: its audit trail has the backup's newest event. Without one, every
token, session and code of the backup ends.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

import orjson

from negotiator import audit
from negotiator.backup import database_copy
from negotiator.base import values

Rows = Sequence[Sequence[Any]]

_LATER_VALUES: Final = (
    ("users", "id", ("password_hash", "is_admin", "disabled_at")),
    ("clients", "id", ("secret_digest", "removed_at")),
    ("api_keys", "id", ("retired_at", "expires_at", "revoked_at")),
    ("delegations", "id", ("used_at", "used_by", "revoked_at")),
    ("trusted_issuers", "issuer", ("removed_at",)),
    ("agents", "id", ("revoked_at",)),
    ("access_tokens", "jti", ("revoked_at",)),
    ("authorizations", "id", ("code_used_at",)),
    ("refresh_tokens", "digest", ("used_at",)),
    ("approvals", "id", ("decided_at",)),
)
"""Table, key and columns that count as they are in the replaced database; a lone column where it has a value."""
_DELETED: Final = (("browser_sessions", "id"), ("passkeys", "id"), ("identities", "key"))
"""Table and key of rows that are deleted when they end."""
_END_OF_TIME: Final = 1 << 53
"""Values that are used up for ever are part of the data, such as a release that was imported."""
_READ: Final = (
    f"select subject from audit_events where event in ('{audit.USER_ERASED}', '{audit.AGENT_ERASED}') order by id",  # noqa: S608
    "select id from audit_events where id = :newest",
    "select subject, before, forget_at from revocations",
    f"select kind, value, expires_at from spent where expires_at > :now and expires_at < {_END_OF_TIME}",  # noqa: S608
    *(f"select {key} from {table}" for table, key in _DELETED),  # noqa: S608
    *(
        f"select {', '.join(columns)}, {key} from {table}"  # noqa: S608
        + (f" where {columns[0]} is not null" if len(columns) == 1 else "")
        for table, key, columns in _LATER_VALUES
    ),
)
_END_ALL: Final = (
    *(f"delete from {table}" for table in ("browser_sessions", "refresh_tokens", "authorizations", "approvals")),  # noqa: S608
    "update access_tokens set revoked_at = :now where revoked_at is null",
    "update delegations set revoked_at = :now where used_at is null and revoked_at is null",
    # An assertion of before may have been used.
    "insert into revocations (subject, before) select issuer, :now from trusted_issuers where true "
    "on conflict do update set before = max(before, excluded.before)",
)


class ReplacedDatabase:
    """What the database that a restore replaces knows."""

    def __init__(self, found: Sequence[Rows] | None) -> None:
        erased, went_on, *self._ended = found or ((), ())
        self.erased = None if found is None else [str(row[0]) for row in erased]
        """Ids of the users and agents that were erased; None when it cannot be read."""
        self.went_on = bool(went_on)
        """Whether it went on from the backup."""

    def repeat(self, copy: sqlite3.Connection) -> None:
        """Repeat in the backup's database what ended since; only for one that went on from it."""
        revoked, spent, *rest = self._ended
        copy.executemany(
            "insert into revocations (subject, before, forget_at) values (?, ?, ?) "
            "on conflict do update set before = excluded.before, forget_at = excluded.forget_at",
            revoked,
        )
        copy.executemany("insert or ignore into spent (kind, value, expires_at) values (?, ?, ?)", spent)
        kept, later = rest[: len(_DELETED)], rest[len(_DELETED) :]
        for (table, key), rows in zip(_DELETED, kept, strict=True):
            left = orjson.dumps([row[0] for row in rows]).decode()
            copy.execute(f"delete from {table} where {key} not in (select value from json_each(?))", (left,))  # noqa: S608
        for (table, key, columns), rows in zip(_LATER_VALUES, later, strict=True):
            changes = ", ".join(f"{column} = ?" for column in columns)
            copy.executemany(f"update {table} set {changes} where {key} = ?", rows)  # noqa: S608


async def read_replaced(url: str, copy: sqlite3.Connection) -> ReplacedDatabase:
    """What the database at `url`, if it can be read, knows of the time after the backup in `copy`."""
    [newest] = copy.execute("select max(id) from audit_events").fetchone()
    found = await database_copy.read_rows(url, _READ, {"newest": newest or "", "now": values.now()})
    return ReplacedDatabase(found)


def end_all(copy: sqlite3.Connection) -> None:
    """End every token, session and code; API keys and passwords stay."""
    for statement in _END_ALL:
        copy.execute(statement, {"now": values.now()})
