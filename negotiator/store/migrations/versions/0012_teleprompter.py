"""Teleprompter sessions and their events"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "teleprompter_sessions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=True),
        sa.Column("negotiation", sa.String(), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("given", sa.LargeBinary(), nullable=False),
        sa.Column("screen", sa.LargeBinary(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("producer", sa.String(), nullable=False),
        sa.Column("heard_ms", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("active_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("ends_at", sa.BigInteger(), nullable=True),
        sa.Column("forget_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    for name, columns in (("owner_id", ["owner", "id"]), ("ends_at", ["ends_at"]), ("forget_at", ["forget_at"])):
        op.create_index(f"ix_teleprompter_sessions_{name}", "teleprompter_sessions", columns)
    op.create_table(
        "teleprompter_events",
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("utterance", sa.String(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("session", "seq"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_teleprompter_events_utterance", "teleprompter_events", ["session", "utterance"])


def downgrade() -> None:
    op.drop_table("teleprompter_events")
    op.drop_table("teleprompter_sessions")
