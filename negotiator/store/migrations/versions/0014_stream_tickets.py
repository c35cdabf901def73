"""Tickets for the teleprompter's socket"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "teleprompter_tickets",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("caller", sa.LargeBinary(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("digest"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_teleprompter_tickets_expires_at", "teleprompter_tickets", ["expires_at"])


def downgrade() -> None:
    op.drop_table("teleprompter_tickets")
