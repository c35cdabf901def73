"""What an erasure had left is deleted; accounts that were opened again can be signed in to"""

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
