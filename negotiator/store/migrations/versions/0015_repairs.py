"""What an erasure had left is deleted; opened accounts can be signed in to; only the same text has the same digest"""

import hashlib
import json
import unicodedata

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_FOREVER = 1 << 62


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("PRAGMA secure_delete = ON")
        now = "CAST(strftime('%s', 'now') AS INTEGER) * 1000"
    else:
        now = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)"
    op.execute(
        "DELETE FROM rehearsals WHERE NOT EXISTS "
        "(SELECT 1 FROM negotiations WHERE negotiations.id = rehearsals.negotiation)"
    )
    op.execute(
        f"UPDATE revocations SET \"before\" = {now} WHERE \"before\" = {_FOREVER} "
        "AND EXISTS (SELECT 1 FROM users WHERE users.id = revocations.subject AND users.disabled_at IS NULL)"
    )
    _digest_memories_anew()


def _digest_memories_anew() -> None:
    memories = sa.table("memories", sa.column("id"), sa.column("digest"), sa.column("document"))
    by_id = memories.c.id == sa.bindparam("memory")
    connection, last = op.get_bind(), ""
    while rows := connection.execute(
        sa.select(memories.c.id, memories.c.document).where(memories.c.id > last).order_by(memories.c.id).limit(1000)
    ).all():
        last = rows[-1][0]
        digests = [{"memory": row[0], "digest": _digest(json.loads(bytes(row[1])))} for row in rows]
        connection.execute(memories.update().where(by_id).values(digest=sa.bindparam("digest")), digests)


def _digest(view: dict[str, str | None]) -> str:
    texts = (unicodedata.normalize("NFC", view[name] or "") for name in ("text", "counterparty"))
    return hashlib.sha256("\0".join(" ".join(text.split()) for text in texts).encode()).hexdigest()
