"""Leases of jobs; the oldest schema that may run; an index on every moment after which a row is deleted"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "leases",
        sa.Column("job", sa.String(), nullable=False),
        sa.Column("holder", sa.String(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("job"),
    )
    floor = op.create_table(
        "schema_floor",
        sa.Column("oldest", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("oldest"),
    )
    op.bulk_insert(floor, [{"oldest": revision}])
    op.create_index("ix_access_tokens_expires_at", "access_tokens", ["expires_at"])
    op.create_index("ix_api_keys_expires_at", "api_keys", ["expires_at"])
    op.create_index("ix_api_keys_revoked_at", "api_keys", ["revoked_at"])
    op.create_index("ix_browser_sessions_seen_at", "browser_sessions", ["seen_at"])
